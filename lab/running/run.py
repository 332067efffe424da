"""The loop over runs: what is done already is skipped, what is started leaves a result."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import datetime as dt
import hashlib
import itertools
import shutil
import threading
from typing import TYPE_CHECKING

import msgspec

from lab import __version__
from lab.errors import LabError
from lab.grading.exam import load_exam, lock_digest
from lab.grading.job import WORKS_PER_JOB, Job
from lab.grading.verdicts import infra_verdict, missing_verdict
from lab.grading.work import Missing
from lab.results import FILE_NAME, Attempt, Result, read_result, write_result
from lab.running.identity import run_id
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
    from lab.tasks import Task
    from lab.verdict import Verdict

LOOK_S = 0.2


@dataclasses.dataclass(frozen=True)
class Settled:
    """A run that has a result now; `skipped` where it had one before."""

    result: Result
    skipped: bool = False


class Runner:
    """Does the runs that a tool planned, grades them in `pool` and records them."""

    def __init__(
        self,
        root: Root,
        suite: SuitePaths,
        tool: Tool,
        pool: Pool,
        *,
        jobs: int,
        fresh: bool,
        grader: str,
        isolation: Isolation,
    ) -> None:
        """`grader` and `isolation` are what `pool` grades with."""
        self._root = root
        self._suite = suite
        self._tool = tool
        self._pool = pool
        self._jobs = jobs
        self._fresh = fresh
        self._grader = grader
        self._isolation = isolation
        self._stopping = threading.Event()
        self._entries = {name: lock_digest(entry) for name, entry in read_lock(suite).items()}
        self._lock_sha256 = hashlib.sha256(suite.lock.read_bytes()).hexdigest()

    def run(self, planned: Sequence[Planned], settle: Callable[[Settled], None]) -> None:
        """Do every run of `planned`, telling `settle` of each as it gets its result.

        Raises KeyboardInterrupt once what was running is stopped and recorded; a second interrupt does not wait.
        Raises LabError where a result cannot be written or the tool cannot be started at all.
        """
        left: list[Planned] = []
        for one in planned:
            earlier = self._earlier(one)
            if earlier is None:
                left.append(one)
            else:
                settle(Settled(earlier, skipped=True))
        with concurrent.futures.ThreadPoolExecutor(self._jobs, thread_name_prefix="run") as executor:
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

    def _earlier(self, planned: Planned) -> Result | None:
        """The result of the same run, where there is one that need not be repeated."""
        if self._fresh:
            return None
        found = read_result(self._folder(planned) / FILE_NAME)
        if not isinstance(found, Result) or found.identity != self._identity(planned) or found.stop == "interrupted":
            return None
        # what lab could not grade may have been mended since
        return found if found.verdict is not None and found.verdict.status.scored else None

    def _units(self, planned: Iterable[Planned]) -> Iterator[tuple[Planned, ...]]:
        """What one worker does in one go: a run, or several of one task where attempts take no time."""
        for _task, runs in itertools.groupby(planned, key=lambda one: one.task.id):
            size = WORKS_PER_JOB if self._tool.instant else 1
            while unit := tuple(itertools.islice(runs, size)):
                yield unit

    def _unit(self, unit: Sequence[Planned]) -> list[Result]:
        """Attempt every run of a unit, then grade them in one job."""
        started: list[tuple[Planned, Result, Tried]] = []
        for planned in unit:
            if self._stopping.is_set():
                break
            result = self._start(planned)
            tried = self._tool.attempt(planned, self._folder(planned) / "attempt-1", self._stopping)
            started.append((planned, _with_attempt(result, tried, None), tried))
        if not started:
            return []
        verdicts = self._grade(unit[0].task, [tried for _, _, tried in started])
        results = []
        for (planned, result, tried), verdict in zip(started, verdicts, strict=True):
            marked = None if verdict is None else dataclasses.replace(verdict, sample=planned.sample, line=planned.line)
            graded = _with_attempt(result, tried, marked)
            write_result(self._folder(planned) / FILE_NAME, graded)
            results.append(graded)
        return results

    def _start(self, planned: Planned) -> Result:
        """Clear the run's folder and record it as interrupted, which it is unless a later record says otherwise."""
        folder = self._folder(planned)
        shutil.rmtree(folder, ignore_errors=True)
        result = Result(
            lab=__version__,
            suite=self._suite.name,
            task=planned.task.id,
            tool=planned.setup.tool,
            tool_version=planned.setup.tool_version,
            model=planned.setup.model,
            settings=dict(planned.setup.settings),
            settings_sha256=planned.setup.settings_sha256,
            identity=self._identity(planned),
            sample=planned.sample,
            suite_lock_sha256=self._lock_sha256,
            task_lock_sha256=self._entries[planned.task.id],
            stop="interrupted",
            started_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        )
        write_result(folder / FILE_NAME, result)
        return result

    def _grade(self, task: Task, tries: Sequence[Tried]) -> list[Verdict | None]:
        """One verdict a try, in order; None for what was interrupted, before its grading or in it."""
        verdicts: list[Verdict | None] = [None] * len(tries)
        finished = [number for number, tried in enumerate(tries) if tried.stop != "interrupted"]
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
        return verdicts

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


def _with_attempt(result: Result, tried: Tried, verdict: Verdict | None) -> Result:
    """The result once its one attempt is known; it stays `interrupted` until there is a verdict."""
    attempt = Attempt(
        verdict=verdict,
        stop=tried.stop,
        exit_code=tried.exit_code,
        wall_s=tried.wall_s,
        peak_mb=tried.peak_mb,
        notes=tried.notes,
    )
    return msgspec.structs.replace(
        result,
        attempts=(attempt,),
        verdict=verdict,
        first_try=verdict is not None and verdict.passed,
        stop="interrupted" if verdict is None else tried.stop,
        wall_s=tried.wall_s,
        peak_mb=tried.peak_mb,
    )
