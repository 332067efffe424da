"""The supervisor: workers that grade jobs side by side. It starts, watches and ends processes, and decides.

One thread owns all processes and runs one loop over their sockets and clocks, so there is one place where a verdict
is made. Each worker has a judge (host side) that lives from job to job; each candidate gets a fresh process.
"""

from __future__ import annotations

import collections
import contextlib
import os
import selectors
import threading
from typing import TYPE_CHECKING, Self

from lab.errors import LabError
from lab.grading import cgroup
from lab.grading.job import stopped
from lab.grading.judge_process import JudgeProcess
from lab.grading.supervise import Candidate
from lab.grading.worker import Worker
from lab.process import has_ended

if TYPE_CHECKING:
    import concurrent.futures
    from collections.abc import Callable

    from lab.grading.isolation import Isolation
    from lab.grading.job import Graded, Job
    from lab.grading.judge_process import Line
    from lab.grading.site import Venv

TICK_S = 0.05


class Pool:
    """Grades jobs on `jobs` workers. Use as a context manager; leaving it ends every process it started.

    `grade_timeout` replaces the wall limit (seconds) of every task. `warm` has each judge import numpy at once,
    which pays from the second job on. `judge` and `candidate` are ones that the caller started ahead of need.
    """

    def __init__(
        self,
        venv: Venv,
        *,
        suite: str,
        jobs: int,
        isolation: Isolation,
        grade_timeout: float | None = None,
        warm: bool = True,
        judge: JudgeProcess | None = None,
        candidate: Candidate | None = None,
    ) -> None:
        self.venv, self.suite, self.isolation, self.warm = venv, suite, isolation, warm
        self.grade_timeout = grade_timeout
        self._size = jobs
        self._waiting: collections.deque[Job] = collections.deque()
        self._alone: collections.deque[Job] = collections.deque()
        self._workers: list[Worker] = []
        self._judges = collections.deque([judge] if judge else [])
        self._spares = collections.deque([candidate] if candidate else [])
        self._selector = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._closing = False
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._thread = threading.Thread(target=self._loop, name="lab-grading", daemon=True)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closing = True
        self._wake()
        self._thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def submit(self, job: Job) -> concurrent.futures.Future[tuple[Graded, ...]]:
        """Queue a job; its future gives one Graded a work, in order. Thread-safe.

        Raises LabError where the pool is closed, or has failed as a whole.
        """
        with self._lock:
            if self._closing or self._failure is not None:
                raise LabError(f"grading has stopped: {self._failure or 'it was closed'}", "Run the command again")
            self._waiting.append(job)
        self._wake()
        return job.future

    def _wake(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.write(self._wake_write, b"w")

    # ---- everything below runs in the pool's own thread

    def _loop(self) -> None:
        try:
            self._selector.register(self._wake_read, selectors.EVENT_READ, None)
            while not self._closing:
                self._assign()
                busy = any(worker.job is not None for worker in self._workers)
                for key, _ in self._selector.select(TICK_S if busy else None):
                    if key.data is None:
                        os.read(self._wake_read, 4096)
                    else:
                        key.data()
                for worker in self._workers:
                    worker.tick()
        except BaseException as error:  # noqa: BLE001 - whoever waits must learn of it, whatever it was
            self._failure = error
        finally:
            self._end_all()

    def _assign(self) -> None:
        """Give waiting jobs to idle workers; what must run alone waits until nothing else runs or waits."""
        while True:
            running = [worker for worker in self._workers if worker.job is not None]
            if any(worker.job is not None and worker.job.solo for worker in running):
                return
            with self._lock:
                if self._waiting and len(running) < self._size:
                    job = self._waiting.popleft()
                    if job.solo:
                        self._alone.append(job)
                        continue
                elif self._alone and not running and not self._waiting:
                    job = self._alone.popleft()
                else:
                    return
            self._begin(job)

    def _begin(self, job: Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        try:
            self._idle_worker().begin(job)
        except BaseException as error:
            # no worker may have it yet, and whoever waits for it would wait for ever
            if not job.future.done():
                job.future.set_exception(error)
            raise

    def _idle_worker(self) -> Worker:
        for worker in self._workers:
            if worker.job is None:
                return worker
        judge = self._judges.popleft() if self._judges else self._start_judge()
        worker = Worker(self, judge)
        self._workers.append(worker)
        self.listen(judge.control, worker.hear)
        return worker

    def _start_judge(self) -> JudgeProcess:
        return JudgeProcess(self.isolation, self.venv, warm=self.warm)

    def replace_judge(self, old: JudgeProcess, worker: Worker) -> JudgeProcess:
        """Another judge for a worker that lost its own."""
        self.ignore(old.control)
        old.end()
        judge = self._start_judge()
        self.listen(judge.control, worker.hear)
        return judge

    def listen(self, line: Line, hear: Callable[[], None]) -> None:
        """Call `hear` whenever something was said on a line."""
        self._selector.register(line, selectors.EVENT_READ, hear)

    def ignore(self, line: Line) -> None:
        """Listen no longer; the line is about to be closed."""
        self._selector.unregister(line)

    def take_candidate(self) -> Candidate:
        """A started candidate. One is kept ahead of need, so that its start-up overlaps with judging."""
        candidate = self._living_spare() or Candidate(self.isolation, self.venv)
        if self.warm and not self._spares and not self._closing:
            self._spares.append(Candidate(self.isolation, self.venv))
        return candidate

    def _living_spare(self) -> Candidate | None:
        while self._spares:
            spare = self._spares.popleft()
            if not has_ended(spare.held.process):
                return spare
            # whatever ended it, nothing of a solution has run: it must not count as one that failed
            spare.end()
        return None

    def queue(self, job: Job) -> None:
        """Queue a second look; it goes before what waits, for somebody waits for it."""
        with self._lock:
            self._waiting.appendleft(job)

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.end()
        for judge in self._judges:
            judge.end()
        for spare in self._spares:
            spare.end()
        cgroup.remove_all()
        self._selector.close()
        with self._lock:
            waiting = [*self._waiting, *self._alone]
        waiting += [worker.job for worker in self._workers if worker.job is not None]
        failure = self._failure or stopped()
        for job in waiting:
            # cancel does nothing to a future that runs, and whoever waits for it would wait for ever
            if not job.future.cancel() and not job.future.done():
                job.future.set_exception(failure)
