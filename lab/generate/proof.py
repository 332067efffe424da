"""The proof of a problem, from both sides: its reference passes, and what is no answer does not."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, wait
from typing import TYPE_CHECKING, Protocol

from lab.generate.render import lock_entry, task_of
from lab.grading.exam import Exam, lock_digest, sha256
from lab.grading.job import Graded, Job
from lab.grading.limits import PROOF_LIMITS, Measured, limits_from
from lab.grading.work import Work
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
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
    """There was no verdict, by a broken test or a broken machine: no reason to remove a task that stands."""


_Proof = Generator[Job, "tuple[Graded, ...]", "Proven | Refused"]
"""A proof under way: asks for a job, is sent its outcome, and returns what it found."""


def constant_function(entry_point: str, value: str) -> str:
    """A solution that answers every call with `value`."""
    return f"def {entry_point}(*args, **kwargs):\n    return {value}\n"


def prove_all(
    grader: Grader, suite: str, problems: Iterable[Problem], *, jobs: int
) -> Generator[tuple[Problem, Proven | Refused]]:
    """Prove `problems`, started in the order given and yielded as they end.

    `jobs` is how many the grader works on at once; as many again wait in its queue, so that it is never idle.
    Raises what the grader raises where it has failed as a whole.
    """
    waiting = iter(problems)
    under_way: dict[Future[tuple[Graded, ...]], tuple[Problem, _Proof]] = {}
    while True:
        for problem in itertools.islice(waiting, 2 * jobs - len(under_way)):
            proof = _proof(suite, problem)
            under_way[grader.submit(next(proof))] = problem, proof
        if not under_way:
            return
        done, _ = wait(under_way, return_when=FIRST_COMPLETED)
        for future in done:
            problem, proof = under_way.pop(future)
            try:
                under_way[grader.submit(proof.send(future.result()))] = problem, proof
            except StopIteration as end:
                yield problem, end.value


def _proof(suite: str, problem: Problem) -> _Proof:
    """Yield the jobs that prove a problem, one after the other; the second is under the limits that the first gave."""
    unknown = task_of(problem, suite, cases=0, limits=PROOF_LIMITS)
    (reference,) = yield Job(_exam(problem, unknown), (Work.of(problem.reference),))
    if not reference.verdict.passed:
        return _refused(reference, "the reference does not pass")
    measured = reference.measured
    known = task_of(problem, suite, cases=measured.cases, limits=limits_from(measured))
    wrong = (problem.stub, *(constant_function(problem.entry_point, value) for value in CONSTANTS))
    stub, *constants = yield Job(_exam(problem, known), tuple(Work.of(text) for text in wrong), together=True)
    return _refused_by(problem, stub, constants) or Proven(measured, _passing(constants))


def _exam(problem: Problem, task: Task) -> Exam:
    test = problem.test.encode("utf-8")
    return Exam(task, test, sha256(test), lock_digest(lock_entry(problem)), problem.reference.encode("utf-8"))


def _refused_by(problem: Problem, stub: Graded, constants: Sequence[Graded]) -> Refused | None:
    """Why the outcome of what must not pass is a reason not to keep the problem; None where it is not."""
    for graded in (stub, *constants):
        if graded.verdict.status is Status.INFRA:
            return _refused(graded, "a wrong answer has no verdict")
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
    if verdict.status is Status.INFRA:
        return Refused(f"{what}: it could not be graded", verdict.reason, ungraded=True)
    return Refused(f"{what}: {verdict.status}", verdict.reason)
