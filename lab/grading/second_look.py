"""The second look at what does not stand by itself: over the wall limit once, never started, or lost by a judge."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.grading.job import Graded, Job, stopped
from lab.grading.verdicts import JUDGE_FAILED, NOT_STARTED, WALL, Outcome, verdict_of
from lab.grading.work import Work
from lab.verdict import Status

if TYPE_CHECKING:
    from lab.grading.pool import Pool


def settle(pool: Pool, job: Job, outcomes: list[Outcome]) -> None:
    """Give the job its result, after a second look at what does not stand by itself."""
    graded: list[Graded] = []
    looks: list[tuple[int, Job]] = []
    for index, (work, outcome) in enumerate(zip(job.works, outcomes, strict=True)):
        verdict = verdict_of(job.exam, work, outcome, pool.isolation, pool.venv.grader)
        graded.append(Graded(verdict, outcome.measured))
        if outcome.status in {WALL, NOT_STARTED} and not job.solo and not job.together:
            looks.append((index, Job(job.exam, (work,), solo=True, all_cases=job.all_cases)))
        elif outcome.status == JUDGE_FAILED and job.exam.reference:
            # without a reference of its own, so that this look is the last
            exam = dataclasses.replace(job.exam, reference=b"")
            looks.append((index, Job(exam, (Work.of(job.exam.reference),), all_cases=job.all_cases)))
    waiting = len(looks)
    if not waiting:
        job.future.set_result(tuple(graded))

    def seen(index: int, look: Job) -> None:
        nonlocal waiting
        waiting -= 1
        if job.future.done():
            return
        failure = stopped() if look.future.cancelled() else look.future.exception()
        if failure is not None:
            job.future.set_exception(failure)
            return
        (again,) = look.future.result()
        graded[index] = again if look.solo else blame(graded[index], again)
        if not waiting:
            job.future.set_result(tuple(graded))

    for index, look in looks:
        look.future.add_done_callback(lambda _, index=index, look=look: seen(index, look))  # type: ignore[misc]
        pool.queue(look)


def blame(candidate: Graded, reference: Graded) -> Graded:
    """A judge failed: that is the candidate's error, unless the reference graded at once after it fails too."""
    if not reference.verdict.passed:
        return candidate
    reason = f"its values made grading fail: {candidate.verdict.reason}"
    return dataclasses.replace(
        candidate, verdict=dataclasses.replace(candidate.verdict, status=Status.ERROR, reason=reason)
    )
