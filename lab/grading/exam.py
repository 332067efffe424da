"""What is needed to grade one task: the task's settings and its hidden test, checked against the lock."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular
from lab.tasks import LockEntry, Task, read_lock_entry, read_task

if TYPE_CHECKING:
    from lab.layout import SuitePaths

MAX_TEST_BYTES = 64 << 20


@dataclasses.dataclass(frozen=True)
class Exam:
    """One task ready to be graded. `reference` is asked when a judge fails: is it the host's fault?"""

    task: Task
    test: bytes
    test_sha256: str
    lock_sha256: str
    reference: bytes = b""


def sha256(data: bytes) -> str:
    """Hex digest of `data`."""
    return hashlib.sha256(data).hexdigest()


def lock_digest(entry: LockEntry) -> str:
    """The identity of one task: sha256 over its lock entry, the same whatever other tasks stand in the lock."""
    fields = dataclasses.asdict(entry)
    text = "\n".join(f"{key}={','.join(value) if isinstance(value, tuple) else value}" for key, value in fields.items())
    return sha256(text.encode())


def load_exam(suite: SuitePaths, task_id: str) -> Exam:
    """Read one task from disk; raises LabError where the oracle is not the one that the lock names."""
    task = read_task(suite, task_id)
    entry = read_lock_entry(suite, task_id)
    paths = suite.task(task_id)
    test = _read(paths.test, task)
    test_sha256 = sha256(test)
    if test_sha256 != entry.test:
        raise ungradable(task, "its hidden test is not the one that the lock names")
    reference = _read(paths.reference, task)
    if sha256(reference) != entry.reference:
        raise ungradable(task, "its reference is not the one that the lock names")
    return Exam(task, test, test_sha256, lock_digest(entry), reference)


def _read(path: object, task: Task) -> bytes:
    try:
        return read_regular(str(path), MAX_TEST_BYTES)
    except (FileNotFoundError, NotRegularFile) as error:
        raise ungradable(task, f"{path}: {error}") from error


def ungradable(task: Task, why: str) -> LabError:
    """The error for a task that cannot be graded as it lies on disk."""
    return LabError(f"{task.id} could not be graded: {why}", f"Run lab gen --suite {task.suite} again")
