from __future__ import annotations

from typing import Any

import pytest

from lab.reporting.rows import Row, make_rows
from lab.results import Result
from lab.verdict import Status, Verdict

LOCK = {"t-1": "one", "t-2": "two", "t-10": "ten"}


def result(task: str, status: str | None, sample: int = 0, **more: Any) -> Result:
    verdict = None
    if status:
        verdict = Verdict(Status(status), "", task, "", "s", "t", solution_sha256="x", isolation="bwrap")
    given = {"tool": "a", "task_lock_sha256": LOCK.get(task, ""), "suite_lock_sha256": "suite"} | more
    return Result(lab="1", suite="s", task=task, sample=sample, verdict=verdict, **given)


def only(*results: Result) -> Row:
    (row,) = make_rows(results, LOCK)
    return row


def test_one_run_a_task() -> None:
    row = only(result("t-10", "pass", wall_s=3.0), result("t-2", "timeout", wall_s=1.0))
    assert (row.tasks, row.scored, row.count("pass"), row.count("timeout")) == (2, 2, 1, 1)
    assert row.pass_at_1 == 0.5
    assert row.median_wall_s == 2.0
    assert row.missing == ("t-1",)
    assert list(row.scores) == ["t-2", "t-10"]
    assert row.isolations == ("bwrap",)
    assert row.pass_at_1_infra_fails is None


def test_several_runs_of_a_task_weigh_as_one_task() -> None:
    row = only(result("t-1", "pass", 0), result("t-1", "wrong", 1), result("t-1", "wrong", 2), result("t-2", "pass"))
    assert (row.tasks, row.scored, row.count("pass")) == (2, 4, 2)
    assert row.pass_at_1 == pytest.approx((1 / 3 + 1) / 2)
    low, high = row.interval or (0, 0)
    # as sure as two tasks make it, not as four runs would
    assert high - low > 0.6


def test_infra_and_interrupted_are_not_scored() -> None:
    row = only(result("t-1", "pass"), result("t-2", "infra"), result("t-10", None))
    assert (row.tasks, row.scored, row.pass_at_1) == (1, 1, 1.0)
    assert row.pass_at_1_infra_fails == 0.5
    assert row.missing == ("t-2", "t-10")
    assert row.count("interrupted") == 1


def test_nothing_scored_has_no_rate() -> None:
    row = only(result("t-1", "infra"))
    assert (row.pass_at_1, row.interval, row.pass_at_1_infra_fails) == (None, None, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        {"tool": "b"},
        {"tool_version": "2"},
        {"model": "m"},
        {"settings_sha256": "other"},
        {"task_lock_sha256": "as it was"},
    ],
)
def test_what_differs_is_never_pooled(other: dict[str, Any]) -> None:
    rows = make_rows([result("t-1", "pass"), result("t-1", "wrong", **other)], LOCK)
    assert [row.pass_at_1 for row in rows] == [1.0, 0.0]


def test_a_larger_suite_keeps_earlier_results_in_their_row() -> None:
    assert only(result("t-1", "pass"), result("t-2", "pass", suite_lock_sha256="grown")).tasks == 2
