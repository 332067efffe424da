"""Ctrl-C, once and twice, with an agent that lab's own waiting does not end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.laboratory import PROJECT

SLOW_S = 60
GONE_S = 5.0
SCRIPT = """
import sys, threading, time
from pathlib import Path
from lab.process import spawn
from lab.running.run import Runner, Terms

class Slow(Runner):
    def __init__(self):
        self._terms, self._stopping, self._tool = Terms(2), threading.Event(), type("Tool", (), {"instant": False})
    def _units(self, left):
        return [(number,) for number in left]
    def _unit(self, unit):
        child = spawn(["sleep", "987.5"], env={"PATH": "/usr/bin:/bin"}, cwd="/")
        Path(sys.argv[1], str(child.pid)).touch()
        deadline = time.monotonic() + float(sys.argv[2])
        while time.monotonic() < deadline:  # what does not heed `stopping`: a copy of much work, a disk that hangs
            time.sleep(0.05)
        return []

from lab.error_handler import guard
sys.exit(guard(lambda: Slow().run([1, 2], lambda result: None)))
"""


def begin(folder: Path, slow_s: float) -> tuple[subprocess.Popen[str], list[int]]:
    """A run that has started two children, and their numbers."""
    line = [sys.executable, "-c", SCRIPT, str(folder), str(slow_s)]
    process = subprocess.Popen(line, cwd=PROJECT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while len(found := list(folder.iterdir())) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    return process, [int(path.name) for path in found]


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_a_second_interrupt_does_not_wait_and_leaves_nobody(tmp_path: Path, second: signal.Signals) -> None:
    process, children = begin(tmp_path, SLOW_S)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "the first waits for what runs"
    begun = time.monotonic()
    process.send_signal(second)
    assert process.wait(timeout=GONE_S) == 130
    assert time.monotonic() - begun < GONE_S
    while not all(map(is_gone, children)):
        assert time.monotonic() - begun < GONE_S
        time.sleep(0.02)
    assert process.stderr is not None
    process.stderr.close()


def test_a_first_interrupt_waits_for_what_runs(tmp_path: Path) -> None:
    process, children = begin(tmp_path, 1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, "interrupted" in err) == (130, True)
    for pid in children:
        if not is_gone(pid):
            os.kill(pid, signal.SIGKILL)
