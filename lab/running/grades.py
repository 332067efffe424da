"""The verdicts on what attempts left."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading.exam import load_exam
from lab.grading.job import Job
from lab.grading.verdicts import infra_verdict, missing_verdict
from lab.grading.work import Missing

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence
    from concurrent.futures import Future

    from lab.grading.isolation import Isolation
    from lab.grading.job import Graded
    from lab.grading.pool import Pool
    from lab.layout import SuitePaths
    from lab.running.attempt import Planned, Tried
    from lab.verdict import Verdict

LOOK_S = 0.2


@dataclasses.dataclass(frozen=True)
class Grades:
    """Grades in `pool`, which works at `isolation` with `grader`, until `stopping` is set."""

    suite: SuitePaths
    pool: Pool
    isolation: Isolation
    grader: str
    stopping: threading.Event

    def of(self, runs: Sequence[Planned], tries: Sequence[Tried]) -> list[Verdict | None]:
        """One verdict a try, in order; None for what was interrupted, before its grading or in it.

        The runs are all on one task.
        """
        verdicts = [_failure(run, tried) for run, tried in zip(runs, tries, strict=True)]
        finished = [n for n, tried in enumerate(tries) if verdicts[n] is None and tried.stop != "interrupted"]
        for number, verdict in zip(finished, self._graded(runs[0], [tries[n] for n in finished]), strict=True):
            verdicts[number] = verdict
        return [
            None if verdict is None else dataclasses.replace(verdict, sample=run.sample, line=run.line)
            for verdict, run in zip(verdicts, runs, strict=True)
        ]

    def _graded(self, run: Planned, tries: Sequence[Tried]) -> list[Verdict | None]:
        """The same for tries that left something to grade, or nothing."""
        try:
            exam = load_exam(self.suite, run.task.id)
        except LabError as error:
            return [infra_verdict(run.task, str(error)) for _ in tries]
        verdicts: list[Verdict | None] = [
            missing_verdict(exam, Missing(tried.missing), self.isolation, self.grader) if tried.work is None else None
            for tried in tries
        ]
        works = {number: tried.work for number, tried in enumerate(tries) if tried.work is not None}
        if works:
            job = Job(exam, tuple(works.values()))
            for number, verdict in zip(works, self._wait(self.pool.submit(job)), strict=False):
                verdicts[number] = verdict
        return verdicts

    def _wait(self, future: Future[tuple[Graded, ...]]) -> list[Verdict]:
        """The verdicts of a job in order, or none of them once the runner is stopping."""
        while not concurrent.futures.wait((future,), timeout=LOOK_S).done:
            if self.stopping.is_set():
                return []
        return [graded.verdict for graded in future.result()]


def _failure(run: Planned, tried: Tried) -> Verdict | None:
    """What is neither the tool's failure nor graded; None for all else."""
    if tried.fault:
        return infra_verdict(run.task, tried.fault)
    if tried.stop != "model-failure":
        return None
    why = tried.usage.model_failure if tried.usage else None
    return infra_verdict(run.task, f"the model could not be asked: {why or 'unknown'}")
