"""The grader behind check.sh: `python -I -S <suite>/.venv/grader TASK_FOLDER WORKDIR [--json]`.

It starts fast: nothing but the standard library, one entry of the lock read, and the two processes started before
the rest of the grader is imported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import ExitCode, LabError
from lab.grading.isolation import choose
from lab.grading.site import read_venv
from lab.grading.slots import slot
from lab.layout import SuitePaths
from lab.verdict import Status

if TYPE_CHECKING:
    from lab.grading.isolation import Isolation
    from lab.grading.site import Venv
    from lab.verdict import Verdict

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
    print(_shown(verdict, as_json="--json" in argv))  # noqa: T201
    return exit_code(verdict)


def _shown(verdict: Verdict, *, as_json: bool) -> str:
    if as_json:
        import json  # noqa: PLC0415 - not on the way of the one line

        return json.dumps(verdict.record())
    from lab.grading.describe import one_line  # noqa: PLC0415

    return one_line(verdict)


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
    with slot():
        return _grade(suite, folder.name, work_folder, read_venv(suite), choose())


def _grade(suite: SuitePaths, task_id: str, work_folder: Path, venv: Venv, isolation: Isolation) -> Verdict:
    from lab.grading.judge_process import JudgeProcess  # noqa: PLC0415
    from lab.grading.supervise import Candidate  # noqa: PLC0415

    judge = JudgeProcess(isolation, venv, warm=False)
    candidate = Candidate(isolation, venv)
    # both are on their way; what is imported now costs no time on a second core
    from lab.grading.exam import load_exam  # noqa: PLC0415
    from lab.grading.job import Job  # noqa: PLC0415
    from lab.grading.pool import Pool  # noqa: PLC0415
    from lab.grading.verdicts import missing_verdict  # noqa: PLC0415
    from lab.grading.work import Missing, read_work  # noqa: PLC0415

    pool = Pool(venv, suite=suite.name, jobs=1, isolation=isolation, warm=False, judge=judge, candidate=candidate)
    with pool:
        exam = load_exam(suite, task_id)
        try:
            work = read_work(work_folder)
        except Missing as missing:
            return missing_verdict(exam, missing, isolation, venv.grader)
        return pool.submit(Job(exam, (work,))).result()[0].verdict
