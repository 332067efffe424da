"""The whole way on real parts: a venv, processes for candidates, the real command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.running.test_end_to_end import lab

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.laboratory import Laboratory


def records(laboratory: Laboratory) -> list[dict[str, Any]]:
    lines = (laboratory.root / "mine.results.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[1:]]


def samples(laboratory: Laboratory, *bodies: str) -> Path:
    return laboratory.samples(*({"task_id": "One/1", "solution": f"def f(x):\n    {body}"} for body in bodies))


BODIES = ("return x + 1", "return 0", "raise ValueError(x)", "import os; os._exit(0)", "return x + (x == 1)", "(")


@pytest.mark.parametrize("isolation", ["process", "auto"])
def test_one_parse_serves_many_samples_and_each_gets_its_own_verdict(laboratory: Laboratory, isolation: str) -> None:
    file = samples(laboratory, *BODIES)
    code, out, err = lab(laboratory, "grade", file, "--suite", "tiny", "--jobs", "2", "--isolation", isolation)
    assert code == 0, err
    found = records(laboratory)
    assert [r["status"] for r in found] == ["pass", "wrong", "error", "error", "wrong", "error"]
    assert [r["failed_case"] for r in found] == [None, 0, 0, 0, 1, None]
    assert [r["cases_run"] for r in found] == [2, 1, 1, 1, 2, 0]
    assert len({r["solution_sha256"] for r in found}) == len(BODIES)
    assert "tiny: 6 samples of 1 tasks" in out


def test_all_cases_counts_them_and_changes_no_status(laboratory: Laboratory) -> None:
    file = samples(laboratory, *BODIES)
    code, _, err = lab(laboratory, "grade", file, "--suite", "tiny")
    assert code == 0, err
    before = records(laboratory)
    code, _, err = lab(laboratory, "grade", file, "--suite", "tiny", "--all-cases")
    assert code == 0, err
    found = records(laboratory)
    same = ("status", "failed_case", "task", "sample", "line", "solution_sha256", "oracle_sha256")
    assert [[r[key] for key in same] for r in found] == [[r[key] for key in same] for r in before]
    assert [r["cases_run"] for r in found] == [2, 2, 2, 1, 2, 0]
    assert [r["reason"][:48] for r in found[:3]] == [
        "2 of 2 cases agreed",
        "2 of 2 cases failed, the first: f(1) returned 0",
        "2 of 2 cases failed, the first: f(1) raised Valu",
    ]
    assert found[4]["reason"] == "1 of 2 cases failed, the first: f(5) returned 5"


@pytest.mark.slow
def test_an_earlier_failure_stands_before_a_later_timeout(laboratory: Laboratory) -> None:
    file = samples(laboratory, "while x == 5: pass\n    return 0")
    assert lab(laboratory, "grade", file, "--suite", "tiny")[0] == 0
    assert [(r["status"], r["failed_case"]) for r in records(laboratory)] == [("wrong", 0)]
    assert lab(laboratory, "grade", file, "--suite", "tiny", "--all-cases")[0] == 0
    (record,) = records(laboratory)
    assert (record["status"], record["failed_case"], record["cases_run"]) == ("wrong", 0, 2)
    assert record["reason"] == "2 of 2 cases failed, the first: f(1) returned 0"
