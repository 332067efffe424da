"""`lab run`: a tool over tasks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.console import print_json, print_line, warn
from lab.errors import ExitCode, LabError
from lab.grading.isolation import choose
from lab.grading.pool import Pool
from lab.proxy.summary import Usage
from lab.results import to_json
from lab.running.budget import Spending, parse_budget
from lab.running.builtin import Replay
from lab.running.progress import Display, shown_usage
from lab.running.run import Runner, Terms
from lab.running.toolbox import Wanted, set_up
from lab.samples.foreign import foreign_line
from lab.selection import EVERYTHING, Filters, generated_suite, select
from lab.suites import get_suite
from lab.venv import ensure_venv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.environment import Environment
    from lab.layout import Root, SuitePaths
    from lab.running.attempt import Planned, Retry, Tool
    from lab.running.toolbox import Ready
    from lab.tasks import Task


@dataclasses.dataclass(frozen=True)
class RunOptions:
    """The options of `lab run`, as given."""

    suite: str | None
    wanted: Wanted
    filters: Filters = EVERYTHING
    grade_timeout_s: float | None = None
    """Of the grading of one candidate, wall; None is what the task's limits say."""
    attempts: int = 1
    budget: str | None = None
    retry: tuple[Retry, ...] = ()
    jobs: int | None = None
    """None is what the environment says."""
    fresh: bool = False
    as_json: bool = False


def run(root: Root, environment: Environment, options: RunOptions) -> ExitCode:
    """Run a tool over the selected tasks: DONE where all got a verdict, PARTLY where there was infra or no money.

    Raises LabError for usage, venv and disk; KeyboardInterrupt once what ran is recorded.
    """
    suite = generated_suite(root, options.suite)
    tasks = select(suite, options.filters)
    isolation = choose(options.wanted.isolation, say=warn)
    jobs = options.jobs or environment.jobs
    with set_up(options.wanted, root, suite, environment) as ready:
        tool = ready.tool
        planned = list(_plan(tool, tasks, options.attempts))
        bad_lines = _tell_of_samples(suite, tool, tasks) if isinstance(tool, Replay) else 0
        if not planned:
            raise LabError("none of the selected tasks has a sample", "Select others, or name another --samples")
        spending = _spending(ready, options)
        venv = ensure_venv(suite, get_suite(suite.name), say=warn)
        display = Display(f"{tool.name} on {suite.name}", len(planned), spending, lines=not options.as_json)
        with (
            Pool(venv, suite=suite.name, jobs=jobs, isolation=isolation, grade_timeout=options.grade_timeout_s) as pool,
            display,
        ):
            terms = Terms(jobs, options.attempts, fresh=options.fresh, retry=frozenset(options.retry))
            runner = Runner(
                root, suite, tool, pool, terms=terms, spending=spending, grader=venv.grader, isolation=isolation
            )
            try:
                runner.run(planned, display.settle)
            except KeyboardInterrupt:
                warn(f"stopped with {len(display.settled)} of {len(planned)} runs; the same command goes on from here")
                raise
        unbought = 0 if options.retry else len(planned) - len(display.settled)
        _summarise(display, tool, suite, spending, unbought=unbought, options=options)
    undone = not display.counts().keys().isdisjoint({"infra", "interrupted"})
    return ExitCode.PARTLY if bad_lines or undone or unbought else ExitCode.DONE


def _plan(tool: Tool, tasks: Sequence[Task], attempts: int) -> list[Planned]:
    """The tool's runs; that a task may be tried more than once is a setting of each."""
    planned = list(tool.plan(tasks))
    if attempts == 1:
        return planned
    if tool.instant:
        raise LabError(f"{tool.name} tries a task once", "Leave out --attempts")
    return [dataclasses.replace(one, setup=one.setup.having(attempts=attempts)) for one in planned]


def _spending(ready: Ready, options: RunOptions) -> Spending:
    """What the run may cost; raises LabError where that could not be kept to."""
    budget = None if options.budget is None else parse_budget(options.budget)
    if ready.proxy is None:
        if budget is not None:
            raise LabError(f"lab cannot see what {ready.tool.name} spends", "Leave out --budget")
        return Spending(None, Usage)
    if budget is not None and budget.unit == "usd" and not ready.is_priced:
        raise LabError(
            f"the price of {ready.model} is unknown, so no budget in dollars can be kept",
            "Add it to prices.toml in the root, or give tokens like --budget 200ktokens",
        )
    return Spending(budget, ready.proxy.total)


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


def _summarise(
    display: Display, tool: Tool, suite: SuitePaths, spending: Spending, *, unbought: int, options: RunOptions
) -> None:
    skipped = sum(one.skipped for one in display.settled)
    usage = spending.usage()
    if options.as_json:
        record = {
            "suite": suite.name,
            "tool": tool.name,
            "runs": len(display.settled),
            "skipped": skipped,
            "not_started": unbought,
            "requests": usage.requests,
            "tokens": {"prompt": usage.tokens.prompt, "completion": usage.tokens.completion},
            "cost_usd": usage.cost_usd,
            "statuses": display.counts(),
            "results": [to_json(one.result) for one in display.settled],
        }
        print_json(record)
        return
    counts = ", ".join(f"{count} {status}" for status, count in display.counts().items())
    before = f" ({skipped} of them done before; --fresh does them again)" if skipped else ""
    print_line(f"{tool.name} on {suite.name}: {len(display.settled)} runs, {counts}{before}")
    if usage.requests:
        print_line(f"asked of the model: {shown_usage(usage)}")
    if unbought:
        print_line(
            f"{unbought} runs were not started: the budget of {spending.budget} is spent; raise --budget to go on"
        )
    print_line(f"compare with: lab report --suite {suite.name}")
