"""The loop over runs: what is done already is skipped, what is started leaves a result."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import itertools
import shutil
import threading
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading.exam import load_exam, lock_digest
from lab.grading.job import WORKS_PER_JOB, Job
from lab.grading.verdicts import infra_verdict, missing_verdict
from lab.grading.work import Missing
from lab.results import FILE_NAME, Result, read_result, write_result
from lab.running.attempt import Retry
from lab.running.attempts import Attempts
from lab.running.identity import run_id
from lab.running.record import attempt_of, started, with_attempts
from lab.tasks import read_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from lab.grading.isolation import Isolation
    from lab.grading.job import Graded
    from lab.grading.pool import Pool
    from lab.layout import Root, SuitePaths
    from lab.running.attempt import Planned, Tool, Tried
    from lab.running.budget import Spending
    from lab.tasks import Task
    from lab.verdict import Verdict

LOOK_S = 0.2


@dataclasses.dataclass(frozen=True)
class Settled:
    """A run that has a result now; `skipped` where it had one before."""

    result: Result
    skipped: bool = False


@dataclasses.dataclass(frozen=True)
class Terms:
    """How runs are done: how many at once, and which of them again."""

    jobs: int
    attempts: int = 1
    fresh: bool = False
    """Do again what has a result."""
    retry: frozenset[Retry] = frozenset()
    """Do only what has a result of one of these kinds, and leave the rest alone."""


class Runner:
    """Does the runs that a tool planned, grades them in `pool` and records them."""

    def __init__(
        self,
        root: Root,
        suite: SuitePaths,
        tool: Tool,
        pool: Pool,
        *,
        terms: Terms,
        spending: Spending,
        grader: str,
        isolation: Isolation,
    ) -> None:
        """`grader` and `isolation` are what `pool` grades with."""
        self._root = root
        self._suite = suite
        self._tool = tool
        self._pool = pool
        self._terms = terms
        self._spending = spending
        self._grader = grader
        self._isolation = isolation
        self._stopping = threading.Event()
        self._entries = {name: lock_digest(entry) for name, entry in read_lock(suite).items()}
        self._lock_sha256 = hashlib.sha256(suite.lock.read_bytes()).hexdigest()

    def run(self, planned: Sequence[Planned], settle: Callable[[Settled], None]) -> None:
        """Do every run of `planned` that is to be done, telling `settle` of each as it gets its result.

        Once the budget is spent no other is started. Raises KeyboardInterrupt once what was running is stopped and
        recorded; a second interrupt does not wait. Raises LabError where a result cannot be written or the tool
        cannot be started at all.
        """
        left = list(self._left(planned, settle))
        with concurrent.futures.ThreadPoolExecutor(self._terms.jobs, thread_name_prefix="run") as executor:
            futures = {executor.submit(self._unit, unit) for unit in self._units(left)}
            try:
                for future in concurrent.futures.as_completed(tuple(futures)):
                    futures.remove(future)
                    for result in future.result():
                        settle(Settled(result))
            except BaseException:
                self._stopping.set()
                executor.shutdown(wait=True, cancel_futures=True)
                for future in futures:
                    if not future.cancelled() and future.exception() is None:
                        for result in future.result():
                            settle(Settled(result))
                raise

    def _left(self, planned: Iterable[Planned], settle: Callable[[Settled], None]) -> Iterator[Planned]:
        """The runs to do. What was done and stands is settled at once, and its cost counted."""
        for one in planned:
            earlier = self._earlier(one)
            if self._terms.retry:
                if earlier is not None and _kind(earlier) in self._terms.retry:
                    yield one
            elif earlier is None or self._terms.fresh or not _stands(earlier):
                yield one
            else:
                self._spending.add_earlier(earlier)
                settle(Settled(earlier, skipped=True))

    def _earlier(self, planned: Planned) -> Result | None:
        """The result of the same run, where there is one."""
        found = read_result(self._folder(planned) / FILE_NAME)
        return found if isinstance(found, Result) and found.identity == self._identity(planned) else None

    def _units(self, planned: Iterable[Planned]) -> Iterator[tuple[Planned, ...]]:
        """What one worker does in one go: a run, or several of one task where attempts take no time."""
        for _task, runs in itertools.groupby(planned, key=lambda one: one.task.id):
            size = WORKS_PER_JOB if self._tool.instant else 1
            while unit := tuple(itertools.islice(runs, size)):
                yield unit

    def _unit(self, unit: Sequence[Planned]) -> list[Result]:
        """Do the runs of a unit; none of those that were not begun when lab was stopped or the budget was spent."""
        if self._stopping.is_set() or self._spending.is_over:
            return []
        return self._together(unit) if self._tool.instant else [self._alone(planned) for planned in unit]

    def _alone(self, planned: Planned) -> Result:
        """Attempt a run, as often as it takes and may take, recording it after each attempt."""
        result = self._start(planned)
        attempts = Attempts(
            self._tool,
            self._terms.attempts,
            self._stopping,
            lambda: self._spending.is_over,
            lambda tried: self._grade(planned.task, [planned], [tried])[0],
        )
        for made in attempts.make(planned, self._folder(planned)):
            result = with_attempts(result, made.attempts, made.repeats, made.stop)
            write_result(self._folder(planned) / FILE_NAME, result)
        return result

    def _together(self, unit: Sequence[Planned]) -> list[Result]:
        """Attempt each run of a unit once, then grade them in one job."""
        begun = [
            (
                planned,
                self._start(planned),
                self._tool.attempt(planned, self._folder(planned) / "attempt-1", self._stopping),
            )
            for planned in unit
        ]
        verdicts = self._grade(unit[0].task, unit, [tried for _, _, tried in begun])
        results = []
        for (planned, result, tried), verdict in zip(begun, verdicts, strict=True):
            graded = with_attempts(result, [attempt_of(tried, verdict)])
            write_result(self._folder(planned) / FILE_NAME, graded)
            results.append(graded)
        return results

    def _start(self, planned: Planned) -> Result:
        """Clear the run's folder and record it as begun."""
        folder = self._folder(planned)
        shutil.rmtree(folder, ignore_errors=True)
        result = started(
            planned,
            suite=self._suite.name,
            suite_lock_sha256=self._lock_sha256,
            entry_sha256=self._entries[planned.task.id],
        )
        write_result(folder / FILE_NAME, result)
        return result

    def _grade(self, task: Task, runs: Sequence[Planned], tries: Sequence[Tried]) -> list[Verdict | None]:
        """One verdict a try, in order; None for what was interrupted, before its grading or in it."""
        verdicts: list[Verdict | None] = [None] * len(tries)
        for number, tried in enumerate(tries):
            if tried.stop == "model-failure":
                why = tried.usage.model_failure if tried.usage else None
                verdicts[number] = infra_verdict(task, f"the model could not be asked: {why or 'unknown'}")
        finished = [number for number, tried in enumerate(tries) if tried.stop not in {"interrupted", "model-failure"}]
        try:
            exam = load_exam(self._suite, task.id)
        except LabError as error:
            for number in finished:
                verdicts[number] = infra_verdict(task, str(error))
            return verdicts
        works = {number: work for number in finished if (work := tries[number].work) is not None}
        for number in finished:
            if number not in works:
                verdicts[number] = missing_verdict(exam, Missing(tries[number].missing), self._isolation, self._grader)
        if works:
            job = Job(exam, tuple(works.values()))
            for number, verdict in zip(works, self._wait(self._pool.submit(job)), strict=False):
                verdicts[number] = verdict
        return [
            None if verdict is None else dataclasses.replace(verdict, sample=run.sample, line=run.line)
            for verdict, run in zip(verdicts, runs, strict=True)
        ]

    def _wait(self, future: Future[tuple[Graded, ...]]) -> list[Verdict]:
        """The verdicts of a job in order, or none of them once the runner is stopping."""
        while not concurrent.futures.wait((future,), timeout=LOOK_S).done:
            if self._stopping.is_set():
                return []
        return [graded.verdict for graded in future.result()]

    def _identity(self, planned: Planned) -> str:
        return planned.setup.identity(self._entries[planned.task.id])

    def _folder(self, planned: Planned) -> Path:
        name = run_id(self._identity(planned), planned.sample)
        return self._root.run(self._suite.name, planned.setup.tool, planned.task.id, name)


def _stands(result: Result) -> bool:
    """Whether a run need not be done again: what lab could not grade may have been mended since, money been found."""
    return result.verdict is not None and result.verdict.status.scored and result.stop not in {"interrupted", "budget"}


def _kind(result: Result) -> Retry | None:
    """What `--retry` calls it."""
    if result.verdict is None:
        return None
    if not result.verdict.status.scored:
        return Retry.INFRA
    if result.stop == "timeout" and not result.verdict.passed:
        return Retry.TIMEOUT
    return None if result.verdict.passed else Retry.FAILED
