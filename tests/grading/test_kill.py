"""kill -9 of whoever grades, at any moment: in a sandbox nothing of what it started lives on."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.grading.usage import tree_usage
from tests.attacks.watch import adopt_orphans, born_since, descendants, none_after
from tests.grading.exams import LEVELS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.grading.isolation import Isolation
    from lab.layout import Root
    from tests.attacks.ground import Ground

GONE_LIMIT_S = 3.0
QUICK_KILLS, SLOW_KILLS = 6, 20
PROJECT = Path(__file__).parents[2]
GRADE = """
import sys
from pathlib import Path
from lab.grading.isolation import Isolation
from lab.grading.job import Job
from lab.grading.site import read_venv
from lab.grading.pool import Pool
from lab.grading.work import Work
from lab.layout import SuitePaths
from tests.grading.exams import IDENTITY, LOOPS, exam
daemon = "import os, time\\nif os.fork() == 0:\\n    os.setsid(); os.fork(); time.sleep(600)\\n" + IDENTITY
sleeps = "import time\\ndef f(x): time.sleep(600)\\n"
works = tuple(map(Work.of, [IDENTITY, daemon, sleeps, IDENTITY, LOOPS]))
with Pool(read_venv(SuitePaths(Path(sys.argv[1]))), suite="x", jobs=2, isolation=Isolation.BWRAP) as pool:
    futures = [pool.submit(Job(exam(), works)) for _ in range(50)]
    print("begun", flush=True)
    [future.result() for future in futures]
"""


DAEMON_AND_LOOP = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nwhile True: pass\n"


def kill_at_random(command: Sequence[str | Path], seed: int, *, within_s: float) -> None:
    """Start it, kill it after a while, and see that all below it is gone soon after."""
    adopt_orphans()
    before = set(descendants())
    process = subprocess.Popen(
        [str(part) for part in command], cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(random.Random(seed).uniform(0, within_s))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it had ended before"
    assert none_after(GONE_LIMIT_S, lambda: born_since(before)) == [], f"seed {seed}"


def grading(ground: Ground) -> list[str | Path]:
    return [sys.executable, "-c", GRADE, ground.suite.folder]


@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
@pytest.mark.parametrize("seed", range(QUICK_KILLS))
def test_a_killed_pool_leaves_no_orphan(ground: Ground, level: Isolation, seed: int) -> None:
    kill_at_random(grading(ground), seed, within_s=3.0)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
@pytest.mark.parametrize("seed", range(QUICK_KILLS, QUICK_KILLS + SLOW_KILLS))
def test_a_pool_killed_often_leaves_no_orphan(ground: Ground, level: Isolation, seed: int) -> None:
    kill_at_random(grading(ground), seed, within_s=4.0)


@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
def test_there_was_something_to_be_left(ground: Ground, level: Isolation) -> None:
    """What the tests above kill: two judges, candidates, and what these have started."""
    process = subprocess.Popen([str(part) for part in grading(ground)], cwd=PROJECT, stdout=subprocess.PIPE)
    try:
        until = time.monotonic() + 60
        while (seen := tree_usage(process.pid).processes) < 9:
            assert time.monotonic() < until, seen
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
@pytest.mark.parametrize("seed", range(QUICK_KILLS))
def test_a_killed_check_leaves_no_orphan(starter: Root, level: Isolation, seed: int, tmp_path: Path) -> None:
    suite = starter.suite("starter")
    (tmp_path / "solution.py").write_text(DAEMON_AND_LOOP)
    command: list[str | Path] = [
        suite.venv_python,
        "-I",
        "-S",
        suite.carried_grader,
        suite.task("startercomplete-0").task,
        tmp_path,
    ]
    kill_at_random(command, seed, within_s=1.0)
