"""A tool that is a program: an adapter's, or one of `--command`. One attempt is one process, in a sandbox of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.environment import agent_variables
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic
from lab.grading import scratch
from lab.grading.isolation import Isolation
from lab.grading.work import Missing, read_work
from lab.running.agent_sandbox import HOME, RELAY_PORT, WORK, Folders, Network, Sandbox, sandbox_for, start_fault
from lab.running.attempt import Planned, Tried
from lab.running.child import run_child
from lab.running.identity import Setup
from lab.running.keep import keep_work
from lab.running.watch import Watch
from lab.tools.placeholders import fill

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Mapping, Sequence

    from lab.layout import Root, SuitePaths
    from lab.proxy.server import Proxy, Tap
    from lab.proxy.summary import Usage
    from lab.results import Stop
    from lab.running.child import Ended
    from lab.tasks import Task
    from lab.tools.adapter import Adapter
    from lab.tools.presence import Presence

PROMPT = """{problem}

Work in the current folder: edit solution.py there so that it solves the problem above, which prompt.txt holds too.
The tests that decide are hidden, so check your work with tests of your own.
"""
"""What a tool is told as {prompt}."""
PROMPT_SHA256 = hashlib.sha256(PROMPT.encode()).hexdigest()
ENVIRONMENT = {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CI": "1"}
IN_SANDBOX = {"HOME": HOME, "TMPDIR": "/tmp", "PWD": WORK, "USER": "agent", "LOGNAME": "agent", "SHELL": "/bin/sh"}  # noqa: S108
MAX_TASK_FILE_BYTES = 64 << 20
MAX_SOCKET_CHARS = 100
"""The system's own limit on the path of a Unix socket is 107 bytes."""
SHOWN_KEY = "KEY"


@dataclasses.dataclass(frozen=True)
class Agent:
    """A program that works in a fresh folder outside the root, holding prompt.txt, solution.py and its own settings.

    Made by `agent_of` and `lab.running.command.command_agent`.
    """

    name: str
    adapter: Adapter
    program: Path
    version: str | None
    given: Mapping[str, Any]
    """What of its settings says which program it is: JSON values."""
    sandbox: Sandbox | None
    """None for a plain process."""
    variables: Mapping[str, str]
    """What a plain process takes over of lab's environment; a sandbox takes the folders of PATH that it shows."""
    proxy: Proxy | None
    """What it reaches its model through; None where it has none."""
    model: str | None
    timeout_s: float
    root: Root
    suite: SuitePaths
    instant: bool = False

    @property
    def isolation(self) -> Isolation:
        return Isolation.PROCESS if self.sandbox is None else Isolation.BWRAP

    @property
    def network(self) -> Network:
        return Network.HOST if self.sandbox is None else self.sandbox.network

    @property
    def notice(self) -> str | None:
        """What a person has to know before it runs, in a plain sentence; None where it is held in whole."""
        if self.sandbox is None:
            return f"{self.name} runs without a sandbox: it could read the hidden tests, other runs and your keys"
        if self.network is Network.HOST:
            return f"{self.name} has this machine's network: it could look solutions up"
        return None

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        settings = {
            **self.given,
            "timeout_s": self.timeout_s,
            "isolation": self.isolation.value,
            "network": self.network.value,
            "prompt_sha256": PROMPT_SHA256,
        }
        setup = Setup(self.name, self.version, self.model, settings)
        return (Planned(task, setup) for task in tasks)

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:
        paths = self.suite.task(planned.task.id)
        problem, stub = _task_file(paths.prompt), _task_file(paths.stub)
        trace = folder / "trace"
        with _temporary(self.root) as folders, Watch((folders.work, folders.home, folders.tmp)) as watch:
            write_atomic(folders.work / "prompt.txt", problem)
            write_atomic(folders.work / "solution.py", stub)
            trace.mkdir(parents=True)
            usage = None
            tap = self._tap(trace, folders)
            try:
                ended = self._run(folders, watch, tap, problem.decode("utf-8", "replace"), trace, stopping)
            finally:
                if tap is not None:
                    usage = tap.close()
            write_atomic(trace / "stdout", ended.stdout)
            write_atomic(trace / "stderr", ended.stderr)
            over = ended.excess or watch.at_end()
            notes = [f"stopped: {over}"] if ended.excess else [over] if over else []
            notes += keep_work(folders.work, folder / "work")
            if ended.dropped_bytes:
                notes.append(f"{ended.dropped_bytes} bytes of output were not kept")
            tried = Tried(
                None,
                stop=_stop(ended, usage),
                exit_code=ended.exit_code,
                wall_s=round(ended.wall_s, 3),
                peak_mb=None if watch.peak_mb is None else round(watch.peak_mb, 1),
                notes=tuple(notes),
                usage=usage,
            )
            try:
                # from the folder itself: what may not be kept (a symbolic link) is named for what it is
                return dataclasses.replace(tried, work=read_work(folders.work))
            except Missing as error:
                return dataclasses.replace(tried, missing=str(error))

    def _tap(self, trace: Path, folders: Folders) -> Tap | None:
        if self.proxy is None:
            return None
        relayed = self.sandbox is not None and self.sandbox.relayed
        return self.proxy.attach(trace, socket=folders.socket if relayed else None)

    def _run(
        self,
        folders: Folders,
        watch: Watch,
        tap: Tap | None,
        problem: str,
        trace: Path,
        stopping: threading.Event,
    ) -> Ended:
        """Start the tool and stay with it to its end; raises LabError where it cannot be started at all."""
        values = self._values(folders, tap, problem)
        self._write_files(folders, values)
        shown = values | {"key": SHOWN_KEY}
        record = {"argv": self._argv(shown), "environment": self._environment(shown)}
        write_atomic(trace / "command.json", json.dumps(record, indent=1) + "\n")
        argv, environment = self._argv(values), self._environment(values)
        if self.sandbox is None:
            variables = {**ENVIRONMENT, "HOME": str(folders.home), **self.variables, "TMPDIR": str(folders.tmp)}
            return run_child(
                watch.enter(argv),
                folder=folders.work,
                env={**variables, "PWD": str(folders.work), **environment},
                timeout_s=self.timeout_s,
                stopping=stopping,
                look=watch.look,
            )
        self.sandbox.prepare(folders)
        search = self.sandbox.search_path(self.variables.get("PATH", "").split(os.pathsep))
        with folders.status.open("wb") as status:
            line = self.sandbox.command(
                argv, folders, {**ENVIRONMENT, **IN_SANDBOX, "PATH": search, **environment}, status.fileno()
            )
            ended = run_child(
                watch.enter(line),
                folder=folders.base,
                env={},
                timeout_s=self.timeout_s,
                stopping=stopping,
                look=watch.look,
                pass_fds=(status.fileno(),),
            )
        if ended.exit_code is not None and (why := start_fault(folders.status.read_bytes(), ended.stderr)):
            raise LabError(f"{self.name} could not be started in its sandbox: {why}", "See lab tools and lab doctor")
        return ended

    def _values(self, folders: Folders, tap: Tap | None, problem: str) -> dict[str, str]:
        """What the placeholders stand for, as the tool sees it."""
        work, home = (folders.work, folders.home) if self.sandbox is None else (WORK, HOME)
        base_url = ""
        if tap is not None:
            relayed = self.sandbox is not None and self.sandbox.relayed
            base_url = f"http://127.0.0.1:{RELAY_PORT}" if relayed else tap.base_url
        return {
            "prompt": PROMPT.replace("{problem}", problem.rstrip()),
            "prompt_file": f"{work}/prompt.txt",
            "model": self.model or "",
            "base_url": base_url,
            "key": "" if tap is None else tap.key,
            "work": str(work),
            "home": str(home),
        }

    def _write_files(self, folders: Folders, values: Mapping[str, str]) -> None:
        """Write the tool's own settings: their places are those of the host, their texts as the tool sees it."""
        places = {**values, "work": str(folders.work), "home": str(folders.home)}
        for file in self.adapter.files:
            write_atomic(Path(fill(file.path, places)), fill(file.text, values))

    def _argv(self, values: Mapping[str, str]) -> list[str]:
        return [str(self.program), *(fill(word, values) for word in self.adapter.command[1:])]

    def _environment(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: fill(text, values) for name, text in self.adapter.environment.items()}


def agent_of(
    adapter: Adapter,
    presence: Presence,
    *,
    isolation: Isolation,
    network: Network,
    proxy: Proxy | None,
    model: str | None,
    timeout_s: float,
    root: Root,
    suite: SuitePaths,
    given: Mapping[str, Any] | None = None,
    variables: Mapping[str, str] | None = None,
) -> Agent:
    """The tool of an adapter, as it was found here; a plain process takes over PATH alone of lab's environment.

    Raises LabError where it cannot run here, or its sandbox would show the root.
    """
    if presence.executable is None or presence.why_not is not None:
        raise LabError(
            f"{adapter.name} cannot run here: {presence.why_not or 'it is not on PATH'}",
            f"Install it: {adapter.install}" if adapter.install else "See lab tools",
        )
    sandbox = None
    if isolation is Isolation.BWRAP:
        relayed = proxy is not None and network is Network.MODEL
        sandbox = sandbox_for(presence.paths, presence.executable, root=root.folder, network=network, relayed=relayed)
    return Agent(
        name=adapter.name,
        adapter=adapter,
        program=presence.executable,
        version=presence.version,
        given={"adapter_sha256": adapter.sha256} if given is None else given,
        sandbox=sandbox,
        variables={"PATH": agent_variables().get("PATH", os.defpath)} if variables is None else variables,
        proxy=proxy,
        model=model,
        timeout_s=timeout_s,
        root=root,
        suite=suite,
    )


def _stop(ended: Ended, usage: Usage | None) -> Stop:
    """A tool that lab stopped was not failed by its model."""
    if ended.stop == "done" and ended.excess is None and usage is not None and usage.model_failure is not None:
        return "model-failure"
    return ended.stop


@contextlib.contextmanager
def _temporary(root: Root) -> Iterator[Folders]:
    """The folders of one attempt, outside the root; whatever was left in them is removed."""
    folders = Folders(Path(scratch.make()).resolve())
    try:
        if folders.base.is_relative_to(root.folder.resolve()):
            raise LabError(f"the temporary folder lies inside the root {root.folder}", "Set TMPDIR elsewhere")
        if len(os.fsencode(folders.socket)) > MAX_SOCKET_CHARS:
            raise LabError(f"the path of the temporary folder {folders.base} is too long for a socket", "Set TMPDIR")
        for folder in (folders.work, folders.home, folders.tmp, folders.private):
            folder.mkdir()
        yield folders
    finally:
        scratch.remove(str(folders.base))


def _task_file(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_TASK_FILE_BYTES)
    except (NotRegularFile, FileNotFoundError) as error:
        raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
