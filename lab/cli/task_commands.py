"""The commands about suites and solutions: gen, scenarios, show, check, grade."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from lab.cli import options
from lab.cli.shared import app, do
from lab.grading.isolation import Requested
from lab.selection import Filters  # noqa: TC001 - typer reads the annotations


@app.command()
def gen(
    context: typer.Context,
    *,
    suite: options.Suite = None,
    every: Annotated[bool, typer.Option("--all", help="Every problem. Default: the first 8 of each dataset.")] = False,
    limit: options.Limit = None,
    langs: options.Langs = None,
    source: Annotated[
        Path | None, typer.Option("--source", metavar="PATH", help="Rows from a .jsonl[.gz] file or a folder of them.")
    ] = None,
    validate: Annotated[
        bool, typer.Option("--validate/--no-validate", help="Prove each task with its reference and its stub.")
    ] = True,
    offline: Annotated[bool, typer.Option("--offline", help="Use only rows that were fetched before.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch the rows anew.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Prove again what is proven.")] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Remove the tasks that were not selected.")] = False,
    jobs: options.Jobs = None,
    root: options.Root = None,
) -> int:
    """Make the tasks of a suite, each proven from both sides.

    ```
    lab gen --suite evalplus
    lab gen --suite evalplus --all --jobs 4
    lab gen --suite evalplus --langs mbppplus --limit 20
    ```
    """
    from lab.commands.gen import GenOptions
    from lab.commands.gen import gen as command

    record = GenOptions(
        suite=options.required(suite),
        every=every,
        limit=limit,
        langs=options.split(langs),
        source=source,
        validate=validate,
        jobs=jobs,
        offline=offline,
        refresh=refresh,
        fresh=fresh,
        prune=prune,
    )
    return do(context, command, root, record)


@app.command()
@options.with_options(filters=options.filters)
def scenarios(
    context: typer.Context,
    *,
    suite: options.Suite = None,
    filters: Filters,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """List tasks.

    ```
    lab scenarios --suite evalplus --langs humanevalplus
    lab scenarios --suite evalplus --random 10 --seed 1
    ```
    """
    from lab.commands.scenarios import ScenariosOptions
    from lab.commands.scenarios import scenarios as command

    return do(context, command, root, ScenariosOptions(suite, filters, as_json))


@app.command()
def show(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task id, or upstream's.")],
    *,
    suite: options.Suite = None,
    oracle: options.Oracle = False,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """Read one task as a person would.

    ```
    lab show humanevalplus-0
    lab show HumanEval/0 --oracle
    ```
    """
    from lab.commands.show import ShowOptions
    from lab.commands.show import show as command

    return do(context, command, root, ShowOptions(task, suite, oracle, as_json))


@app.command()
def check(
    context: typer.Context,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task id, or upstream's.")],
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="The file to grade, or the folder of solution.py.")
    ],
    *,
    suite: options.Suite = None,
    as_json: options.Json = False,
    oracle: Annotated[bool, typer.Option("--oracle", help="Say what the failing case expected.")] = False,
    isolation: options.Isolation = Requested.AUTO,
    grade_timeout: options.GradeTimeout = None,
    root: options.Root = None,
) -> int:
    """Grade one file. Exit code 0: passed, 1: not passed, 2: could not be graded.

    ```
    lab check humanevalplus-0 my_solution.py
    lab check humanevalplus-0 my_solution.py --oracle
    ```
    """
    from lab.commands.check import CheckOptions
    from lab.commands.check import check as command

    return do(context, command, root, CheckOptions(task, solution, suite, as_json, oracle, isolation, grade_timeout))


@app.command()
@options.with_options(filters=options.filters)
def grade(
    context: typer.Context,
    samples: Annotated[
        Path, typer.Argument(metavar="SAMPLES", help="A .jsonl or .jsonl.gz file, or a folder with one folder a task.")
    ],
    *,
    suite: options.Suite = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The results. Default: SAMPLES with .results.jsonl; replaced."),
    ] = None,
    k: Annotated[str, typer.Option("--k", metavar="1,10", help="Which pass@k to work out, beside pass@1.")] = "1",
    all_cases: Annotated[
        bool, typer.Option("--all-cases", help="Go on after a sample's first failing case, to count them.")
    ] = False,
    grade_timeout: options.GradeTimeout = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Grade again what has a result already.")] = False,
    filters: Filters,
    isolation: options.Isolation = Requested.AUTO,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """Grade a samples file: pass@k, and a verdict a sample. The same command again goes on where it stopped.

    A line is a JSON object with `task_id` and `solution`, or `completion` where the prompt is code.

    ```
    lab grade samples.jsonl --suite evalplus
    lab grade samples.jsonl.gz --suite evalplus --k 1,10 --out graded.jsonl
    lab grade samples/ --suite evalplus --langs humanevalplus --all-cases
    ```
    """
    from lab.commands.grade import GradeOptions
    from lab.commands.grade import grade as command

    record = GradeOptions(
        samples=samples,
        suite=suite,
        out=out,
        filters=filters,
        ks=options.ks(k),
        grade_timeout_s=grade_timeout,
        jobs=jobs,
        fresh=fresh,
        all_cases=all_cases,
        isolation=isolation,
        as_json=as_json,
    )
    return do(context, command, root, record)
