"""`lab trace`: a run as a person reads it."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any

import msgspec

from lab.console import out, print_json
from lab.errors import ExitCode, LabError
from lab.files import NotRegularFile, read_regular
from lab.results import FILE_NAME, Result, read_result, to_json
from lab.trace.change import NoChange, change
from lab.trace.exchange import read_trace
from lab.trace.finding import find_run
from lab.trace.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.environment import Environment
    from lab.layout import Root
    from lab.results import Attempt

ATTEMPT = re.compile(r"attempt-([1-9][0-9]{0,3})")
MAX_PRINTED_BYTES = 16 << 20
PRINTED = ("stdout", "stderr")


@dataclasses.dataclass(frozen=True)
class TraceOptions:
    """The options of `lab trace`. `run` is a folder, a run-id or its beginning, or TOOL/TASK; `attempt` is 1-based."""

    run: str
    suite: str | None = None
    attempt: int | None = None
    full: bool = False
    as_json: bool = False


@dataclasses.dataclass(frozen=True)
class Left:
    """One attempt on the disk."""

    number: int
    folder: Path
    record: Attempt | None
    """None where lab was killed before it was recorded."""

    def printed(self) -> dict[str, str]:
        """What the tool printed, by the name of the stream; nothing where that was not kept."""
        found = {}
        for name in PRINTED:
            try:
                data = read_regular(self.folder / "trace" / name, MAX_PRINTED_BYTES)
            except (NotRegularFile, OSError):
                continue
            found[name] = data.decode("utf-8", "replace")
        return found


def trace(root: Root, _environment: Environment, options: TraceOptions) -> ExitCode:
    """Print a run: what it was, its exchange with the model turn by turn, and what it left.

    Raises LabError where there is no such run or attempt, or its record cannot be read.
    """
    folder = find_run(root, options.run, options.suite)
    result = read_result(folder / FILE_NAME)
    if not isinstance(result, Result):
        raise LabError(f"{result.path} {result.reason}", "Name another run")
    attempts = _attempts(folder, result, options.attempt)
    if options.as_json:
        record = {
            "run": str(folder),
            "result": to_json(result),
            "attempts": [_record(root, result, left) for left in attempts],
        }
        print_json(record)
    else:
        _print(root, result, folder, attempts, options)
    return ExitCode.DONE


def _attempts(folder: Path, result: Result, chosen: int | None) -> list[Left]:
    records = dict(enumerate(result.attempts, start=1))
    kept = {int(found[1]): path for path in folder.iterdir() if (found := ATTEMPT.fullmatch(path.name))}
    numbers = sorted({*records, *kept})
    if chosen is not None:
        if chosen not in numbers:
            raise LabError(f"the run has no attempt {chosen}", f"It has {len(numbers)}")
        numbers = [chosen]
    return [Left(number, folder / f"attempt-{number}", records.get(number)) for number in numbers]


def _change(root: Root, result: Result, left: Left) -> str:
    """The difference from the stub. Raises NoChange."""
    return change(root.suite(result.suite).task(result.task).stub, left.folder / "work" / "solution.py")


def _record(root: Root, result: Result, left: Left) -> dict[str, Any]:
    try:
        diff, why = _change(root, result, left), None
    except NoChange as error:
        diff, why = None, str(error)
    return {
        "number": left.number,
        "exchanges": [msgspec.to_builtins(one) for one in read_trace(left.folder / "trace")],
        "printed": left.printed(),
        "diff": diff,
        "no_diff": why,
    }


def _print(root: Root, result: Result, folder: Path, attempts: list[Left], options: TraceOptions) -> None:
    view = View(out(), full=options.full)
    view.header(result, folder)
    for repeat in result.repeats:
        view.say(f"attempt {repeat.attempt} was repeated: its model had failed")
    for left in attempts:
        view.attempt(left.number, left.record)
        if not _print_exchanges(view, left.folder / "trace"):
            view.say("no request to a model was recorded")
        for name, text in left.printed().items():
            view.printed(name, text)
        try:
            view.change(_change(root, result, left))
        except NoChange as error:
            view.say(str(error))


def _print_exchanges(view: View, folder: Path) -> bool:
    """Print each as it is read; whether there was any."""
    exchanges: Iterator[Any] = read_trace(folder)
    some = False
    for exchange in exchanges:
        view.exchange(exchange)
        some = True
    return some
