"""What attacks are let loose on: a suite with its oracle on disk, and a grading venv with numpy, made for the test."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lab.grading.exam import Exam, sha256
from lab.grading.isolation import Isolation
from lab.grading.job import Job
from lab.grading.pool import Pool
from lab.grading.work import Work
from lab.layout import SuitePaths
from lab.tasks import Limits, Task
from lab.venv import ensure_venv
from tests.generate.tiny import TinySuite

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.grading.site import Venv
    from lab.suites.base import Problem

ATTACK_LIMITS = Limits(case_cpu_s=2, cpu_s=4, wall_s=6, memory_mb=1024, value_bytes=1 << 20)
GOOD_LIMITS = Limits(case_cpu_s=4, cpu_s=10, wall_s=50, memory_mb=4096, value_bytes=1 << 20)
ANSWER_LIMIT_S = 60.0
"""Twice the wall limit, the right answers before and after, the judge's own work on hostile values, a busy machine."""


@dataclasses.dataclass(frozen=True)
class Ground:
    """What is made once: the suite on disk with its venv, and problems and numbers of cases by short name."""

    suite: SuitePaths
    venv: Venv
    problems: Mapping[str, Problem]
    cases: Mapping[str, int]

    def exam(self, name: str, limits: Limits) -> Exam:
        problem = self.problems[name]
        test = problem.test.encode()
        task = Task(
            id=problem.task_id,
            upstream_id=problem.upstream_id,
            suite=self.suite.name,
            dataset=problem.dataset,
            entry_point=problem.entry_point,
            judge="values",
            cases=self.cases.get(name, 0),
            limits=limits,
        )
        return Exam(task, test, sha256(test), "0" * 64, problem.reference.encode())

    def right(self, name: str) -> Work:
        return Work.of(self.problems[name].reference)

    def pool(self, level: Isolation) -> Pool:
        return Pool(self.venv, suite=self.suite.name, jobs=1, isolation=level)


def make_ground(folder: Path, problems: Mapping[str, Problem], cases: Mapping[str, int]) -> Ground:
    """Write the suite and make its venv, with the numpy that these tests run with: no package index is needed."""
    suite = SuitePaths(folder / "evals" / "attacked")
    for problem in problems.values():
        paths = suite.task(problem.task_id)
        for path, text in (
            (paths.test, problem.test),
            (paths.reference, problem.reference),
            (paths.stub, problem.stub),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
    venv = ensure_venv(suite, TinySuite(), say=lambda _: None)
    package = Path(np.__file__).parent
    for source in (package, package.with_name("numpy.libs")):
        if source.is_dir():
            shutil.copytree(source, venv.site_packages / source.name, ignore=shutil.ignore_patterns("tests"))
    ground = Ground(suite, venv, problems, cases)
    with ground.pool(Isolation.PROCESS) as pool:  # compiles what is imported, before anybody looks at the bytes
        for name in problems:
            job = Job(ground.exam(name, GOOD_LIMITS), (ground.right(name),))
            assert pool.submit(job).result(ANSWER_LIMIT_S)[0].verdict.passed
    return ground
