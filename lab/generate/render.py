"""The files of one task, as text. Nothing here looks at the disk or runs anything."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import tomli_w

from lab.generate.check_script import check_script
from lab.grading.exam import sha256
from lab.tasks import LockEntry, Task

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import TaskPaths
    from lab.suites.base import Problem
    from lab.tasks import Limits

TEXT_MODE = 0o644
SCRIPT_MODE = 0o755


@dataclasses.dataclass(frozen=True)
class File:
    """One file of a task: its bytes, and whether it is to be run."""

    data: bytes
    mode: int = TEXT_MODE


def lock_entry(problem: Problem) -> LockEntry:
    """What the lock says about a problem. Raises UnicodeEncodeError where a text cannot be written as UTF-8."""
    return LockEntry(
        row=problem.row_sha256,
        prompt=sha256(problem.prompt.encode("utf-8")),
        stub=sha256(problem.stub.encode("utf-8")),
        test=sha256(problem.test.encode("utf-8")),
        reference=sha256(problem.reference.encode("utf-8")),
        repairs=tuple(repair.name for repair in problem.repairs),
    )


def proof_key(problem: Problem) -> str:
    """The sha256 of everything in a problem that its proof depends on: another key needs another proof."""
    parts = [
        problem.task_id,
        problem.entry_point,
        problem.judge,
        problem.stub,
        problem.test,
        problem.reference,
        problem.constant_answer,
    ]
    return sha256(json.dumps(parts).encode())


def task_of(problem: Problem, suite: str, *, cases: int, limits: Limits) -> Task:
    """The task that a problem becomes."""
    return Task(
        id=problem.task_id,
        upstream_id=problem.upstream_id,
        suite=suite,
        dataset=problem.dataset,
        entry_point=problem.entry_point,
        judge=problem.judge,
        cases=cases,
        limits=limits,
        repairs=tuple(repair.name for repair in problem.repairs),
    )


def task_toml(task: Task, *, proven: bool) -> str:
    """The text of task.toml."""
    table = dataclasses.asdict(task)
    del table["suite"]  # the folder says it
    limits = table.pop("limits")
    return tomli_w.dumps(table | {"repairs": list(task.repairs), "proven": proven, "limits": limits})


def task_files(problem: Problem, task: Task, paths: TaskPaths, *, proven: bool) -> dict[Path, File]:
    """Every file of a task's two folders, by its path in `paths`; what is not here does not belong there."""
    files = {
        paths.prompt: File(problem.prompt.encode("utf-8")),
        paths.stub: File(problem.stub.encode("utf-8")),
        paths.check: File(check_script().encode("utf-8"), SCRIPT_MODE),
        paths.settings: File(task_toml(task, proven=proven).encode("utf-8")),
        paths.test: File(problem.test.encode("utf-8")),
        paths.reference: File(problem.reference.encode("utf-8")),
    }
    if problem.upstream_test is not None:
        files[paths.upstream] = File(problem.upstream_test.encode("utf-8"))
    return files
