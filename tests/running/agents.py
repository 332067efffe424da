"""A root with an answer key and a run of another tool in it, and small programs as agents over its one task."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from lab.grading.isolation import Isolation
from lab.layout import Root
from lab.running.agent import Agent, agent_of
from lab.running.agent_sandbox import choose_for_agents
from lab.running.holder import Network
from lab.tasks import Limits, Task
from lab.tools.adapter import Adapter, ConfigFile
from lab.tools.presence import Presence

if TYPE_CHECKING:
    from lab.proxy.server import Proxy
    from lab.running.attempt import Tried

MARK = "the-answer-key"
"""Stands in every file that no agent may see."""
STUB = "def f(x): ...\n"
PYTHON = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
TASK = Task("ones-1", "One/1", "tiny", "ones", "f", "values", 3, Limits(4.0, 10.0, 50.0, 4096, 1 << 20))


@dataclasses.dataclass
class Ground:
    """Where agents are tried."""

    folder: Path
    tries: int = 0

    @property
    def root(self) -> Root:
        return Root(self.folder / "root")

    @property
    def secrets(self) -> dict[str, Path]:
        """Files that no agent may see, by what they are."""
        evals = self.root.suite("tiny").folder
        return {
            "reference": evals / "oracle/ones-1/reference.py",
            "test": evals / "oracle/ones-1/test.py",
            "other run": self.root.run("tiny", "other", "ones-1", "0123456789ab-0") / "attempt-1/work/solution.py",
            "home": self.folder / "home/.config/keys",
        }

    def make(self) -> None:
        task = self.root.suite("tiny").task("ones-1")
        for path, text in ((task.prompt, "Write f."), (task.stub, STUB), *((p, MARK) for p in self.secrets.values())):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def agent(
        self,
        *words: str,
        isolation: Isolation = Isolation.BWRAP,
        network: Network = Network.MODEL,
        timeout_s: float = 30.0,
        proxy: Proxy | None = None,
        environment: dict[str, str] | None = None,
        files: tuple[ConfigFile, ...] = (),
        program: Path = PYTHON,
        paths: tuple[Path, ...] = (Path(sys.base_prefix),),
    ) -> Agent:
        """A tool of which `words` come after its program: Python, unless another is given."""
        adapter = Adapter(
            name="agent",
            summary="an agent of the tests",
            home="",
            install="",
            version=(),
            api=None,
            command=(program.name, *words),
            environment=environment or {},
            files=files,
            extra_paths=(),
            limits=(),
            sha256="0" * 64,
            source=Path("agent.toml"),
        )
        return agent_of(
            adapter,
            Presence(executable=program, version="1.0", paths=paths, why_not=None),
            isolation=isolation,
            network=network,
            proxy=proxy,
            model="tiny-model" if proxy else None,
            timeout_s=timeout_s,
            root=self.root,
            suite=self.root.suite("tiny"),
        )

    def attempt(self, agent: Agent, stopping: threading.Event | None = None) -> tuple[Tried, Path]:
        """One attempt of it, and the folder that it left."""
        self.tries += 1
        (planned,) = agent.plan([TASK])
        # as deep as it lies in use: what an agent leaves may have a path that is too long there
        folder = self.root.run("tiny", "agent", "ones-1", "0123456789ab-0") / f"attempt-{self.tries}"
        return agent.attempt(planned, folder, stopping or threading.Event()), folder


def can_hold() -> bool:
    """Whether an agent's sandbox can be made here."""
    return choose_for_agents() is Isolation.BWRAP


def processes_with(text: str) -> list[int]:
    """The processes of this machine whose command line holds `text`, this one left out."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if text.encode() in Path(entry.path, "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
