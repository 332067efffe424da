"""Real agents, installed from their registries at pinned versions, each in the sandbox against a scripted model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab.grading.isolation import Isolation
from lab.layout import Root
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from lab.running.agent import agent_of
from lab.running.holder import Network
from lab.selection import Filters, select
from lab.tools.presence import find
from lab.tools.registry import get_adapter
from tests.running.agents import PYTHON
from tests.support.installed import installed
from tests.support.laboratory import PROJECT
from tests.support.model_server import serve, solver
from tests.support.once import made_once

STARTER = PROJECT / "evals" / "starter"
TASK = "startercomplete-0"
REAL_KEY = "sk-the-real-key-of-the-run"
TIMEOUT_S = 180.0
ALWAYS = ("codex", "pi", "mini-swe-agent")
TOOLS = [
    *(pytest.param(tool, marks=[pytest.mark.sandbox, pytest.mark.slow]) for tool in ALWAYS),
    *(
        pytest.param(tool, marks=[pytest.mark.agents, pytest.mark.slow])
        for tool in ("tomo", "claude-code", "opencode", "aider", "gemini-cli", "qwen-code")
    ),
]


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """A root with the starter suite, whose venv the first grading builds."""

    def make(folder: Path) -> None:
        shutil.copytree(STARTER, folder / "evals/starter", ignore=shutil.ignore_patterns(".*", "samples"))

    return Root(made_once(tmp_path_factory, "starter", make))


def check(root: Root, solution: Path) -> str:
    """The status that lab gives a solution, by the real grader."""
    line = [sys.executable, "-m", "lab", "--root", str(root.folder), "check", TASK, str(solution), "--json"]
    done = subprocess.run(line, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return str(json.loads(done.stdout)["status"])


@pytest.mark.parametrize("tool", TOOLS)
def test_it_solves_a_task(root: Root, tmp_path: Path, tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{installed(tool)}:{os.environ['PATH']}")
    solve(root, tool, tmp_path / "attempt-1")


@pytest.mark.sandbox
def test_a_stand_in_for_tomo_solves_a_task(root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the Go module cannot be had: a program that takes tomo's arguments and settings word for word."""
    program = tmp_path / "bin/tomo"
    program.parent.mkdir()
    source = Path(__file__).with_name("tomo_stand_in.py").read_text()
    program.write_text(f"#!{PYTHON} -IS\n{source}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    solve(root, "tomo", tmp_path / "attempt-1")


def solve(root: Root, tool: str, folder: Path) -> None:
    """Have the tool that PATH has solve a task in the sandbox, and look at all that is recorded of it."""
    suite = root.suite("starter")
    (task,) = select(suite, Filters(tasks=(TASK,)))
    adapter = get_adapter(root, tool)
    presence = find(adapter)
    assert presence.why_not is None
    assert presence.version
    assert adapter.api is not None
    reference = suite.task(TASK).reference.read_text()
    with (
        serve(always=solver(reference)) as server,
        Proxy(Upstream(adapter.api, server.url, REAL_KEY, "tiny-model"), Prices({})) as proxy,
    ):
        agent = agent_of(
            adapter,
            presence,
            isolation=Isolation.BWRAP,
            network=Network.MODEL,
            proxy=proxy,
            model="tiny-model",
            timeout_s=TIMEOUT_S,
            root=root,
            suite=suite,
        )
        (planned,) = agent.plan([task])
        tried = agent.attempt(planned, folder, threading.Event())
    trace = folder / "trace"
    said = (trace / "stdout").read_text()[-2000:] + (trace / "stderr").read_text()[-2000:]
    assert (tried.stop, tried.notes) == ("done", ()), said
    assert (folder / "work/solution.py").read_text() != suite.task(TASK).stub.read_text(), said
    assert check(root, folder / "work/solution.py") == "pass"
    assert tried.usage is not None
    assert tried.usage.requests == len(server.asked()) > 0
    assert tried.usage.model_failure is None
    assert tried.peak_mb is not None
    assert tried.peak_mb > 10
    assert {seen.model for seen in server.asked()} == {"tiny-model"}
    for file in trace.rglob("*"):
        assert not file.is_file() or REAL_KEY not in file.read_text(errors="replace"), file
