"""The proof of a problem, from both sides: its reference passes, and what is no answer does not."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, Protocol

from lab.generate.render import lock_entry, task_of
from lab.grading.exam import Exam, lock_digest, sha256
from lab.grading.job import Graded, Job
from lab.grading.limits import PROOF_LIMITS, Measured, limits_from
from lab.grading.work import Missing, Work
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from concurrent.futures import Future

    from lab.suites.base import Problem
    from lab.tasks import Task


CONSTANTS = ("None", "True", "False", "0", "7", '""', "[]")
"""Values that must not pass when returned for every call, as Python source."""


class Grader(Protocol):
    """What a proof needs of lab.grading.pool.Pool."""

    def submit(self, job: Job) -> Future[tuple[Graded, ...]]: ...


@dataclasses.dataclass(frozen=True)
class Proven:
    """The reference passed and nothing else did."""

    measured: Measured
    constants: tuple[str, ...] = ()
    """The constants that passed, where the problem says that one is the whole answer."""


@dataclasses.dataclass(frozen=True)
class Refused:
    """Why a problem is not kept; `output` is the tail of what grading said, where it was asked."""

    reason: str
    output: str = ""
    ungraded: bool = False
    """lab itself could not grade: that says nothing about the problem."""


def constant_function(entry_point: str, value: str) -> str:
    """A solution that answers every call with `value`."""
    return f"def {entry_point}(*args, **kwargs):\n    return {value}\n"


def prove(grader: Grader, suite: str, problem: Problem) -> Proven | Refused:
    """Prove one problem; waits for two jobs of the grader, the second under the limits that the first gave."""
    try:
        right = Work.of(problem.reference)
        wrong = tuple(
            Work.of(text) for text in (problem.stub, *(constant_function(problem.entry_point, c) for c in CONSTANTS))
        )
    except Missing as error:
        return Refused(f"the reference or the stub cannot be graded: {error}")
    unknown = task_of(problem, suite, cases=0, limits=PROOF_LIMITS)
    (reference,) = grader.submit(Job(_exam(problem, unknown), (right,))).result()
    if not reference.verdict.passed:
        return _refused(reference, "the reference does not pass")
    measured = reference.measured
    if measured.cases == 0:
        return Refused("the hidden test never calls the function")
    known = task_of(problem, suite, cases=measured.cases, limits=limits_from(measured))
    stub, *constants = grader.submit(Job(_exam(problem, known), wrong, together=True)).result()
    return _refused_by(problem, stub, constants) or Proven(measured, _passing(constants))


def prove_all(
    grader: Grader, suite: str, problems: Sequence[Problem], *, jobs: int
) -> Generator[tuple[Problem, Proven | Refused]]:
    """Prove `problems`, started in the order given and yielded as they end; `jobs` are under way at a time.

    Leaving the iteration early starts no further proof; those under way end with the grader.
    """
    threads = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="proof")
    try:
        under_way = {threads.submit(prove, grader, suite, problem): problem for problem in problems}
        for future in as_completed(under_way):
            yield under_way[future], future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


def _exam(problem: Problem, task: Task) -> Exam:
    test = problem.test.encode("utf-8")
    return Exam(task, test, sha256(test), lock_digest(lock_entry(problem)), problem.reference.encode("utf-8"))


def _refused_by(problem: Problem, stub: Graded, constants: Sequence[Graded]) -> Refused | None:
    """Why the outcome of what must not pass is a reason not to keep the problem; None where it is not."""
    for graded in (stub, *constants):
        if graded.verdict.status is Status.INFRA:
            return _refused(graded, "a wrong answer could not be graded")
    if stub.verdict.passed:
        return Refused("the untouched stub passes", stub.verdict.reason)
    passing = _passing(constants)
    if passing and problem.constant_answer is None:
        return Refused(f"a function that always returns {' or '.join(passing)} passes")
    return None


def _passing(constants: Sequence[Graded]) -> tuple[str, ...]:
    return tuple(value for value, graded in zip(CONSTANTS, constants, strict=True) if graded.verdict.passed)


def _refused(graded: Graded, what: str) -> Refused:
    verdict = graded.verdict
    return Refused(f"{what}: {verdict.status}", verdict.reason, ungraded=verdict.status is Status.INFRA)
