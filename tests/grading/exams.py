"""Exams and works written in a line or two, and where they are graded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.grading.exam import Exam, sha256
from lab.grading.isolation import Isolation, choose
from lab.grading.job import Job
from lab.grading.pool import Pool
from lab.grading.work import Work
from lab.tasks import Limits, Task

if TYPE_CHECKING:
    from lab.verdict import Verdict
    from tests.attacks.ground import Ground

USUAL = choose()
"""The strongest isolation that runs here; the others are tested where there is time."""
LEVELS = [
    pytest.param(level, marks=[*marks, *([] if level is USUAL else [pytest.mark.slow])])
    for level, marks in ((Isolation.BWRAP, [pytest.mark.sandbox]), (Isolation.PROCESS, []))
]
LIMITS = Limits(case_cpu_s=2, cpu_s=4, wall_s=20, memory_mb=1024, value_bytes=1 << 20)
ANSWER_LIMIT_S = 60.0
"""Longer than any verdict may take here, on a busy machine: who waits longer waits for ever."""
IDENTITY = "def f(x):\n    return x\n"
TEST = "for value in range(3):\n    exp = value\n    assert f(value) == exp\n"
CASES = 3
LOOPS = "def f(x):\n    while True:\n        pass\n"


def exam(
    test: str = TEST, *, cases: int = CASES, limits: Limits = LIMITS, reference: str = IDENTITY, name: str = "made-1"
) -> Exam:
    """A task that tests the function `f`."""
    task = Task(name, f"Made/{name}", "attacked", "made", "f", "values", cases, limits)
    text = test.encode()
    return Exam(task, text, sha256(text), "0" * 64, reference.encode())


def job(source: str = IDENTITY, *more: str, of: Exam | None = None) -> Job:
    return Job(of or exam(), tuple(map(Work.of, (source, *more))))


def graded(pool: Pool, given: Job) -> Verdict:
    """The verdict on the first work of a job."""
    return pool.submit(given).result(ANSWER_LIMIT_S)[0].verdict


def pool_of(ground: Ground, level: Isolation, *, jobs: int = 1, warm: bool = True) -> Pool:
    return Pool(ground.venv, suite=ground.suite.name, jobs=jobs, isolation=level, warm=warm)
