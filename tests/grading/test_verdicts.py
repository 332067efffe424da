from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lab.grading.isolation import Isolation
from lab.grading.limits import Measured
from lab.grading.verdicts import (
    JUDGE_FAILED,
    MAX_REASON_CHARS,
    NOT_STARTED,
    WALL,
    Outcome,
    missing_verdict,
    outcome_of,
    verdict_of,
)
from lab.grading.work import Missing, Work
from lab.verdict import Status
from tests.grading.exams import IDENTITY, exam

MEASURED = Measured(cases=2, cpu_s=0.12345, wall_s=1.23456, peak_mb=10.06)
DESIGN_KEYS = [
    *("status", "reason", "task", "upstream_id", "suite", "dataset", "sample", "line", "cases_run", "cases_total"),
    *("failed_case", "cpu_s", "wall_s", "peak_mb", "boundary", "isolation", "grader"),
    *("solution_sha256", "oracle_sha256", "lock_sha256"),
]
SAID = {"status": "wrong", "reason": "returned 9", "call": "f(1)", "calls": 2, "expected": "1"}


@pytest.mark.parametrize(
    ("message", "override", "status", "reason"),
    [
        (SAID, None, "wrong", "f(1) returned 9"),
        (SAID | {"status": "pass", "reason": "2 of 2 cases agreed"}, None, "pass", "2 of 2 cases agreed"),
        (SAID | {"status": "error", "reason": "raised X"}, None, "error", "f(1) raised X"),
        (SAID | {"status": "memory", "reason": "over"}, None, "memory", "f(1): over"),
        (SAID | {"status": "infra", "reason": "numpy is broken"}, None, "infra", "numpy is broken"),
        (SAID | {"status": "judge", "reason": "it failed"}, None, JUDGE_FAILED, "it failed"),
        (SAID | {"status": "not-started", "reason": "no"}, None, NOT_STARTED, "no"),
        (SAID | {"status": "ended"}, None, "error", "f(1): it died before it answered"),
        ({"status": "ended"}, None, "error", "it died before it answered"),
        (SAID, ("timeout", "over its CPU limit"), "timeout", "f(1): over its CPU limit"),
        (SAID | {"status": "pass"}, ("wall", "over its wall limit"), WALL, "f(1): over its wall limit"),
        (SAID | {"status": "judge"}, ("memory", "over"), "memory", "f(1): over"),
        (SAID | {"status": "infra"}, ("timeout", "over"), "timeout", "f(1): over"),
        # what no judge says
        ({}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": "timeout"}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": "missing"}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": "tamper"}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": "PASS"}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": 0}, None, JUDGE_FAILED, "the judge spoke in another form"),
        ({"status": "wall"}, None, JUDGE_FAILED, "the judge spoke in another form"),
    ],
)
def test_the_judges_word(message: dict[str, Any], override: tuple[str, str] | None, status: str, reason: str) -> None:
    outcome = outcome_of(message, MEASURED, override, "it died")
    assert (outcome.status, outcome.reason) == (status, reason)


@pytest.mark.parametrize("calls", [None, "2", -1])
def test_a_number_of_calls_that_is_none(calls: object) -> None:
    outcome = outcome_of(SAID | {"calls": calls, "call": 5, "expected": 7}, MEASURED, None, "")
    assert (outcome.calls, outcome.expected) == (0, None)
    assert verdict_of(exam(), Work.of(IDENTITY), outcome, Isolation.PROCESS, "g").failed_case is None


@pytest.mark.parametrize(
    ("status", "verdict", "failed_case"),
    [
        ("pass", Status.PASS, None),
        ("wrong", Status.WRONG, 1),
        ("error", Status.ERROR, 1),
        ("memory", Status.MEMORY, 1),
        ("timeout", Status.TIMEOUT, 1),
        ("wall", Status.TIMEOUT, 1),
        ("judge", Status.INFRA, None),
        ("infra", Status.INFRA, None),
        ("not-started", Status.INFRA, None),
    ],
)
def test_what_an_outcome_comes_to(status: str, verdict: Status, failed_case: int | None) -> None:
    override = (status, "why") if status in {"timeout", "wall"} else None
    outcome = outcome_of({"status": status, "reason": "why", "calls": 2}, MEASURED, override, "")
    record = verdict_of(exam(cases=3), Work.of(IDENTITY), outcome, Isolation.BWRAP, "g")
    assert (record.status, record.failed_case) == (verdict, failed_case)
    assert (record.cases_run, record.cases_total, record.cpu_s, record.wall_s) == (2, 3, 0.123, 1.235)
    assert (record.peak_mb, record.isolation, record.grader) == (10.1, "bwrap", "g")
    assert record.solution_sha256 == Work.of(IDENTITY).sha256
    assert record.oracle_sha256 == exam().test_sha256


def test_the_keys_of_a_record_are_the_designs() -> None:
    outcome = Outcome("wrong", "x", expected="the answer")
    record = verdict_of(exam(), Work.of(IDENTITY), outcome, Isolation.BWRAP, "g").record()
    assert sorted(record) == sorted(DESIGN_KEYS)
    assert "the answer" not in str(record)
    assert type(record["status"]) is str


def test_a_reason_is_one_line_whatever_was_said() -> None:
    hostile = "\x1b[2J\n\u202e\ud800" * 1000
    outcome = outcome_of(SAID | {"reason": hostile, "call": hostile, "expected": hostile}, MEASURED, None, "")
    verdict = verdict_of(exam(), Work.of(IDENTITY), outcome, Isolation.BWRAP, "g")
    for text in (verdict.reason, verdict.expected or ""):
        assert text.isprintable()
        assert 0 < len(text) <= MAX_REASON_CHARS


def test_without_a_known_number_of_cases_it_is_what_was_run() -> None:
    outcome = dataclasses.replace(Outcome("pass", "x"), calls=7)
    assert verdict_of(exam(cases=0), Work.of(IDENTITY), outcome, Isolation.BWRAP, "g").cases_total == 7


def test_missing() -> None:
    verdict = missing_verdict(exam(), Missing("solution.py is a symbolic link"), Isolation.PROCESS, "g")
    assert (verdict.status, verdict.reason) == (Status.MISSING, "solution.py is a symbolic link")
    assert (verdict.solution_sha256, verdict.cases_run, verdict.failed_case, verdict.peak_mb) == ("", 0, None, None)
    assert verdict.status.scored
    assert not verdict.passed
