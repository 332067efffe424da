"""From what happened to a verdict. The one place where a status is decided."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from lab.grading.limits import Measured
from lab.grading.show import printable
from lab.grading.work import SOLUTION, Missing, Work
from lab.verdict import Status, Verdict

if TYPE_CHECKING:
    from lab.grading.exam import Exam
    from lab.grading.isolation import Isolation
    from lab.tasks import Task

JUDGE_FAILED = "judge"
"""Not a verdict yet: the host side failed, and the reference is asked whose fault that is."""
WALL = "wall"
"""Not a verdict yet: over the wall limit once. It is graded again, alone, before it stands."""
NOT_STARTED = "not-started"
"""Not a verdict yet: nothing of the candidate has run. It is started once more, alone, before that is infra."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What was seen of one work: `status` is a Status, or one of the three above."""

    status: str
    reason: str
    calls: int = 0
    failed_case: int | None = None
    expected: str | None = None
    measured: Measured = dataclasses.field(default_factory=Measured)


UNSETTLED = {WALL: Status.TIMEOUT, JUDGE_FAILED: Status.INFRA, NOT_STARTED: Status.INFRA}
"""What becomes of a status that is no verdict, when the second look did not settle it."""
NOT_THE_CANDIDATE = frozenset((Status.PASS, Status.INFRA, JUDGE_FAILED, NOT_STARTED))
SAID_BY_JUDGES = NOT_THE_CANDIDATE | {Status.WRONG, Status.ERROR, Status.MEMORY}
MAX_REASON_CHARS = 600


def verdict_of(exam: Exam, work: Work, outcome: Outcome, isolation: Isolation, grader: str) -> Verdict:
    """The record of one graded work."""
    status = UNSETTLED.get(outcome.status) or Status(outcome.status)
    task = exam.task
    return Verdict(
        status=status,
        reason=printable(outcome.reason, MAX_REASON_CHARS),
        task=task.id,
        upstream_id=task.upstream_id,
        suite=task.suite,
        dataset=task.dataset,
        cases_run=outcome.calls,
        cases_total=task.cases or outcome.calls,
        failed_case=outcome.failed_case,
        cpu_s=round(outcome.measured.cpu_s, 3),
        wall_s=round(outcome.measured.wall_s, 3),
        peak_mb=round(outcome.measured.peak_mb, 1) or None,
        isolation=isolation.value,
        grader=grader,
        solution_sha256=work.sha256,
        oracle_sha256=exam.test_sha256,
        lock_sha256=exam.lock_sha256,
        expected=None if outcome.expected is None else printable(outcome.expected, MAX_REASON_CHARS),
    )


def missing_verdict(exam: Exam, missing: Missing, isolation: Isolation, grader: str) -> Verdict:
    """The record of a work that has no solution.py to grade."""
    outcome = Outcome(Status.MISSING, str(missing))
    verdict = verdict_of(exam, Work({SOLUTION: b""}), outcome, isolation, grader)
    return dataclasses.replace(verdict, solution_sha256="")


def infra_verdict(task: Task, reason: str) -> Verdict:
    """The record where lab has no exam to grade with."""
    return Verdict(
        status=Status.INFRA,
        reason=reason,
        task=task.id,
        upstream_id=task.upstream_id,
        suite=task.suite,
        dataset=task.dataset,
        cases_total=task.cases,
        boundary="values" if task.judge == "values" else "shared-process",
    )


def outcome_of(message: dict[str, Any], measured: Measured, override: tuple[str, str] | None, ending: str) -> Outcome:
    """Read the judge's word on one work; `override` is what the supervisor ended the candidate for.

    `ending` says how a candidate ended that hung up by itself. The judge's word is checked: a hostile test has the
    same socket. Its values are texts and numbers of 64 bits, or it would not have been heard. Where it counted failing
    cases, the first of them stands, whatever the candidate was ended for later.
    """
    status, reason = str(message.get("status")), str(message.get("reason"))
    calls = _count(message, "calls")
    failed = _count(message, "failed")
    if override is not None and not failed:
        status, reason = override
    elif status == "ended":
        status, reason = Status.ERROR, f"{ending} before it answered"
    elif status not in SAID_BY_JUDGES:
        status, reason = JUDGE_FAILED, "the judge spoke in another form"
    expected = message.get("expected")
    call = message.get("call")
    if status not in NOT_THE_CANDIDATE and calls and isinstance(call, str):
        reason = f"{call} {reason}" if reason.startswith(("raised ", "returned ")) else f"{call}: {reason}"
    blamed = calls - 1 if calls else None
    if failed and calls:
        reason = f"{failed} of {calls} cases failed, the first: {reason}"
        blamed = min(_count(message, "failed_case"), calls - 1)
    return Outcome(
        status,
        reason,
        calls,
        failed_case=None if status in NOT_THE_CANDIDATE else blamed,
        expected=expected if isinstance(expected, str) else None,
        measured=measured,
    )


def _count(message: dict[str, Any], name: str) -> int:
    """A number of a judge's message; 0 where there is none."""
    value = message.get(name)
    return value if isinstance(value, int) and value >= 0 else 0
