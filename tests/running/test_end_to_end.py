"""The whole way on real parts: a venv, processes for candidates, the real command line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from tests.support.laboratory import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.laboratory import Laboratory

DEADLINE_S = 60.0
MAIN = (
    "import sys, lab.cli, lab.suites; lab.suites.SUITES['tiny'] = 'tests.support.tiny_suite'; sys.exit(lab.cli.main())"
)


def start(laboratory: Laboratory, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, "--root", laboratory.root, *arguments],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # no network, and none is needed
        env=os.environ | {"PIP_NO_INDEX": "1"},
    )


def lab(laboratory: Laboratory, *arguments: str | Path) -> tuple[int, str, str]:
    process = start(laboratory, *arguments)
    out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, out, err


def test_tools_are_run_graded_and_compared(laboratory: Laboratory) -> None:
    code, out, err = lab(laboratory, "run", "reference", "--suite", "tiny")
    assert (code, out.count("\npass ") + out.startswith("pass ")) == (0, 13), err
    file = laboratory.samples(
        {"task_id": "One/1", "solution": "def f(x):\n    return x + 1"},
        {"task_id": "One/1", "solution": "def f(x):\n    import os; os._exit(0)"},
        {"task_id": "One/2", "solution": "raise SystemExit(0)"},
    )
    code, out, err = lab(laboratory, "run", "replay", "--samples", file, "--suite", "tiny")
    assert code == 0, err
    script = "sed -i 's/[.][.][.]/return x + 2/' solution.py"
    code, out, err = lab(laboratory, "run", "agent", "--command", f'sh -c "{script}"', "-n", "4", "--suite", "tiny")
    assert code == 0, err
    code, out, _ = lab(laboratory, "report")
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert lines["reference"][3] == "13/13"
    assert lines["replay"][1:4] == ["mine", "2", "1/3"]
    assert lines["agent"][3] == "1/4"
    assert "isolation of graded code: " in out


def test_an_interrupt_while_grading(laboratory: Laboratory) -> None:
    file = laboratory.samples(*({"task_id": f"One/{n}", "solution": "while True: pass"} for n in range(1, 5)))
    process = start(laboratory, "run", "replay", "--samples", file, "--suite", "tiny", "--jobs", "2")
    started = time.monotonic()
    while len(laboratory.results()) < 2:
        assert time.monotonic() - started < DEADLINE_S
        time.sleep(0.1)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, err
    assert "Traceback" not in out + err
    assert {result.stop for result in laboratory.results()} == {"interrupted"}
