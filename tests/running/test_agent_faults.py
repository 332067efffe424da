"""What fails on lab's side of one attempt costs neither its finished work nor other runs."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.files import disk_error, write_atomic
from lab.grading import cgroup
from lab.grading.isolation import Isolation
from lab.proxy import recording
from lab.running import agent as agent_module
from lab.running import collect
from tests.running.test_agent import BOTH, SOLVE, SOLVED
from tests.running.test_agent_model import ASK, ENVIRONMENT, model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.running.agents import Ground

LONGER_THAN_A_WORD = 200_000
"""Linux takes 131,072 bytes in one word of a command line."""


def problem(ground: Ground, text: str) -> None:
    ground.root.suite("tiny").task("ones-1").prompt.write_text(text)


@pytest.mark.parametrize("isolation", BOTH)
def test_a_problem_that_is_too_long_for_a_command_line(ground: Ground, isolation: Isolation) -> None:
    problem(ground, "x" * LONGER_THAN_A_WORD)
    tried, _ = ground.attempt(ground.agent("-c", SOLVE, "{prompt}", isolation=isolation))
    assert (tried.work, tried.stop) == (None, "done")
    assert f"{LONGER_THAN_A_WORD} bytes, is too long for a command line" in tried.fault
    assert "{prompt_file}" in tried.fault
    tried, _ = ground.attempt(ground.agent("-c", SOLVE, "{prompt_file}", isolation=isolation))
    assert (tried.work is not None, tried.fault) == (True, "")


@pytest.mark.parametrize("isolation", BOTH)
def test_a_problem_that_no_command_line_can_hold(ground: Ground, isolation: Isolation) -> None:
    problem(ground, "a NUL: \0")
    tried, _ = ground.attempt(ground.agent("-c", SOLVE, "{prompt}", isolation=isolation))
    assert tried.work is None
    assert "null byte" in tried.fault


@pytest.mark.parametrize("name", ["prompt", "stub"])
def test_a_task_that_lost_a_file(ground: Ground, name: str) -> None:
    getattr(ground.root.suite("tiny").task("ones-1"), name).unlink()
    tried, _ = ground.attempt(ground.agent("-c", SOLVE, isolation=Isolation.PROCESS))
    assert tried.work is None
    assert "Run lab gen again" in tried.fault


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_trace_that_the_disk_refuses_costs_no_work(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(_descriptor: int, _data: bytes) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(recording, "_write_all", refuse)
    with model() as (proxy, _):
        code = ASK + SOLVE + "print(ask()[0])"
        agent = ground.agent("-c", code, isolation=Isolation.PROCESS, proxy=proxy, environment=ENVIRONMENT)
        tried, folder = ground.attempt(agent)
    assert tried.work is not None
    assert tried.work.files["solution.py"].decode() == SOLVED
    assert tried.fault == ""
    assert any(note.startswith("the trace is not whole: cannot write") for note in tried.notes), tried.notes
    assert tried.usage is not None
    assert tried.usage.requests == 1
    assert (folder / "work/solution.py").read_text() == SOLVED


def test_output_that_the_disk_refuses_costs_no_work(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, data: bytes | str) -> None:
        if path.name == "stdout":
            error = OSError(errno.EIO, os.strerror(errno.EIO))
            raise disk_error(path, error) from error
        write_atomic(path, data)

    monkeypatch.setattr(collect, "write_atomic", refuse)
    tried, folder = ground.attempt(ground.agent("-c", SOLVE + "print(1)", isolation=Isolation.PROCESS))
    assert tried.work is not None
    assert [note.startswith("the trace is not whole: cannot write") for note in tried.notes] == [True]
    assert (folder / "trace/stderr").exists()


def test_a_full_disk_ends_the_run(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_left: Path, target: Path) -> tuple[str, ...]:
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise disk_error(target, error) from error

    agent = ground.agent("-c", SOLVE, isolation=Isolation.PROCESS)
    assert ground.attempt(agent)[0].work is not None
    monkeypatch.setattr(collect, "keep_work", refuse)
    with pytest.raises(LabError, match="the disk is full"):
        ground.attempt(agent)


@pytest.mark.parametrize("isolation", BOTH)
def test_a_tool_that_started_before_fails_by_itself(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, isolation: Isolation
) -> None:
    """At first it holds for all that it does not start; once it did, only that attempt is lost."""
    monkeypatch.setattr(cgroup, "take", lambda: None)  # a shell that enters the group would start in any case
    tool = ground.folder / "tool"
    tool.write_text("#!/no/such/interpreter\n")
    tool.chmod(0o755)
    agent = ground.agent(program=tool, paths=(tool,), isolation=isolation)
    with pytest.raises(LabError, match="could not be started"):
        ground.attempt(agent)
    tool.write_text("#!/bin/sh\nexit 3\n")
    assert ground.attempt(agent)[0].exit_code == 3
    tool.write_text("#!/no/such/interpreter\n")
    tried, _ = ground.attempt(agent)
    assert tried.work is None
    assert "could not be started" in tried.fault


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.EMFILE])
def test_what_the_system_is_short_of_now_is_no_reason_to_stop(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        error = OSError(number, os.strerror(number))
        raise LabError(f"tool could not be started: {os.strerror(number)}") from error

    monkeypatch.setattr(agent_module, "run_child", refuse)
    tried, _ = ground.attempt(ground.agent("-c", SOLVE, isolation=Isolation.PROCESS))
    assert os.strerror(number) in tried.fault
