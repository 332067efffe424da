"""One worker of the pool: a judge that lives from job to job, and the candidate that runs at the moment."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from typing import TYPE_CHECKING, Any

from lab.grading.judge_process import JudgeLost, JudgeProcess, Line
from lab.grading.patience import Patience
from lab.grading.second_look import settle
from lab.grading.slots import claim_core
from lab.grading.verdicts import JUDGE_FAILED, NOT_STARTED, Outcome, outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.grading.job import Job
    from lab.grading.pool import Pool
    from lab.grading.supervise import Candidate

JUDGE_CPU_S = 30.0
"""What a judge may use before the first call, for the test's own data: the largest of EvalPlus needs 0.2 s. From then
on it may use what the candidate may, at least 10 s, where no reference of EvalPlus has it use a sixth of that."""
WALL_PER_CPU = 3
"""A judge may take this many seconds for each of its own CPU, as a candidate may."""
SIGNAL_MASK = 0x7F
"""Where a status says which signal ended a process: wait(2)."""
ENDED_WALL_S = 5.0
"""How long a judge may take to see that the candidate was ended. A daemon that left it may hold the pipe open."""


class Worker:
    """Grades one job at a time; every method runs in the pool's thread."""

    def __init__(self, pool: Pool, judge: JudgeProcess) -> None:
        self._pool = pool
        self.judge = judge
        self._line: Line | None = None
        self.job: Job | None = None
        self._candidate: Candidate | None = None
        self._outcomes: list[Outcome] = []
        self._sample = 0
        self._expected_outcomes = 0
        self._override: tuple[str, str] | None = None
        self._ended_at = 0.0
        self._patience = Patience(0.0)
        self._core: tuple[int, int] | None = None

    def begin(self, job: Job) -> None:
        """Start a job; the worker is idle again when `job` is None."""
        self.job, self._outcomes, self._sample = job, [], 0
        self._expected_outcomes, self._override = 0, None
        self._core = claim_core()
        # before the judge is told, so that the candidate's start overlaps with the parsing of the test
        self._candidate = self._pool.take_candidate()
        self._heed(self._start_task)

    def _heed(self, step: Callable[[], None]) -> None:
        """Do what needs the judge, and take another where it is lost."""
        try:
            step()
        except JudgeLost as lost:
            self._judge_lost(lost)

    def _start_task(self) -> None:
        exam = self._current().exam
        line = self.judge.begin(
            {
                "test": exam.test,
                "entry_point": exam.task.entry_point,
                "cases": exam.task.cases,
                "value_bytes": exam.task.limits.value_bytes,
                "all_cases": self._current().all_cases,
            }
        )
        self._line = line
        self._pool.listen(line, lambda: self._heed(lambda: self._take_all(line)))
        self._start_sample(self._candidate or self._pool.take_candidate())

    def _start_sample(self, candidate: Candidate) -> None:
        job = self._current()
        works = job.works if job.together else job.works[self._sample : self._sample + 1]
        task = job.exam.task
        limits = task.limits
        self._candidate, self._override = candidate, None
        self._patience = Patience(WALL_PER_CPU * JUDGE_CPU_S + self._limits().wall_s)
        if self._line is None:
            raise JudgeLost("the judge ended early")
        self._expected_outcomes = len(self._outcomes) + len(works)
        self.judge.word = 1
        core = None if self._core is None else self._core[0]
        candidate.go(works, task.entry_point, limits, [str(self._pool.venv.site_packages)], core)
        last = job.together or self._sample == len(job.works) - 1
        message = {
            "count": len(works),
            "cpu_s": limits.cpu_s,
            "judge_cpu_s": JUDGE_CPU_S + limits.cpu_s,
            "last": last,
            "core": core,
        }
        self._line.send(message, candidate.to_candidate, candidate.from_candidate)
        # the judge has them now; its end of the pipes must be the only one
        candidate.close_pipes()

    def hear(self) -> None:
        """Take in what the judge itself said: that a task is done. Called when its line is readable."""
        self._heed(self._hear_judge)

    def _hear_judge(self) -> None:
        messages = self.judge.control.hear()
        if messages is None:
            raise JudgeLost("the judge ended")
        for message in messages:
            if self.job is None or message.get("kind") != "task-done":
                raise JudgeLost("the judge spoke out of turn")
            self._task_done(ended_early(message.get("status")))

    def _take_all(self, line: Line) -> None:
        """Take in what the process said that runs the task's test; nothing where the line was closed meanwhile."""
        while line is self._line and (messages := line.hear()) != []:
            if messages is None:
                # not the task's end yet: that is the judge's to say
                self._end_line()
                return
            for message in messages:
                self._ended_at = time.monotonic()
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        kind = message.get("kind")
        if kind == "outcome" and len(self._outcomes) < self._expected_outcomes:
            self._outcomes.append(self._outcome(message))
            if len(self._outcomes) == self._expected_outcomes:
                self._end_candidate()
        elif kind == "sample-done" and self._sample < len(self._current().works) - 1:
            self._sample_done(message)
        else:
            raise JudgeLost("the judge spoke out of turn")

    def _outcome(self, message: dict[str, Any]) -> Outcome:
        candidate = self._candidate
        if candidate is None:
            return Outcome(JUDGE_FAILED, "the judge spoke out of turn")
        candidate.look(self.judge.word)
        if self._override is None:
            # it may have spoken sooner than the clocks were looked at
            self._override = candidate.excess_of_size(self._limits())
        ending = candidate.how_it_ended() if message.get("status") == "ended" and self._override is None else ""
        seen = {key: value for key, value in message.items() if isinstance(value, int)}
        return outcome_of(message, candidate.measured(seen), self._override, ending)

    def _sample_done(self, message: dict[str, Any]) -> None:
        self._fill(ended_early(message.get("status")))
        self._sample += 1
        self._start_sample(self._pool.take_candidate())

    def _task_done(self, why: str) -> None:
        if self._line is not None:
            self._take_all(self._line)
        if self._expected_outcomes != len(self._current().works):
            raise JudgeLost(why)
        self._fill(why)
        self._end_line()
        job, outcomes = self._current(), self._outcomes
        self._leave()
        settle(self._pool, job, outcomes)

    def _fill(self, why: str) -> None:
        """Give what the judge should have spoken of, and did not, an outcome all the same."""
        missing = self._expected_outcomes - len(self._outcomes)
        self._outcomes += [self._unsaid(why)] * missing
        self._end_candidate()

    def _unsaid(self, why: str) -> Outcome:
        """The outcome of a work that no judge spoke of: what it was ended for, if it was."""
        if self._override is not None:
            status, reason = self._override
            return Outcome(status, reason)
        return Outcome(JUDGE_FAILED, why)

    def _judge_lost(self, lost: JudgeLost) -> None:
        """Take another judge; what the job still waits for has no verdict from this one."""
        self._end_candidate()
        self._end_line()
        self.judge = self._pool.replace_judge(self.judge, self)
        job, outcomes = self.job, self._outcomes
        self._leave()
        if job is not None:
            outcomes += [self._unsaid(str(lost))] * (self._expected_outcomes - len(outcomes))
            # the others have not run: what befell the judge is none of their doing
            outcomes += [Outcome(NOT_STARTED, str(lost))] * (len(job.works) - len(outcomes))
            settle(self._pool, job, outcomes)

    def _leave(self) -> None:
        """Have no job, nor the core for it."""
        self.job, self._outcomes = None, []
        self._free_core()

    def _free_core(self) -> None:
        if self._core is not None:
            os.close(self._core[1])
            self._core = None

    # ---- clocks

    def tick(self) -> None:
        """Look at the clocks of what runs; called at least every TICK_S while anything does."""
        if self.job is None:
            return
        word = self.judge.word
        candidate = self._candidate
        if candidate is not None and self._override is None:
            candidate.look(word)
            excess = candidate.excess(self._limits())
            if excess is not None:
                self._override = excess
                self._ended_at = time.monotonic()
                candidate.end()
        if self._override is None:
            why = self._patience.look(self.judge.pid, its_turn=word % 2 == 0 or candidate is None)
            if why is not None:
                self._judge_lost(JudgeLost(why))
        elif time.monotonic() - self._ended_at > ENDED_WALL_S:
            self._judge_lost(JudgeLost(f"the judge took more than {ENDED_WALL_S:g} s"))

    def _limits(self) -> Any:
        limits = self._current().exam.task.limits
        wall_s = self._pool.grade_timeout
        return limits if wall_s is None else dataclasses.replace(limits, wall_s=wall_s)

    def _current(self) -> Job:
        if self.job is None:
            raise RuntimeError("the worker has no job")
        return self.job

    def _end_candidate(self) -> None:
        if self._candidate is not None:
            self._candidate.end()
            self._candidate = None

    def _end_line(self) -> None:
        if self._line is not None:
            self._pool.ignore(self._line)
            self._line.close()
            self._line = None

    def end(self) -> None:
        """End the judge and the candidate."""
        self._end_candidate()
        self._end_line()
        self._free_core()
        self.judge.end()


def ended_early(status: str | int | None) -> str:
    """What to say of a judge's process that had not said all, from the status that its parent waited for."""
    if isinstance(status, int) and status & SIGNAL_MASK == signal.SIGXCPU:
        return "the judge ran out of CPU time"
    return f"the judge ended early (status {status})"
