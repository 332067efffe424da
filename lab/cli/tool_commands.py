"""The commands about tools and their runs: run, report, trace, tools, doctor."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from lab.cli import options, run_options
from lab.cli.shared import app, do
from lab.grading.isolation import Requested
from lab.running.sampling import Sampling  # noqa: TC001 - typer reads the annotations
from lab.selection import Filters  # noqa: TC001 - typer reads the annotations


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
    return do(context, command, root, record)


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

    return do(context, command, root, ReportOptions(suite, tasks, as_json))


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

    return do(context, command, root, TraceOptions(run, suite, attempt, full, as_json))


@app.command()
def tools(context: typer.Context, *, as_json: options.Json = False, root: options.Root = None) -> int:
    """List the tools that can be run over tasks."""
    from lab.commands.tools import ToolsOptions
    from lab.commands.tools import tools as command

    return do(context, command, root, ToolsOptions(as_json))


@app.command()
def doctor(context: typer.Context, *, as_json: options.Json = False, root: options.Root = None) -> int:
    """Say what this machine can and cannot do, and what to install."""
    from lab.commands.doctor import DoctorOptions
    from lab.commands.doctor import doctor as command

    return do(context, command, root, DoctorOptions(as_json))
