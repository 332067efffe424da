from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.files import replace_folder
from lab.generate.publish import Staging, interrupted, stands, task_folders, unlike_lock
from lab.generate.render import File, lock_entry, task_files, task_of
from lab.grading.limits import PROOF_LIMITS
from lab.suites.base import Problem
from tests.generate.tiny import TinySuite, good_row, names, snapshot, suite_paths

if TYPE_CHECKING:
    from pathlib import Path

    from lab.layout import SuitePaths


def problem(number: int = 0) -> Problem:
    suite = TinySuite()
    made = suite.problem(suite.datasets[0], good_row(number))
    assert isinstance(made, Problem)
    return made


def files(paths: SuitePaths, number: int = 0) -> dict[Path, File]:
    given = problem(number)
    task = task_of(given, "tiny", cases=2, limits=PROOF_LIMITS)
    return task_files(given, task, paths.task(given.task_id), proven=True)


def publish(paths: SuitePaths, *numbers: int) -> None:
    with Staging(paths) as staging:
        for number in numbers:
            staging.add(f"ones-{number}", files(paths, number))
        staging.commit()


def test_published_tasks_stand_and_leave_no_traces(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0, 1)
    publish(paths, 1)
    assert task_folders(paths) == {"ones-0", "ones-1"}
    assert names(paths.folder) == ["oracle", "tasks"]
    assert names(paths.tasks) == ["ones-0", "ones-1"]
    assert stands(files(paths, 1), paths.task("ones-1"))
    assert os.access(paths.task("ones-0").check, os.X_OK)


@pytest.mark.parametrize("name", ["prompt", "stub", "check", "settings", "test", "reference"])
def test_any_other_byte_does_not_stand(tmp_path: Path, name: str) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    task = paths.task("ones-0")
    path: Path = getattr(task, name)
    path.write_bytes(path.read_bytes() + b"\n")
    assert not stands(files(paths), task)
    assert unlike_lock(task, lock_entry(problem())) == (name not in {"check", "settings"})
    path.unlink()
    assert not stands(files(paths), task)
    assert unlike_lock(task, lock_entry(problem()))


def test_a_file_too_many_does_not_stand(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    (paths.task("ones-0").task / "hint.txt").write_text("the answer")
    assert not stands(files(paths), paths.task("ones-0"))


def test_a_script_that_does_not_run_does_not_stand(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    paths.task("ones-0").check.chmod(0o644)
    assert not stands(files(paths), paths.task("ones-0"))


def test_nothing_changes_before_the_commit(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    paths.lock.write_text("old")
    before = snapshot(paths.folder)
    with Staging(paths) as staging:
        staging.add("ones-0", files(paths, 1))
        staging.add("ones-1", files(paths, 1))
        staging.remove("ones-0")
        staging.document(paths.lock, "new")
        assert paths.staging.exists()
    assert snapshot(paths.folder) == before
    assert not paths.staging.exists()


def test_an_interrupt_waits_until_everything_is_swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = suite_paths(tmp_path)

    def interrupted_swap(new: Path, target: Path) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        replace_folder(new, target)

    monkeypatch.setattr("lab.generate.publish.replace_folder", interrupted_swap)
    with Staging(paths) as staging:
        for number in range(3):
            staging.add(f"ones-{number}", files(paths, number))
        staging.document(paths.lock, "new")
        with pytest.raises(KeyboardInterrupt):
            staging.commit()
    assert task_folders(paths) == {"ones-0", "ones-1", "ones-2"}
    assert paths.lock.read_text() == "new"


def test_what_a_killed_generation_left_is_swept(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    (paths.staging / "tasks").mkdir(parents=True)
    paths.task("ones-0").task.rename(paths.tasks / ".ones-0.old")
    entry = {"ones-0": lock_entry(problem())}
    assert interrupted(paths, entry, {"ones-0"}) == {"ones-0"}
    publish(paths, 0)
    assert names(paths.folder) == ["oracle", "tasks"]
    assert names(paths.tasks) == ["ones-0"]
    assert interrupted(paths, entry, {"ones-0", "ones-1"}) == {"ones-1"}


def test_a_link_in_the_place_of_a_text_is_not_followed(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    test = paths.task("ones-0").test
    test.rename(tmp_path / "elsewhere")
    test.symlink_to(tmp_path / "elsewhere")
    assert not stands(files(paths), paths.task("ones-0"))
    assert unlike_lock(paths.task("ones-0"), lock_entry(problem()))


def test_a_file_in_the_way_is_one_line(tmp_path: Path) -> None:
    paths = suite_paths(tmp_path)
    publish(paths, 0)
    before = snapshot(paths.folder)
    paths.staging.write_text("in the way")
    with pytest.raises(LabError, match="cannot write"), Staging(paths) as staging:
        staging.add("ones-0", files(paths))
    paths.staging.unlink()
    assert snapshot(paths.folder) == before
