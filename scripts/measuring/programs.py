"""Programs run, timed, and watched for their memory."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

LOOK_S = 0.05
TAIL_CHARS = 400
CANDIDATE = b"lab.grading.candidate"
"""Stands in the arguments of every process that runs graded code, and of the bubblewrap around it."""


class Failed(Exception):
    """A program did not do what is measured: there is no number."""


@dataclasses.dataclass(frozen=True)
class Done:
    """A program that has ended. `peak_mb` is 0 where nobody watched."""

    code: int
    out: str
    err: str
    wall_s: float
    peak_mb: float = 0.0


def plain_environment() -> dict[str, str]:
    """The environment without lab's own settings: what is measured is the default."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LAB_")}


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path,
    more: Mapping[str, str] | None = None,
    codes: Collection[int] = (0,),
    watch: bool = False,
) -> Done:
    """Run a program to its end, and time it; with `watch`, look at lab's own memory all the while.

    Raises Failed where it ends with a code that is not among `codes`.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            argv, cwd=cwd, env={**plain_environment(), **(more or {})}, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        peak_mb = 0.0
        try:
            while watch and process.poll() is None:
                peak_mb = max(peak_mb, own_memory_mb(process.pid))
                time.sleep(LOOK_S)
            process.wait()
        except BaseException:
            process.send_signal(signal.SIGINT)  # lab ends what it started
            process.wait()
            raise
        wall_s = time.perf_counter() - start
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    if process.returncode not in codes:
        words = " ".join(map(str, argv))
        raise Failed(f"{words} ended with code {process.returncode}: {(texts[1] or texts[0]).strip()[-TAIL_CHARS:]}")
    return Done(process.returncode, texts[0], texts[1], wall_s, peak_mb)


def own_memory_mb(pid: int, proc: Path = Path("/proc")) -> float:
    """MiB that lab's own processes hold: the supervisor, its judges and what they fork, without the candidates.

    The sum of proportional set sizes, so that a page that a judge shares with its forks is counted once.
    """
    return sum(_pss_kb(one, proc) for one in _own(pid, proc)) / 1024


def _own(pid: int, proc: Path) -> Iterator[int]:
    """A process and its descendants, but no candidate and nothing below one."""
    supervisor = _arguments(pid, proc)
    waiting = [(pid, b"")]
    while waiting:
        current, parent = waiting.pop()
        arguments = _arguments(current, proc)
        # a child of the supervisor that is not yet another program is the supervisor's own pages, seen twice
        if CANDIDATE in arguments or arguments == parent == supervisor:
            continue
        try:
            # a child is listed with the thread that started it
            for thread in (proc / str(current) / "task").iterdir():
                waiting += [(int(child), arguments) for child in (thread / "children").read_bytes().split()]
        except OSError:  # it has ended meanwhile
            continue
        yield current


def _arguments(pid: int, proc: Path) -> bytes:
    try:
        return (proc / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""


def _pss_kb(pid: int, proc: Path) -> int:
    try:
        text = (proc / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def positive(text: str) -> int:
    """The type of an option that is a whole number above 0."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return int(text)
