"""check.sh of the real suite: it agrees with the proof, and two hundred at once build one venv."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.layout import Root
from lab.suites.evalplus import SUITE
from lab.tasks import read_lock, read_task, read_toml
from tests.real.whole import variables
from tests.support.required import SHARED_DATA

if TYPE_CHECKING:
    from lab.layout import SuitePaths
    from tests.real.whole import Generation

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"{SHARED_DATA} is not here"),
]

DEADLINE_S = 300.0
AT_ONCE = 200
SLOWEST_S = 1.0
STEP = 25
NAMED = {
    "HumanEval/14": "the reference stands in its test",
    "HumanEval/32": "repaired: any root will do",
    "HumanEval/83": "large outputs",
    "HumanEval/100": "large outputs",
    "Mbpp/2": "compared as sets",
    "Mbpp/6": "a helper stands first",
    "Mbpp/56": "its function is called check",
    "Mbpp/88": "its function holds a local of its own name",
    "Mbpp/126": "its function is called sum",
    "Mbpp/252": "beside Mbpp/255, which takes seconds and gigabytes",
    "Mbpp/256": "beside Mbpp/255",
    "Mbpp/462": "the longest test",
    "Mbpp/558": "repaired: a second answer",
    "Mbpp/581": "repaired: a second answer",
    "Mbpp/737": "repaired: a match object",
}


def quick_tasks(suite: SuitePaths) -> list[str]:
    """The tasks whose references are quick, in the lock's order."""
    measured = read_toml(suite.measured)["tasks"]
    return [name for name in read_lock(suite) if measured[name]["cpu_s"] < SLOWEST_S]


def hand_in(folder: Path, solution: Path) -> Path:
    folder.mkdir(parents=True)
    shutil.copyfile(solution, folder / "solution.py")
    return folder


def test_check_sh_agrees_with_the_proof(proven: Generation, tmp_path: Path) -> None:
    suite = proven.suite
    named = {name for name in read_lock(suite) if read_task(suite, name).upstream_id in NAMED}
    assert len(named) == len(NAMED)
    for name in sorted({*quick_tasks(suite)[::STEP], *named}):
        paths = suite.task(name)
        for solution, code, said in ((paths.reference, 0, b"pass"), (paths.stub, 1, b"")):
            work = hand_in(tmp_path / name / solution.name, solution)
            done = subprocess.run(
                [paths.check, work], env=variables(tmp_path), capture_output=True, check=False, timeout=DEADLINE_S
            )
            assert done.returncode == code, (name, solution, done)
            assert done.stdout.startswith(said), (name, solution, done)
            assert done.stdout.count(b"\n") == 1, (name, solution, done)


def test_two_hundred_at_once_build_one_venv_and_all_answer_right(proven: Generation, tmp_path: Path) -> None:
    suite = Root(tmp_path).suite(SUITE.name)
    shutil.copytree(proven.suite.folder, suite.folder, ignore=shutil.ignore_patterns(".venv", ".venv.lock"))
    chosen = quick_tasks(suite)[: AT_ONCE // 2]
    # half of them are right, half are not
    handed = [
        (name, hand_in(tmp_path / "work" / name / solution.name, solution), code)
        for name in chosen
        for solution, code in ((suite.task(name).reference, 0), (suite.task(name).stub, 1))
    ]
    assert len(handed) == AT_ONCE
    started = [
        subprocess.Popen(
            [suite.task(name).check, work],
            env=variables(Path(proven.root)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name, work, _ in handed
    ]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        said = list(pool.map(lambda process: process.communicate(timeout=DEADLINE_S), started))
    wrong = [
        (name, process.returncode, code, out, err)
        for (name, _, code), process, (out, err) in zip(handed, started, said, strict=True)
        if process.returncode != code
    ]
    assert wrong == []
    assert b"".join(err for _, err in said).count(b"building the grading venv") == 1
