"""One solution beside its reference, in a process of its own: `python parity_trial.py JOB`, a JSON line on stdout.

JOB is a JSON file: kind (time or memory), solution, reference, entry_point, base_input, plus_input, frames, slots.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

REPEATS = 2
SPLITS = ("base", "plus")
WORDS_A_FRAME = 10
"""What a frame holds beside its variables and operands, in CPython 3.11."""


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    function, reference = (_function(job[name], job["entry_point"]) for name in ("solution", "reference"))
    inputs = job["base_input"] + job["plus_input"]
    found: dict[str, Any]
    if job["kind"] == "time":
        found = {"cases": [[_seconds(function, one), _seconds(reference, one)] for one in inputs]}
    else:
        words = job["slots"] + WORDS_A_FRAME * job["frames"]
        found = {name: _above(words, partial(_starved, function, job[f"{name}_input"])) for name in SPLITS}
    found["inputs"] = len(inputs)
    found["agrees"] = all(function(*one) == reference(*one) for one in inputs)
    print(json.dumps(found))


def _function(text: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def _seconds(function: Callable[..., Any], arguments: list[Any]) -> float:
    """CPU seconds of one call, the least of some."""
    taken = []
    for _ in range(REPEATS):
        start = time.process_time()
        function(*arguments)
        taken.append(time.process_time() - start)
    return min(taken)


def _above(words: int, function: Callable[[], bool]) -> bool:
    """Call `function` below frames that hold at least so many words of Python's stack."""
    return function() if _words_held(sys._getframe()) >= words else _above(words, function)  # noqa: SLF001 - no other way


def _words_held(frame: FrameType | None) -> int:
    held = 0
    while frame:
        code = frame.f_code
        names = (code.co_varnames, code.co_cellvars, code.co_freevars)
        held += sum(map(len, names)) + code.co_stacksize + WORDS_A_FRAME
        frame = frame.f_back
    return held


def _starved(function: Callable[..., Any], inputs: list[list[Any]]) -> bool:
    """Whether every call returns in a process that may take no more address space.

    In a fork, as EvalPlus does it: a Python that finds no room for a frame may raise, or die.
    """
    if child := os.fork():
        return os.waitpid(child, 0)[1] == 0
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for one in inputs:
            function(*one)
        os._exit(0)
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
