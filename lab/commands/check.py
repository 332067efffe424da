"""`lab check`: grade one file."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.console import print_json, print_line, warn
from lab.errors import ExitCode, LabError
from lab.grading.describe import one_line
from lab.grading.exam import load_exam
from lab.grading.isolation import choose
from lab.grading.job import Job
from lab.grading.pool import Pool
from lab.grading.verdicts import missing_verdict
from lab.grading.work import Missing, read_solution, read_work
from lab.selection import find_task
from lab.suites import get_suite
from lab.venv import ensure_venv

if TYPE_CHECKING:
    from pathlib import Path

    from lab.environment import Environment
    from lab.grading.work import Work
    from lab.layout import Root
    from lab.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class CheckOptions:
    """The options of `lab check`. `solution` is a file, or a folder that holds solution.py."""

    task: str
    solution: Path
    suite: str | None = None
    as_json: bool = False
    oracle: bool = False
    isolation: str = "auto"
    grade_timeout_s: float | None = None


def check(root: Root, _environment: Environment, options: CheckOptions) -> ExitCode:
    """Grade a solution and print its verdict: DONE for a pass, PARTLY for none, NOTHING_DONE for infra.

    Raises LabError where it could not be graded at all.
    """
    suite, task = find_task(root, options.task, options.suite)
    exam = load_exam(suite, task.id)
    if not options.solution.exists() and not options.solution.is_symlink():
        # of somebody who types: what an agent left is a folder, and without solution.py that is `missing`
        raise LabError(f"there is no file or folder {options.solution}", "Name the solution to grade")
    isolation = choose(options.isolation, say=warn)
    venv = ensure_venv(suite, get_suite(suite.name), say=warn)
    try:
        work = _read(options.solution)
    except Missing as error:
        verdict = missing_verdict(exam, error, isolation, venv.grader)
    else:
        with Pool(venv, suite=suite.name, jobs=1, isolation=isolation, grade_timeout=options.grade_timeout_s) as pool:
            verdict = pool.submit(Job(exam, (work,))).result()[0].verdict
    _print(verdict, options)
    if verdict.passed:
        return ExitCode.DONE
    return ExitCode.PARTLY if verdict.status.scored else ExitCode.NOTHING_DONE


def _read(path: Path) -> Work:
    return read_work(path) if path.is_dir() else read_solution(path)


def _print(verdict: Verdict, options: CheckOptions) -> None:
    if options.as_json:
        expected = {"expected": verdict.expected} if options.oracle else {}
        print_json(verdict.record() | expected)
    else:
        print_line(one_line(verdict, oracle=options.oracle))
