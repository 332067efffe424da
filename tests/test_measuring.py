"""The helpers of scripts/bench and scripts/stability; the benches themselves are never run in tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from measuring import peers, programs, stability
from measuring.figures import Figure, table

SCRIPTS = Path(__file__).parents[1] / "scripts"
TWICE = """== EvalPlus humaneval, run 1
Computing expected output...
wall 60.5 s, cpu 90.1 s, peak 4100000 KB
== EvalPlus mbpp, run 1
wall 130.25 s, cpu 200.0 s, peak 900 KB
== EvalPlus humaneval, run 2
pass@1:	0.994
wall 70 s, cpu 99.0 s, peak 4100000 KB
== EvalPlus mbpp, run 2
wall 179.5 s, cpu 300.0 s, peak 900 KB
"""


def test_the_second_run_of_evalplus_is_read() -> None:
    assert peers.second_run(TWICE) == 249.5
    with pytest.raises(programs.Failed, match="run 2"):
        peers.second_run(TWICE.rpartition("wall")[0])


@pytest.mark.parametrize(
    ("figure", "met", "row"),
    [
        (
            Figure("it", "s", (3.0, 1.0, 2.0), 1.0, "floor", (2.0, 4.0, 1.0)),
            True,
            "2 s (3, 1, 2) | floor: 2 s (2, 4, 1) | 1.00 | 1 | yes",
        ),
        (Figure("it", "s", (150.4,), 1.5, "floor", (100.0,)), False, "150 s | floor: 100 s | 1.50 | 1.5 | NO"),
        (Figure("it", "s", (1.0,), 0.5, "EvalPlus"), None, "1 s | EvalPlus |  | 0.5 | not measured"),
        (Figure("it", "s", (1.0,), 0.5, "floor", (0.0,)), None, "1 s | floor: 0 s |  | 0.5 | not measured"),
        (Figure("it", "MB", (499.0,), 500.0), True, "499 MB |  |  | 500 MB | yes"),
        (Figure("it", "MB", (501.0,), 500.0), False, "501 MB |  |  | 500 MB | NO"),
    ],
)
def test_a_figure_stands_beside_its_bar(figure: Figure, met: bool | None, row: str) -> None:
    assert figure.met is met
    assert table([figure]).splitlines()[2] == f"| it | {row} |"


def test_memory_of_candidates_is_not_labs_own() -> None:
    # a parent of two: one that holds 64 MiB and says that it is a candidate, one that holds 32 MiB and does not
    hold = "import sys, time; held = b'x' * (int(sys.argv[1]) << 20); print('held', flush=True); time.sleep(60)"
    parent = (
        "import subprocess, sys; hold = [sys.executable, '-c', sys.argv[1]];"
        "candidate = subprocess.Popen([*hold, '64', 'lab.grading' + '.candidate']);"
        "judge = subprocess.Popen([*hold, '32']); candidate.wait(); judge.wait()"
    )
    with subprocess.Popen([sys.executable, "-c", parent, hold], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        children = []
        try:
            assert [process.stdout.readline() for _ in range(2)] == [b"held\n", b"held\n"]
            task = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            children = [int(pid) for pid in task.read_text().split()]
            seen = programs.own_memory_mb(process.pid)
        finally:
            for pid in children:
                os.kill(pid, signal.SIGKILL)
            process.kill()
    assert 32 < seen < 64


def test_a_program_is_timed_and_its_failure_is_no_number(tmp_path: Path) -> None:
    start = time.perf_counter()
    done = programs.run([sys.executable, "-c", "print('out')"], cwd=tmp_path, watch=True)
    assert (done.code, done.out, done.err) == (0, "out\n", "")
    assert 0 < done.wall_s <= time.perf_counter() - start
    with pytest.raises(programs.Failed, match="code 3: why"):
        programs.run([sys.executable, "-c", "import sys; print('why'); sys.exit(3)"], cwd=tmp_path)


def test_a_round_with_anything_but_passes_is_not_stable() -> None:
    results = [
        {"task": "a", "verdict": {"status": "pass", "reason": ""}},
        {"task": "b", "verdict": {"status": "timeout", "reason": "slow"}},
        {"task": "c", "verdict": None},
    ]
    mixed = stability.read_round({"results": results}, 12.0, 4.0)
    assert not mixed.stable
    assert mixed.others == ("b: timeout: slow", "c: interrupted: ")
    assert mixed.cells() == ("3", "1", "2", "12 s", "4.0")
    assert stability.read_round({"results": results[:1]}, 1.0, 4.0).stable
    # no verdicts at all are no proof of anything
    assert not stability.read_round({"results": []}, 1.0, 4.0).stable


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("bench", ["--only", "gen,nothing"]),
        ("bench", ["--repeat", "0"]),
        ("bench", ["--with-peer", "--limit", "3"]),
        ("bench", ["--shared", "/nonexistent"]),
        ("stability", ["--rounds", "0"]),
        ("stability", ["--limit", "-1"]),
        ("stability", ["--shared", "/nonexistent"]),
    ],
)
def test_bad_usage_is_exit_2(script: str, arguments: list[str]) -> None:
    command: list[str | Path] = [sys.executable, "-B", SCRIPTS / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
