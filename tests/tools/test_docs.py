"""docs/agents.md: its example works as it stands there, and its tables are the adapters'."""

from __future__ import annotations

import os
import re
import threading
from typing import TYPE_CHECKING

import pytest

from lab.grading.isolation import Isolation
from lab.layout import Root
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from lab.running.agent import agent_of
from lab.running.agent_sandbox import choose_for_agents
from lab.running.holder import Network
from lab.tools import reading
from lab.tools.placeholders import PLACEHOLDERS
from lab.tools.presence import find
from lab.tools.registry import get_adapter, survey
from tests.running.agents import PYTHON, TASK, Ground
from tests.support.laboratory import PROJECT
from tests.support.model_server import serve, solver
from tests.tools.adapters import program

if TYPE_CHECKING:
    from pathlib import Path

TEXT = (PROJECT / "docs/agents.md").read_text()
SOLUTION = "def f(x):\n    return x + 1\n"


def block(language: str) -> str:
    """The one block of that language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return str(text)


def cells(first: str) -> list[str]:
    """The first cells of the table whose header begins so."""
    table = TEXT.partition(f"\n| {first} |")[2].partition("\n\n")[0]
    return [line.split("|")[1].strip() for line in table.splitlines()[2:]]


@pytest.mark.parametrize(
    "isolation", [pytest.param(Isolation.BWRAP, marks=pytest.mark.sandbox), Isolation.PROCESS], ids=str
)
def test_the_example_solves_a_task(tmp_path: Path, isolation: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    if choose_for_agents(isolation.value) is not isolation:
        pytest.skip("an agent's sandbox cannot be made here")
    ground = Ground(tmp_path)
    ground.make()
    program(tmp_path / "bin/my-agent", block("python"))
    (tmp_path / "bin/python3").symlink_to(PYTHON)
    ground.root.tools.mkdir()
    (ground.root.tools / "my-agent.toml").write_text(block("toml"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.defpath}")
    adapter = get_adapter(ground.root, "my-agent")
    assert adapter.api is not None
    with (
        serve(always=solver(SOLUTION)) as server,
        Proxy(Upstream(adapter.api, server.url, "sk-real", "tiny-model"), Prices({})) as proxy,
    ):
        agent = agent_of(
            adapter,
            find(adapter),
            isolation=isolation,
            network=Network.MODEL,
            proxy=proxy,
            model="tiny-model",
            timeout_s=60.0,
            root=ground.root,
            suite=ground.root.suite("tiny"),
        )
        (planned,) = agent.plan([TASK])
        tried = agent.attempt(planned, tmp_path / "attempt-1", threading.Event())
    left = tmp_path / "attempt-1/work/solution.py"
    assert left.read_text().strip() == SOLUTION.strip(), (tmp_path / "attempt-1/trace/stderr").read_text()
    assert tried.usage is not None
    assert tried.usage.requests == 1
    trace = {path.name for path in (tmp_path / "attempt-1/trace").iterdir()}
    assert trace == set(
        re.findall(r"[a-z]+\.jsonl?|stdout|stderr|responses", TEXT.partition("attempt-N/trace/")[2][:600])
    )


def test_every_key_and_placeholder_is_told() -> None:
    keys = re.findall(r"[a-z_]+", " ".join(cells("key")))
    assert sorted(keys) == sorted(reading.KEYS)
    assert re.findall(r"[a-z_]+", " ".join(cells("placeholder"))) == list(PLACEHOLDERS)


def test_the_limits_of_every_tool_are_told(tmp_path: Path) -> None:
    for name in survey(Root(tmp_path)):
        adapter = get_adapter(Root(tmp_path), name)
        assert f"| {name} | {adapter.api} | {' '.join(adapter.limits)} |\n" in TEXT
