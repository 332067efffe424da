"""From units to verdicts: in batches of one task, on a pool, never more texts in memory than are about to run."""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import hashlib
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading.exam import load_exam
from lab.grading.job import WORKS_PER_JOB, Job
from lab.grading.limits import STEPS_S
from lab.grading.verdicts import infra_verdict, missing_verdict
from lab.grading.work import Missing, Work
from lab.samples.sample import Sample
from lab.tasks import read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from lab.bulk.contents import Row, Unit
    from lab.grading.job import Graded
    from lab.grading.pool import Pool
    from lab.layout import SuitePaths
    from lab.samples.prompts import Prompts
    from lab.samples.sample import Samples
    from lab.tasks import Task
    from lab.verdict import Verdict

JOB_S = 2.0
"""CPU seconds of references that one job should not exceed: a slow task's samples are spread over the workers."""
JOBS_AHEAD = 2
"""Jobs a worker that are read and queued: one runs, one waits, so that no worker ever does."""

Batch = tuple["Row", ...]


@dataclasses.dataclass(frozen=True)
class Grader:
    """Grades rows of `samples` on `pool`, which has `jobs` workers."""

    suite: SuitePaths
    samples: Samples
    prompts: Prompts
    pool: Pool
    jobs: int
    all_cases: bool

    def grade(self, rows: Iterable[Row], settle: Callable[[Unit, Verdict], None]) -> None:
        """Grade every row, telling `settle` of each as it gets its verdict, the most expensive first.

        Raises KeyboardInterrupt once what is graded is told, LabError where grading cannot go on.
        """
        batches = iter(make_batches(rows, _costs(self.suite)))
        running: dict[Future[tuple[Graded, ...]], Batch] = {}

        def take(futures: Iterable[Future[tuple[Graded, ...]]]) -> None:
            for future in futures:
                for row, graded in zip(running.pop(future), future.result(), strict=True):
                    settle(row.unit, graded.verdict)

        try:
            while True:
                while len(running) < JOBS_AHEAD * self.jobs and (batch := next(batches, None)):
                    self._start(batch, running, settle)
                if not running:
                    return
                take(concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done)
        except KeyboardInterrupt:
            take([future for future in running if future.done()])
            raise

    def _start(
        self, batch: Batch, running: dict[Future[tuple[Graded, ...]], Batch], settle: Callable[[Unit, Verdict], None]
    ) -> None:
        """Queue a batch; what needs no candidate to be judged is settled at once."""
        task = batch[0].task
        try:
            exam = load_exam(self.suite, task.id)
        except LabError as error:
            verdict = infra_verdict(task, str(error))
            for row in batch:
                settle(row.unit, self._signed(verdict, row))
            return
        works: list[tuple[Row, Work]] = []
        for row in batch:
            try:
                works.append((row, Work.of(self._source(row))))
            except Missing as missing:
                settle(row.unit, missing_verdict(exam, missing, self.pool.isolation, self.pool.venv.grader))
        if works:
            job = Job(exam, tuple(work for _, work in works), all_cases=self.all_cases)
            running[self.pool.submit(job)] = tuple(row for row, _ in works)

    def _source(self, row: Row) -> bytes:
        """The text of a row, read again; raises LabError where it is not the one that was counted."""
        found = self.samples.again(row.place)
        source = self.prompts.source(found, row.task) if isinstance(found, Sample) else b""
        if hashlib.sha256(source).digest() != row.digest:
            raise LabError("the samples or a stub changed while they were graded", "Run the command again")
        return source

    def _signed(self, verdict: Verdict, row: Row) -> Verdict:
        return dataclasses.replace(
            verdict,
            isolation=self.pool.isolation.value,
            grader=self.pool.venv.grader,
            solution_sha256=row.digest.hex(),
        )


def make_batches(rows: Iterable[Row], costs: dict[str, float]) -> list[Batch]:
    """Rows of one task together, as many as one parse of its test should serve; the most expensive batches first.

    `costs` are CPU seconds of a reference by task id, 0 where they are unknown. A long job started last would have
    the other workers wait for it.
    """
    by_task: dict[str, list[Row]] = collections.defaultdict(list)
    for row in rows:
        by_task[row.task.id].append(row)
    batches: list[tuple[float, Batch]] = []
    for task_id, group in by_task.items():
        cost = costs.get(task_id) or _cost_by_limits(group[0].task)
        size = max(1, min(WORKS_PER_JOB, int(JOB_S / cost))) if cost else WORKS_PER_JOB
        batches += [(cost * len(batch), batch) for batch in _cut(group, size)]
    # stable, so that batches of the same cost stay in file order
    return [batch for _, batch in sorted(batches, key=lambda pair: -pair[0])]


def _cut(rows: Sequence[Row], size: int) -> list[Batch]:
    return [tuple(rows[start : start + size]) for start in range(0, len(rows), size)]


def _costs(suite: SuitePaths) -> dict[str, float]:
    """CPU seconds of each reference where they were measured here; a suite that came from elsewhere has none."""
    if not suite.measured.exists():
        return {}
    tables = read_toml(suite.measured).get("tasks", {})
    return {name: float(table["cpu_s"]) for name, table in tables.items() if "cpu_s" in table}


def _cost_by_limits(task: Task) -> float:
    """The limit is five times the reference, rounded up to a step: below the first step it says nothing."""
    return 0.0 if task.limits.cpu_s <= STEPS_S[0] else task.limits.cpu_s / 5
