"""The loop over runs: what is done already is skipped, what is started leaves a result."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import itertools
import os
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from lab.errors import ExitCode
from lab.grading.exam import lock_digest
from lab.grading.job import WORKS_PER_JOB
from lab.process import end_all
from lab.running.attempt import Retry
from lab.running.attempts import Attempts, Made
from lab.running.grades import Grades
from lab.running.identity import run_id
from lab.running.place import Place
from lab.running.record import attempt_of, failed_first, going_on, started, usage_of, with_attempts
from lab.tasks import read_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lab.grading.isolation import Isolation
    from lab.grading.pool import Pool
    from lab.layout import Root, SuitePaths
    from lab.results import Result
    from lab.running.attempt import Planned, Tool, Tried
    from lab.running.budget import Spending

SHOW_CURSOR = b"\x1b[?25h"
"""The bar hid it."""


@dataclasses.dataclass(frozen=True)
class Terms:
    """How runs are done: how many at once, and which of them again."""

    jobs: int
    attempts: int = 1
    fresh: bool = False
    """Do again what has a result."""
    retry: frozenset[Retry] = frozenset()
    """Do only what has a result of one of these kinds, and leave the rest alone."""
    grade_timeout_s: float | None = None


@dataclasses.dataclass(frozen=True)
class Sorted:
    """The planned runs, by what is to become of them."""

    left: tuple[Planned, ...]
    """To be done."""
    standing: tuple[Result, ...]
    """Done before."""


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
        self._terms = terms
        self._spending = spending
        self._stopping = threading.Event()
        self._grades = Grades(suite, pool, isolation, grader, self._stopping)
        self._entries = {name: lock_digest(entry) for name, entry in read_lock(suite).items()}
        self._lock_sha256 = hashlib.sha256(suite.lock.read_bytes()).hexdigest()
        self.held: list[str] = []
        """The tasks of runs that another lab was at work on."""

    def sort(self, planned: Iterable[Planned]) -> Sorted:
        """Which runs to do; what earlier goes at any of them cost is counted."""
        left, standing = [], []
        for one in planned:
            place = self._place(one)
            result = place.result
            if result is not None:
                self._spending.add_earlier(usage_of(result))
            if self._terms.retry:
                if _kind(result, place) in self._terms.retry:
                    left.append(one)
            elif result is None or self._terms.fresh or not _stands(result):
                left.append(one)
            else:
                standing.append(result)
        return Sorted(tuple(left), tuple(standing))

    def run(self, left: Iterable[Planned], settle: Callable[[Result], None]) -> None:
        """Do these runs, telling `settle` of each as it gets its result. Once the budget is spent no other is started.

        Raises KeyboardInterrupt once what was running is stopped and recorded; a second interrupt ends lab at once,
        with all that it started. Raises LabError where a result cannot be written or the tool cannot be started at all.
        """
        executor = concurrent.futures.ThreadPoolExecutor(self._terms.jobs, thread_name_prefix="run")
        futures = {executor.submit(self._unit, unit) for unit in self._units(left)}
        try:
            for future in concurrent.futures.as_completed(tuple(futures)):
                futures.remove(future)
                for result in future.result():
                    settle(result)
        except BaseException:
            self._stopping.set()
            try:
                executor.shutdown(wait=True, cancel_futures=True)
            except KeyboardInterrupt:
                _stop_at_once()
            for future in futures:
                if not future.cancelled() and future.exception() is None:
                    for result in future.result():
                        settle(result)
            raise
        executor.shutdown()

    def _units(self, planned: Iterable[Planned]) -> Iterator[tuple[Planned, ...]]:
        """What one worker does in one go: a run, or several of one task where attempts take no time."""
        for _task, runs in itertools.groupby(planned, key=lambda one: one.task.id):
            size = WORKS_PER_JOB if self._tool.instant else 1
            while unit := tuple(itertools.islice(runs, size)):
                yield unit

    def _unit(self, unit: Sequence[Planned]) -> list[Result]:
        """Do the runs of a unit; none that was not begun when lab was stopped or the budget spent, or that is held."""
        with contextlib.ExitStack() as claims:
            mine = []
            for planned in unit:
                if self._stopping.is_set() or self._spending.is_over:
                    break
                if claims.enter_context(self._place(planned).claim()):
                    mine.append(planned)
                else:
                    self.held.append(planned.task.id)
            if not mine:
                return []
            return self._together(mine) if self._tool.instant else [self._alone(planned) for planned in mine]

    def _alone(self, planned: Planned) -> Result:
        """Attempt a run, as often as it takes and may take, recording it after each attempt."""
        place = self._place(planned)
        result = self._begin(planned, place)
        attempts = Attempts(
            self._tool,
            self._terms.attempts,
            self._stopping,
            lambda: self._spending.is_over,
            lambda tried: self._grades.of([planned], [tried])[0],
        )
        for made in attempts.make(planned, place.folder, Made(result.attempts, result.repeats)):
            result = with_attempts(result, made.attempts, made.repeats, stop=made.stop, is_last=made.is_last)
            place.record(result)
        return result

    def _together(self, unit: Sequence[Planned]) -> list[Result]:
        """Attempt each run of a unit once, then grade them in one job."""
        begun: list[tuple[Place, Result, Tried]] = []
        for planned in unit:
            place = self._place(planned)
            result = self._begin(planned, place)
            begun.append((place, result, self._tool.attempt(planned, place.folder / "attempt-1", self._stopping)))
        verdicts = self._grades.of(unit, [tried for _, _, tried in begun])
        results = []
        for (place, result, tried), verdict in zip(begun, verdicts, strict=True):
            graded = with_attempts(result, [attempt_of(tried, verdict)])
            place.record(graded)
            results.append(graded)
        return results

    def _begin(self, planned: Planned, place: Place) -> Result:
        """Record a run as begun: where it was left, if attempts of it failed before, else anew."""
        result = started(
            planned,
            suite=self._suite.name,
            suite_lock_sha256=self._lock_sha256,
            entry_sha256=self._entries[planned.task.id],
            grade_timeout_s=self._terms.grade_timeout_s,
        )
        earlier, kept = place.result, 0
        if earlier is not None:
            is_anew = self._terms.fresh or not self._terms.retry.isdisjoint({Retry.FAILED, Retry.TIMEOUT})
            kept = 0 if is_anew or self._tool.instant else min(failed_first(earlier), self._terms.attempts - 1)
            result = going_on(result, earlier, kept)
        place.begin(result, kept)
        return result

    def _place(self, planned: Planned) -> Place:
        identity = planned.setup.identity(self._entries[planned.task.id])
        name = run_id(identity, planned.sample)
        return Place(self._root.run(self._suite.name, planned.setup.tool, planned.task.id, name), identity)


def _stands(result: Result) -> bool:
    """Whether a run need not be done again: what lab could not grade may have been mended since, money been found."""
    return result.verdict is not None and result.verdict.status.scored and result.stop not in {"interrupted", "budget"}


def _kind(result: Result | None, place: Place) -> Retry | None:
    """What `--retry` calls a run; one that was interrupted as it was done again is called what it was before."""
    if result is not None and result.verdict is None:
        result = place.replaced
    if result is None or result.verdict is None:
        return None
    if not result.verdict.status.scored:
        return Retry.INFRA
    if result.stop == "timeout" and not result.verdict.passed:
        return Retry.TIMEOUT
    return None if result.verdict.passed else Retry.FAILED


def _stop_at_once() -> NoReturn:
    """End lab, and every process that it started, without waiting for anything."""
    end_all()
    if os.isatty(sys.stderr.fileno()):
        os.write(sys.stderr.fileno(), SHOW_CURSOR)
    os._exit(ExitCode.INTERRUPTED)
