"""The options that several commands share, with their checks. Help texts are what a user reads first."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from lab.environment import MAX_JOBS
from lab.errors import LabError
from lab.grading.isolation import Requested
from lab.selection import Filters
from lab.suites import SUITES

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
    float, typer.Option("--timeout", metavar="SECONDS", callback=_seconds, help="Wall time that the tool gets a task.")
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
    tasks: list[str] | None,
    sample_size: int | None,
    langs: str | None,
    categories: list[str] | None,
    tags: list[str] | None,
    random_n: int | None,
    seed: int,
) -> Filters:
    """The shared filters as one record."""
    return Filters(
        tasks=tuple(tasks or ()),
        langs=split(langs),
        categories=tuple(categories or ()),
        tags=tuple(tags or ()),
        random_n=random_n,
        seed=seed,
        sample_size=sample_size,
    )


def required(suite: str | None) -> str:
    """The suite, where a command cannot do without; raises LabError where it was not named."""
    if suite is None:
        raise LabError("--suite is missing", f"There are: {', '.join(SUITES)}")
    return suite
