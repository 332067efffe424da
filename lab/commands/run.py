"""`lab run`: a tool over tasks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.console import print_json, print_line, warn
from lab.errors import ExitCode, LabError, did_you_mean
from lab.grading.isolation import choose
from lab.grading.pool import Pool
from lab.layout import NAME
from lab.results import to_json
from lab.running.agent_sandbox import choose_for_agents
from lab.running.builtin import SUMMARIES, Copied, Replay, load_replay
from lab.running.command import command_agent, local_files, parse_command
from lab.running.holder import Network
from lab.running.progress import Display
from lab.running.run import Runner
from lab.samples.foreign import foreign_line
from lab.selection import EVERYTHING, Filters, generated_suite, select
from lab.suites import get_suite
from lab.venv import ensure_venv

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.environment import Environment
    from lab.layout import Root, SuitePaths
    from lab.running.agent import Agent
    from lab.running.attempt import Tool
    from lab.tasks import Task

COMMAND_NAME = "command"
AGENT_TIMEOUT_S = 600.0


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options of `lab run`, as given."""

    suite: str | None
    tool: str | None = None
    filters: Filters = EVERYTHING
    samples: Path | None = None
    """For replay."""
    command: str | None = None
    timeout_s: float = AGENT_TIMEOUT_S
    """Of the tool, wall."""
    grade_timeout_s: float | None = None
    """Of the grading of one candidate, wall; None is what the task's limits say."""
    jobs: int | None = None
    """None is what the environment says."""
    fresh: bool = False
    isolation: str = "auto"
    as_json: bool = False


def run(root: Root, environment: Environment, options: RunOptions) -> ExitCode:
    """Run a tool over the selected tasks: DONE where all got a verdict, PARTLY where there was infra.

    Raises LabError for usage, venv and disk; KeyboardInterrupt once what ran is recorded.
    """
    suite = generated_suite(root, options.suite)
    tool = _tool(root, suite, options)
    tasks = select(suite, options.filters)
    isolation = choose(options.isolation, say=warn)
    planned = list(tool.plan(tasks))
    bad_lines = _tell_of_samples(suite, tool, tasks) if isinstance(tool, Replay) else 0
    if not planned:
        raise LabError("none of the selected tasks has a sample", "Select others, or name another --samples")
    jobs = options.jobs or environment.jobs
    venv = ensure_venv(suite, get_suite(suite.name), say=warn)
    display = Display(f"{tool.name} on {suite.name}", len(planned), lines=not options.as_json)
    with (
        Pool(venv, suite=suite.name, jobs=jobs, isolation=isolation, grade_timeout=options.grade_timeout_s) as pool,
        display,
    ):
        runner = Runner(
            root, suite, tool, pool, jobs=jobs, fresh=options.fresh, grader=venv.grader, isolation=isolation
        )
        try:
            runner.run(planned, display.settle)
        except KeyboardInterrupt:
            warn(f"stopped with {len(display.settled)} of {len(planned)} runs; the same command goes on from here")
            raise
    _summarise(display, tool, suite, options)
    return (
        ExitCode.PARTLY
        if bad_lines or not display.counts().keys().isdisjoint({"infra", "interrupted"})
        else ExitCode.DONE
    )


def _tool(root: Root, suite: SuitePaths, options: RunOptions) -> Tool:
    if options.samples is not None and (options.tool != "replay" or options.command is not None):
        raise LabError("--samples is for the tool replay", "Run lab run replay --samples FILE --suite S")
    if options.command is not None:
        return _command(root, suite, options.tool or COMMAND_NAME, options.command, options)
    match options.tool:
        case None:
            raise LabError("no tool was named", f"There are: {', '.join(SUMMARIES)}; or give a --command")
        case "reference" | "stub" as name:
            return Copied(name, suite)
        case "replay":
            if options.samples is None:
                raise LabError("replay needs recorded solutions", "Add --samples FILE (.jsonl or .jsonl.gz)")
            return load_replay(suite, options.samples)
        case other:
            advice = did_you_mean(other, SUMMARIES)
            raise LabError(f"there is no tool {other}", f"A program of your own needs --command. {advice}")


def _command(root: Root, suite: SuitePaths, name: str, command: str, options: RunOptions) -> Agent:
    if not NAME.fullmatch(name) or name in SUMMARIES:
        raise LabError(f"{name!r} cannot be the name of a command", "Name it like my-agent, not like a built-in tool")
    words = parse_command(command)
    for word in local_files(words):
        warn(f"{word} is a file here, but the command runs in a work folder: write its full path")
    agent = command_agent(
        name,
        words,
        isolation=choose_for_agents(options.isolation, say=warn),
        network=Network.MODEL,
        timeout_s=options.timeout_s,
        root=root,
        suite=suite,
    )
    if agent.notice is not None:
        warn(agent.notice)
    return agent


def _tell_of_samples(suite: SuitePaths, tool: Replay, tasks: Sequence[Task]) -> int:
    """Say what of a samples file is not run; how many of its lines could not be read."""
    for bad in tool.bad_lines:
        warn(f"{bad}; it is left out")
    if foreign := tool.foreign(select(suite, EVERYTHING)):
        warn(foreign_line(foreign, suite.name, sum(foreign.values())))
    without = [task.id for task in tasks if not tool.has(task)]
    if without:
        warn(f"{len(without)} of the {len(tasks)} selected tasks have no sample")
    return len(tool.bad_lines)


def _summarise(display: Display, tool: Tool, suite: SuitePaths, options: RunOptions) -> None:
    skipped = sum(one.skipped for one in display.settled)
    if options.as_json:
        record = {
            "suite": suite.name,
            "tool": tool.name,
            "runs": len(display.settled),
            "skipped": skipped,
            "statuses": display.counts(),
            "results": [to_json(one.result) for one in display.settled],
        }
        print_json(record)
        return
    counts = ", ".join(f"{count} {status}" for status, count in display.counts().items())
    before = f" ({skipped} of them done before; --fresh does them again)" if skipped else ""
    print_line(f"{tool.name} on {suite.name}: {len(display.settled)} runs, {counts}{before}")
    print_line(f"compare with: lab report --suite {suite.name}")
