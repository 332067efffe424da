"""A job for the pool: works to grade on one exam, and what comes back."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.grading.exam import Exam
    from lab.grading.limits import Measured
    from lab.grading.work import Work
    from lab.verdict import Verdict

WORKS_PER_JOB = 16
"""Of one task, graded by a host side that has parsed the test once; more would keep other workers waiting."""


@dataclasses.dataclass(frozen=True)
class Graded:
    """The verdict on one work, and what it used."""

    verdict: Verdict
    measured: Measured


@dataclasses.dataclass(frozen=True, eq=False)
class Job:
    """Works to grade on one exam.

    `together` runs all of them in one candidate process, one after the other: only for lab's own trusted texts.
    `solo` runs the job when nothing else runs. `all_cases` goes on after a failing case, to count them.
    """

    exam: Exam
    works: tuple[Work, ...]
    together: bool = False
    solo: bool = False
    all_cases: bool = False
    future: concurrent.futures.Future[tuple[Graded, ...]] = dataclasses.field(default_factory=concurrent.futures.Future)


def stopped() -> LabError:
    """What whoever waits for a job is told, where grading ended before it did."""
    return LabError("grading was stopped", "Run the command again")
