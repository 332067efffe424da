"""All 542 problems become tasks, from the viewer, from its cache, from files: proven, and the same each time."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from lab.tasks import read_lock, read_task
from tests.real.whole import TASKS, lab, lines, snapshot
from tests.support.required import SHARED_DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.real.whole import Generation

pytestmark = [pytest.mark.real, pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"{SHARED_DATA} is not here")]


def table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def test_every_row_of_the_viewer_becomes_a_task(drafted: Generation) -> None:
    assert drafted.said.code == 0, drafted.said
    assert f"kept {TASKS} of {TASKS}" in drafted.said.out
    assert drafted.pages == 2 + 4, "164 and 378 rows in pages of 100"
    suite = drafted.suite
    names = read_lock(suite).keys()
    assert len(names) == TASKS
    for folder in (suite.tasks, suite.oracle):
        assert {path.name for path in folder.iterdir()} == names
    assert table(suite.dropped) == {}
    assert all(rows["known"] for rows in table(suite.lock)["rows"].values())


def test_entry_points_in_the_task_folders_are_evalpluses_own(drafted: Generation) -> None:
    own = {row["task_id"]: row["entry_point"] for name in ("HumanEvalPlus", "MbppPlus") for row in _release(name)}
    tasks = [read_task(drafted.suite, name) for name in read_lock(drafted.suite)]
    assert {task.upstream_id: task.entry_point for task in tasks} == own
    assert sum(task.dataset == "mbppplus" for task in tasks) == 378


def _release(name: str) -> list[dict[str, Any]]:
    return lines(SHARED_DATA / f"{name}.jsonl.gz")


@pytest.mark.slow
def test_a_second_generation_needs_no_network_and_changes_nothing(drafted: Generation) -> None:
    before = snapshot(drafted.suite)
    for more in ((), ("--offline",)):
        again = drafted.lab("gen", "--suite", "evalplus", "--all", "--no-validate", *more)
        assert (again.code, again.err) == (0, "")
        assert f"(0 written, {TASKS} unchanged)" in again.out
    assert snapshot(drafted.suite) == before


def test_files_give_the_lock_that_the_viewer_gives(drafted: Generation, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    done = lab(root, drafted.viewer, "gen", "--suite", "evalplus", "--all", "--no-validate", "--source", SHARED_DATA)
    assert (done.code, done.err) == (0, "")
    assert (root / "evals" / "evalplus" / "lock.toml").read_bytes() == drafted.suite.lock.read_bytes()


@pytest.mark.slow
def test_every_task_is_proven_from_both_sides(proven: Generation) -> None:
    assert proven.said.code == 0, proven.said
    settings, measured = table(proven.suite.settings), table(proven.suite.measured)["tasks"]
    assert settings["counts"] == {"kept": TASKS, "dropped": 0, "unproven": 0}
    assert measured.keys() == read_lock(proven.suite).keys()
    for name, proof in measured.items():
        # written only for a reference that passed and a stub that did not; these are what else passed
        assert proof["constants"] == [], name
        assert proof["cases"] == read_task(proven.suite, name).cases > 0


@pytest.mark.slow
def test_the_proof_leaves_no_trace_in_the_lock(proven: Generation, drafted: Generation) -> None:
    assert proven.suite.lock.read_bytes() == drafted.suite.lock.read_bytes()


@pytest.mark.slow
def test_what_is_proven_is_not_proven_again(proven: Generation) -> None:
    before = snapshot(proven.suite)
    again = proven.lab("gen", "--suite", "evalplus", "--all", "--offline")
    assert (again.code, again.err) == (0, "")
    assert f"(0 written, {TASKS} unchanged)" in again.out
    assert snapshot(proven.suite) == before
