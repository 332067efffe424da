"""Tasks as they lie on disk: task.toml, and the suite's lock. Reading only; `generate` writes.

Stdlib only: the grader that a suite's venv carries uses it too.
"""

from __future__ import annotations

import dataclasses
import tomllib
from typing import TYPE_CHECKING, Any

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import SuitePaths

MAX_TOML_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a candidate may use. Seconds, MiB; `value_bytes` caps one returned value, in bytes and in values."""

    case_cpu_s: float
    cpu_s: float
    wall_s: float
    memory_mb: int
    value_bytes: int


@dataclasses.dataclass(frozen=True)
class Task:
    """One task, as task.toml and the lock describe it."""

    id: str
    upstream_id: str
    suite: str
    dataset: str
    entry_point: str
    judge: str
    cases: int
    limits: Limits
    repairs: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class LockEntry:
    """The identity of one task: sha256 of what it is made of. Nothing measured."""

    row: str
    prompt: str
    stub: str
    test: str
    reference: str
    repairs: tuple[str, ...] = ()


def read_toml(path: Path) -> dict[str, Any]:
    """Parse a TOML file that lab wrote; raises LabError where it is missing, too large or broken."""
    try:
        return tomllib.loads(read_regular(path, MAX_TOML_BYTES).decode("utf-8"))
    except FileNotFoundError:
        raise LabError(f"{path} is missing", "Run lab gen again") from None
    except (NotRegularFile, OSError) as error:
        raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
    except ValueError as error:
        raise LabError(f"{path} is not valid TOML: {error}", "Run lab gen again") from error


def read_task(suite: SuitePaths, task_id: str) -> Task:
    """Read one task.toml; raises LabError where it does not describe a task."""
    path = suite.task(task_id).settings
    table = read_toml(path)
    try:
        limits = {f.name: _number(table["limits"][f.name]) for f in dataclasses.fields(Limits)}
        limits |= {name: int(limits[name]) for name in ("memory_mb", "value_bytes")}
        task = Task(
            id=str(table["id"]),
            upstream_id=str(table["upstream_id"]),
            suite=suite.name,
            dataset=str(table["dataset"]),
            entry_point=str(table["entry_point"]),
            judge=str(table["judge"]),
            cases=int(table["cases"]),
            limits=Limits(**limits),
            repairs=tuple(str(name) for name in table.get("repairs", ())),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LabError(f"{path} does not describe a task: {error!r}", "Run lab gen again") from error
    if task.id != task_id:
        raise LabError(f"{path} is about the task {task.id}", "Run lab gen again")
    return task


def _number(value: object) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ValueError(f"{value!r} is not a positive number")
    return value


def read_lock(suite: SuitePaths) -> dict[str, LockEntry]:
    """The lock of a suite: task id to entry; raises LabError where there is none, or it is broken."""
    if not suite.lock.exists():
        raise LabError(f"there is no suite at {suite.folder}", f"Run lab gen --suite {suite.name} first")
    tables = read_toml(suite.lock).get("tasks")
    if not isinstance(tables, dict):
        raise LabError(f"{suite.lock} holds no table of tasks", "Run lab gen again")
    return {name: _lock_entry(suite.lock, name, table) for name, table in tables.items()}


def read_lock_entry(suite: SuitePaths, task_id: str) -> LockEntry:
    """One task's entry, without parsing the whole lock: a check.sh must start fast.

    The lock is written by lab with one table a task and one key a line, so the table's text is cut out and
    only that is parsed. Raises LabError where the lock or the entry is missing.
    """
    try:
        text = read_regular(suite.lock, MAX_TOML_BYTES).decode("utf-8")
    except FileNotFoundError:
        raise LabError(f"there is no suite at {suite.folder}", f"Run lab gen --suite {suite.name} first") from None
    except (NotRegularFile, UnicodeDecodeError) as error:
        raise LabError(f"{suite.lock} cannot be read: {error}", "Run lab gen again") from error
    header = f"\n[tasks.{task_id}]\n"
    start = text.find(header)
    if start < 0:
        raise LabError(f"{task_id} is not in {suite.lock}", "Run lab gen again")
    end = text.find("\n[", start + len(header))
    try:
        return _lock_entry(suite.lock, task_id, tomllib.loads(text[start + len(header) : end if end > 0 else None]))
    except ValueError as error:
        raise LabError(f"{suite.lock} is not valid TOML at {task_id}", "Run lab gen again") from error


def _lock_entry(path: Path, name: str, table: dict[str, Any]) -> LockEntry:
    try:
        return LockEntry(
            row=table["row"],
            prompt=table["prompt"],
            stub=table["stub"],
            test=table["test"],
            reference=table["reference"],
            repairs=tuple(table.get("repairs", ())),
        )
    except (KeyError, TypeError) as error:
        raise LabError(f"{path} has no whole entry for {name}", "Run lab gen again") from error
