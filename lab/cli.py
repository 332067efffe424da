"""The command line: options and help only. Each command calls the function of its name in lab.commands."""

from __future__ import annotations

import dataclasses
import io
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lab
from lab import options, run_options
from lab.console import print_line
from lab.environment import read_environment
from lab.error_handler import guard
from lab.errors import LabError
from lab.grading.isolation import Requested
from lab.layout import find_root
from lab.running.sampling import Sampling  # noqa: TC001 - typer reads the annotations
from lab.selection import Filters  # noqa: TC001 - typer reads the annotations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.errors import ExitCode

app = typer.Typer(
    name="lab",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script: run one command and give its exit code. Nothing is raised."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that knows fewer characters gets escapes, not an error
            stream.reconfigure(errors="backslashreplace")
    return guard(lambda: app(given or ["--help"], prog_name="lab", standalone_mode=False))


def _version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        print_line(f"lab {lab.__version__}")
        raise typer.Exit


@app.callback()
def lab_command(
    context: typer.Context,
    *,
    root: options.Root = None,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare coding agents on public benchmarks, with verdicts that the graded code cannot forge.

    Try this:

    ```
    lab gen --suite starter
    lab run reference --suite starter
    lab report
    ```
    """
    context.obj = root


def _do(context: typer.Context, command: Callable[..., ExitCode], root: str | None, record: Any) -> int:
    """Call a command with the root and the environment; `--root` may stand before the command or after it."""
    if sys.platform == "win32":
        raise LabError("lab does not run on Windows itself", "Use WSL (untested): wsl --install, then lab doctor there")
    environment = read_environment()
    return int(command(find_root(root or context.obj, environment.root), environment, record))


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
    return _do(context, command, root, record)


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

    return _do(context, command, root, ScenariosOptions(suite, filters, as_json))


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

    return _do(context, command, root, ShowOptions(task, suite, oracle, as_json))


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

    return _do(context, command, root, CheckOptions(task, solution, suite, as_json, oracle, isolation, grade_timeout))


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
    return _do(context, command, root, record)


@app.command()
@options.with_options(filters=options.filters, sampling=run_options.sampling)
def run(
    context: typer.Context,
    tool: Annotated[
        str | None, typer.Argument(metavar="TOOL", help="See lab tools; with --command, a name for it.")
    ] = None,
    tasks: Annotated[list[str] | None, typer.Argument(metavar="TASK", help="Only these; as with -t.")] = None,
    *,
    suite: options.Suite = None,
    model: run_options.Model = None,
    samples: options.File = None,
    command_line: options.Command = None,
    timeout: options.Timeout = None,
    grade_timeout: options.GradeTimeout = None,
    attempts: run_options.Attempts = 1,
    budget: run_options.Budget = None,
    retry: run_options.Retries = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Do again what has a result already.")] = False,
    filters: Filters,
    sampling: Sampling | None,
    local: run_options.Local = False,
    isolation: options.Isolation = Requested.AUTO,
    network: run_options.Net = None,
    jobs: options.Jobs = None,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """Run a tool over tasks. The same command again goes on where it stopped.

    ```
    lab run tomo --suite evalplus --model qwen3-coder
    lab run reference humanevalplus-0 Mbpp/2 --suite evalplus
    lab run model --suite evalplus --num-samples 10 --temperature 0.8
    lab run codex --suite evalplus -n 20 --attempts 2 --budget 5
    lab run replay --samples samples.jsonl --suite evalplus
    lab run my-agent --command 'my-agent --prompt-file {prompt_file}' --suite evalplus -n 20
    ```

    The model is asked at LAB_BASE_URL (LAB_ANTHROPIC_BASE_URL, LAB_GEMINI_BASE_URL), with the key LAB_API_KEY.
    """
    from lab.commands.run import RunOptions
    from lab.commands.run import run as command
    from lab.running.toolbox import Wanted

    record = RunOptions(
        suite=suite,
        wanted=Wanted(
            name=tool,
            samples=samples,
            command=command_line,
            model=model,
            timeout_s=timeout,
            isolation=isolation,
            network=network,
            sampling=sampling,
            local=local,
        ),
        filters=dataclasses.replace(filters, tasks=(*(tasks or ()), *filters.tasks)),
        grade_timeout_s=grade_timeout,
        attempts=attempts,
        budget=budget,
        retry=tuple(retry or ()),
        jobs=jobs,
        fresh=fresh,
        as_json=as_json,
    )
    return _do(context, command, root, record)


@app.command()
def report(
    context: typer.Context,
    *,
    suite: options.Suite = None,
    tasks: Annotated[bool, typer.Option("--tasks", help="Also a table of task by tool.")] = False,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """Compare tools by what their runs came to: a table a suite.

    ```
    lab report
    lab report --suite evalplus --tasks
    ```
    """
    from lab.commands.report import ReportOptions
    from lab.commands.report import report as command

    return _do(context, command, root, ReportOptions(suite, tasks, as_json))


@app.command()
def trace(
    context: typer.Context,
    run: Annotated[
        str,
        typer.Argument(metavar="RUN", help="A run's folder, its id or the beginning of it, or TOOL/TASK: the latest."),
    ],
    *,
    suite: options.Suite = None,
    attempt: Annotated[
        int | None, typer.Option("--attempt", metavar="N", min=1, help="Only this one. Default: all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Long texts in whole.")] = False,
    as_json: options.Json = False,
    root: options.Root = None,
) -> int:
    """Read a run as a person would: its exchange with the model, what it left, and the verdict.

    ```
    lab trace tomo/humanevalplus-0
    lab trace 3f2a9c --full
    ```
    """
    from lab.commands.trace import TraceOptions
    from lab.commands.trace import trace as command

    return _do(context, command, root, TraceOptions(run, suite, attempt, full, as_json))


@app.command()
def tools(context: typer.Context, *, as_json: options.Json = False, root: options.Root = None) -> int:
    """List the tools that can be run over tasks."""
    from lab.commands.tools import ToolsOptions
    from lab.commands.tools import tools as command

    return _do(context, command, root, ToolsOptions(as_json))


@app.command()
def doctor(context: typer.Context, *, as_json: options.Json = False, root: options.Root = None) -> int:
    """Say what this machine can and cannot do, and what to install."""
    from lab.commands.doctor import DoctorOptions
    from lab.commands.doctor import doctor as command

    return _do(context, command, root, DoctorOptions(as_json))
