"""The options that several commands share, with their checks. Help texts are what a user reads first."""

from __future__ import annotations

import functools
import inspect
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from lab.environment import MAX_JOBS
from lab.errors import LabError
from lab.grading.isolation import Requested
from lab.selection import Filters
from lab.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SECONDS = 7 * 86_400
MAX_K_DIGITS = 9


def _positive(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise typer.BadParameter(f"{value} is not a whole number above 0")
    return value


def _jobs(value: int | None) -> int | None:
    if value is not None and not 1 <= value <= MAX_JOBS:
        raise typer.BadParameter(f"{value} is not a whole number from 1 to {MAX_JOBS}")
    return value


def _seconds(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and 0 < value <= MAX_SECONDS):
        raise typer.BadParameter(f"{value} is not a number of seconds above 0 and at most {MAX_SECONDS}")
    return value


Root = Annotated[
    str | None,
    typer.Option(
        "--root", metavar="FOLDER", help="The folder that holds evals/ and runs/. Default: LAB_ROOT, else the nearest."
    ),
]
Suite = Annotated[str | None, typer.Option("--suite", "--benchmark", metavar="SUITE", help="evalplus, starter, ...")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Oracle = Annotated[bool, typer.Option("--oracle", help="Show the answer key too.")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", callback=_jobs, help="How many at once. Default: LAB_JOBS, else the cores."
    ),
]
Isolation = Annotated[
    Requested, typer.Option("--isolation", help="What holds the graded code in; a name refuses anything weaker.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", callback=_seconds, help="Wall time of an attempt. Default 600."),
]
GradeTimeout = Annotated[
    float | None,
    typer.Option(
        "--grade-timeout",
        metavar="SECONDS",
        callback=_seconds,
        help="Wall time of grading. Default: the task's limits.",
    ),
]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", "-t", metavar="TASK", help="A task id or upstream id; globs (quoted) too. Repeatable."),
]
SampleSize = Annotated[
    int | None,
    typer.Option("--sample-size", "-n", metavar="N", callback=_positive, help="The first N in natural order."),
]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", callback=_positive, help="At most N of each dataset.")
]
Langs = Annotated[
    str | None, typer.Option("--langs", metavar="A,B", help="Only these datasets: humanevalplus,mbppplus.")
]
Categories = Annotated[
    list[str] | None,
    typer.Option("--filter-category", metavar="NAME", help="Of this domain. Repeatable: any of them, case ignored."),
]
Tags = Annotated[
    list[str] | None, typer.Option("--filter-tags", metavar="TAG", help="With this tag. Repeatable: all of them.")
]
RandomN = Annotated[
    int | None, typer.Option("--random", metavar="N", callback=_positive, help="N drawn at random; --seed says which.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="K", min=0, help="The draw of --random: the same on any machine.")]
File = Annotated[
    Path | None, typer.Option("--samples", metavar="FILE", help="For replay: .jsonl, .jsonl.gz, or a folder a task.")
]
Command = Annotated[
    str | None,
    typer.Option(
        "--command",
        metavar="'PROGRAM ...'",
        help="Run this in each work folder. {prompt_file}, {prompt} and {work} are filled in; no shell is involved"
        " unless it is named: sh -c '...'.",
    ),
]


def split(names: str | None) -> tuple[str, ...]:
    """The names of a comma-separated option; raises BadParameter where there is none between two commas."""
    if names is None:
        return ()
    parts = tuple(part.strip() for part in names.split(","))
    if not all(parts):
        raise typer.BadParameter(f"{names!r} is not a list like humanevalplus,mbppplus", param_hint="--langs")
    return parts


def ks(text: str) -> tuple[int, ...]:
    """The k of pass@k and 1, in rising order; raises BadParameter where one is not a whole number above 0."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) <= MAX_K_DIGITS and int(part) for part in parts):
        raise typer.BadParameter(f"{text!r} is not a list of whole numbers like 1,10", param_hint="--k")
    return tuple(sorted({1, *map(int, parts)}))


def filters(
    *,
    task: Tasks = None,
    sample_size: SampleSize = None,
    langs: Langs = None,
    filter_category: Categories = None,
    filter_tags: Tags = None,
    random: RandomN = None,
    seed: Seed = 0,
) -> Filters:
    """The shared filters as one record."""
    return Filters(
        tasks=tuple(task or ()),
        langs=split(langs),
        categories=tuple(filter_category or ()),
        tags=tuple(filter_tags or ()),
        random_n=random,
        seed=seed,
        sample_size=sample_size,
    )


def with_options(**makers: Callable[..., object]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A command that takes options of several commands as records: for each parameter, what makes it of options.

    In the command line stand the maker's own parameters instead, with their types and defaults.
    """

    def change(command: Callable[..., int]) -> Callable[..., int]:
        parameters: list[inspect.Parameter] = []
        for parameter in _parameters(command):
            maker = makers.get(parameter.name)
            parameters += [parameter] if maker is None else _parameters(maker)

        @functools.wraps(command)
        def changed(**given: Any) -> int:
            records = {}
            for name, maker in makers.items():
                records[name] = maker(**{one.name: given.pop(one.name) for one in _parameters(maker)})
            return command(**given, **records)

        changed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        changed.__annotations__ = {one.name: one.annotation for one in parameters}
        return changed

    return change


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters of a function, all given by name, with their types resolved."""
    hints = get_type_hints(function, include_extras=True)
    return [
        one.replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(function).parameters.values()
    ]


def required(suite: str | None) -> str:
    """The suite, where a command cannot do without; raises LabError where it was not named."""
    if suite is None:
        raise LabError("--suite is missing", f"There are: {', '.join(SUITES)}")
    return suite
