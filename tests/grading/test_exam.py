"""An exam is read from a suite as it lies on disk; what is not the one that the lock names is not graded with."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.grading.exam import load_exam, lock_digest, sha256
from lab.tasks import read_lock, read_lock_entry
from tests.generate.tiny import fake_grading, good_row, suite_paths, write_rows
from tests.generate.tiny import run as generate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lab.layout import SuitePaths

TASK = "ones-1"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SuitePaths:
    with monkeypatch.context() as patch:
        fake_grading(patch)
        generate(
            tmp_path,
            write_rows(tmp_path / "rows", [good_row(1), good_row(2), good_row(11)], [good_row(1, "Two")]),
            every=True,
        )
    return suite_paths(tmp_path)


def test_an_exam_is_what_lies_on_disk(suite: SuitePaths) -> None:
    exam = load_exam(suite, TASK)
    paths = suite.task(TASK)
    assert exam.test == paths.test.read_bytes()
    assert exam.reference == paths.reference.read_bytes()
    assert (exam.task.id, exam.task.entry_point, exam.task.suite, exam.task.cases) == (TASK, "f", "tiny", 2)
    assert exam.test_sha256 == sha256(exam.test) == read_lock(suite)[TASK].test
    assert exam.lock_sha256 == lock_digest(read_lock_entry(suite, TASK))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def linked_test(suite: SuitePaths) -> None:
    path = suite.task(TASK).test
    path.symlink_to(path.rename(suite.folder / "t"))


AGAIN = "Run lab gen( --suite tiny)? again"
UNGRADABLE: dict[str, tuple[Callable[[SuitePaths], object], str]] = {
    "another test": (lambda s: s.task(TASK).test.write_text("pass"), f"{TASK} could not be graded: its hidden test"),
    "a test and a newline": (
        lambda s: s.task(TASK).test.write_bytes(s.task(TASK).test.read_bytes() + b"\n"),
        f"{TASK} could not be graded: its hidden test",
    ),
    "another reference": (
        lambda s: s.task(TASK).reference.write_text("def f(x): return 0"),
        f"{TASK} could not be graded: its reference",
    ),
    "no test": (lambda s: s.task(TASK).test.unlink(), f"{TASK} could not be graded: .*test.py"),
    "no reference": (lambda s: s.task(TASK).reference.unlink(), f"{TASK} could not be graded: .*reference.py"),
    "no oracle": (lambda s: shutil.rmtree(s.oracle), f"{TASK} could not be graded"),
    "a linked test": (
        linked_test,
        "symbolic link",
    ),
    "a lock of another test": (
        lambda s: edit(s.lock, read_lock(s)[TASK].test, "0" * 64),
        f"{TASK} could not be graded: its hidden test",
    ),
    "not in the lock": (lambda s: edit(s.lock, f"[tasks.{TASK}]", "[tasks.ones-9]"), f"{TASK} is not in"),
    "half an entry": (lambda s: edit(s.lock, "reference = ", "other = "), "has no whole entry"),
    "a broken lock": (lambda s: edit(s.lock, "row = ", "row ] "), "not valid TOML"),
    "no settings": (lambda s: s.task(TASK).settings.unlink(), "task.toml is missing"),
    "settings without limits": (lambda s: edit(s.task(TASK).settings, "[limits]", "[other]"), "does not describe"),
    "a limit of zero": (lambda s: edit(s.task(TASK).settings, "cpu_s = 10", "cpu_s = 0"), "does not describe"),
    "settings of another task": (
        lambda s: shutil.copy(s.task("ones-2").settings, s.task(TASK).settings),
        "is about the task ones-2",
    ),
}


@pytest.mark.parametrize("name", UNGRADABLE)
def test_what_does_not_match_the_lock_is_not_graded(suite: SuitePaths, name: str) -> None:
    change, why = UNGRADABLE[name]
    change(suite)
    with pytest.raises(LabError, match=why) as raised:
        load_exam(suite, TASK)
    assert re.search(AGAIN, str(raised.value))
    assert "\n" not in str(raised.value)


def test_a_suite_without_a_lock_says_how_to_get_one(suite: SuitePaths) -> None:
    suite.lock.unlink()
    with pytest.raises(LabError, match="Run lab gen --suite tiny first"):
        load_exam(suite, TASK)


def test_a_name_that_begins_another_is_not_it(suite: SuitePaths) -> None:
    assert read_lock_entry(suite, "ones-1") != read_lock_entry(suite, "ones-11")
    assert read_lock(suite)["ones-11"] == read_lock_entry(suite, "ones-11")


def test_the_digest_of_a_lock_entry_is_of_that_task_alone(suite: SuitePaths) -> None:
    before = load_exam(suite, TASK).lock_sha256
    edit(suite.lock, read_lock(suite)["ones-2"].row, "1" * 64)
    assert load_exam(suite, TASK).lock_sha256 == before
    edit(suite.lock, read_lock(suite)[TASK].prompt, "2" * 64)
    assert load_exam(suite, TASK).lock_sha256 != before
