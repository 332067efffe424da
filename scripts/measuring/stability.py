"""scripts/stability: a machine that is busy does not change a verdict."""

from __future__ import annotations

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring import shared
from measuring.laboratory import PROJECT, SUITE, Laboratory, prepare
from measuring.machine import machine_line
from measuring.programs import Failed, positive

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD = ("round", "tasks", "pass", "other", "wall", "load")


@dataclasses.dataclass(frozen=True)
class Round:
    """What one grading of every reference came to; `load` is the machine's average of the last minute."""

    statuses: collections.Counter[str]
    others: tuple[str, ...]
    """Task and reason of each verdict that is not a pass."""
    wall_s: float
    load: float

    @property
    def stable(self) -> bool:
        return self.statuses.keys() == {"pass"}

    def cells(self) -> tuple[str, ...]:
        """The round as a row under HEAD, less its number."""
        tasks, passed = self.statuses.total(), self.statuses["pass"]
        return str(tasks), str(passed), str(tasks - passed), f"{self.wall_s:.0f} s", f"{self.load:.1f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade and print a table; 0 where every verdict of every round is a pass, else 1, and 2 where there are none."""
    options = _options(arguments)
    try:
        shared.check_shared(options.shared)
        laboratory = prepare(PROJECT / ".bench" / "lab", options.shared, limit=options.limit, jobs=options.jobs)
        print(f"{machine_line(laboratory)}; {options.loops} busy loops\n")
        print(f"| {' | '.join(HEAD)} |\n| {' | '.join('---' for _ in HEAD)} |", flush=True)
        rounds = []
        with busy_loops(options.loops):
            for number in range(1, options.rounds + 1):
                rounds.append(grade(laboratory))
                print(f"| {' | '.join((str(number), *rounds[-1].cells()))} |", flush=True)
    except Failed as error:
        print(f"stability: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    for number, one in enumerate(rounds, start=1):
        for line in one.others:
            print(f"round {number}: {line}")
    stable = all(one.stable for one in rounds)
    print(f"\n{'every verdict is pass, every time' if stable else 'NOT STABLE: see the lines above'}")
    return 0 if stable else 1


def grade(laboratory: Laboratory) -> Round:
    """Grade every reference once, from nothing."""
    done = laboratory.lab(
        "run", "reference", "--suite", SUITE, "--fresh", "--json", "--jobs", str(laboratory.jobs), codes=(0, 1)
    )
    return read_round(json.loads(done.out), done.wall_s, os.getloadavg()[0])


def read_round(record: dict[str, Any], wall_s: float, load: float) -> Round:
    """The round that `lab run --json` tells of."""
    verdicts = [result["verdict"] or {"status": "interrupted", "reason": ""} for result in record["results"]]
    others = (
        f"{result['task']}: {verdict['status']}: {verdict['reason']}"
        for result, verdict in zip(record["results"], verdicts, strict=True)
        if verdict["status"] != "pass"
    )
    return Round(collections.Counter(str(verdict["status"]) for verdict in verdicts), tuple(others), wall_s, load)


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep `count` processes at work; raises Failed at the end where one of them was not, all the time."""
    loops = [subprocess.Popen([sys.executable, "-I", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
        if any(loop.poll() is not None for loop in loops):
            raise Failed("a busy loop ended before the grading did, so it shows nothing")
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/stability", description="Grade every reference again and again on a busy machine."
    )
    parser.add_argument("--rounds", type=positive, default=5, metavar="N")
    parser.add_argument("--loops", type=positive, default=4, metavar="N", help="busy loops beside it")
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N of each dataset, to try the script")
    parser.add_argument("--jobs", type=positive, default=2, metavar="N")
    parser.add_argument("--shared", type=Path, default=PROJECT.parent / "shared", help="the folder with the data")
    return parser.parse_args(arguments)
