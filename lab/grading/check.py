"""The grader behind check.sh: `python -I -S <suite>/.venv/grader TASK_FOLDER WORKDIR [--json]`.

It starts fast: nothing but the standard library, the judge's process first, and one entry of the lock read.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lab.errors import ExitCode, LabError
from lab.grading.describe import one_line
from lab.grading.exam import load_exam
from lab.grading.isolation import choose
from lab.grading.job import Job
from lab.grading.pool import Pool
from lab.grading.site import read_venv
from lab.grading.slots import slot
from lab.grading.verdicts import missing_verdict
from lab.grading.work import Missing, read_work
from lab.layout import SuitePaths
from lab.verdict import Status, Verdict

USAGE = "usage: check.sh WORKDIR [--json]   grades WORKDIR/solution.py"


def main(argv: list[str]) -> int:
    """Grade one work folder and print one line; returns the exit code of the design's table."""
    try:
        verdict = _check(argv)
    except LabError as error:
        print(f"check.sh: {error}", file=sys.stderr)  # noqa: T201
        return ExitCode.NOTHING_DONE
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    print(json.dumps(verdict.record()) if "--json" in argv else one_line(verdict))  # noqa: T201
    return exit_code(verdict)


def exit_code(verdict: Verdict) -> ExitCode:
    """0 pass, 1 not passed, 2 could not be graded."""
    if verdict.status is Status.INFRA:
        return ExitCode.NOTHING_DONE
    return ExitCode.DONE if verdict.passed else ExitCode.PARTLY


def _check(argv: list[str]) -> Verdict:
    paths = [argument for argument in argv if argument != "--json"]
    if len(paths) != 2 or any(path.startswith("-") for path in paths):  # noqa: PLR2004
        raise LabError(USAGE)
    folder, work_folder = Path(paths[0]).resolve(), Path(paths[1])
    if not work_folder.is_dir():
        raise LabError(f"{work_folder} is not a folder", USAGE)
    suite = SuitePaths(folder.parent.parent)
    venv = read_venv(suite)
    isolation = choose()
    with slot(), Pool(venv, suite=suite.name, jobs=1, isolation=isolation, warm=False) as pool:
        exam = load_exam(suite, folder.name)
        try:
            work = read_work(work_folder)
        except Missing as missing:
            return missing_verdict(exam, missing, isolation, venv.grader)
        return pool.submit(Job(exam, (work,))).result()[0].verdict
