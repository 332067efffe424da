"""`lab run`: a tool over tasks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec

from lab.console import print_json, print_line, warn
from lab.errors import ExitCode, LabError
from lab.grading.isolation import choose
from lab.grading.pool import Pool
from lab.proxy.summary import Usage
from lab.results import to_json
from lab.running.budget import Spending, parse_budget
from lab.running.builtin import Replay
from lab.running.progress import Display, counts, shown_usage
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
    from lab.results import Result
    from lab.running.attempt import Planned, Retry, Tool
    from lab.running.run import Sorted
    from lab.running.toolbox import Ready
    from lab.tasks import Task


MAX_NAMED = 5


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
    """Run a tool over the selected tasks: DONE where all got a verdict, PARTLY where not: infra, or no money left.

    Raises LabError for usage, venv and disk; KeyboardInterrupt once what ran is recorded.
    """
    suite = generated_suite(root, options.suite)
    tasks = select(suite, options.filters)
    isolation = choose(options.wanted.isolation, say=None if options.wanted.is_program else warn)
    jobs = options.jobs or environment.jobs
    with set_up(options.wanted, root, suite, environment) as ready:
        tool = ready.tool
        planned = _plan(tool, tasks, options.attempts)
        bad_lines = _tell_of_samples(suite, tool, tasks) if isinstance(tool, Replay) else 0
        if not planned:
            raise LabError("none of the selected tasks has a sample", "Select others, or name another --samples")
        spending = _spending(ready, options)
        venv = ensure_venv(suite, get_suite(suite.name), say=warn)
        terms = Terms(jobs, options.attempts, options.fresh, frozenset(options.retry), options.grade_timeout_s)
        with Pool(
            venv, suite=suite.name, jobs=jobs, isolation=isolation, grade_timeout=options.grade_timeout_s
        ) as pool:
            runner = Runner(
                root, suite, tool, pool, terms=terms, spending=spending, grader=venv.grader, isolation=isolation
            )
            found = runner.sort(planned)
            title = f"{tool.name} on {suite.name}"
            with Display(title, len(found.left), spending, lines=not options.as_json) as display:
                try:
                    runner.run(found.left, display.settle)
                except KeyboardInterrupt:
                    done = sum(result.verdict is not None for result in display.settled)
                    warn(f"stopped with {done} of {len(found.left)} runs done; {_go_on(options)}")
                    raise
    outcome = Outcome(tuple(display.settled), found, tuple(runner.held), spending)
    _summarise(outcome, tool, suite, options)
    undone = not counts(outcome.results).keys().isdisjoint({"infra", "interrupted"})
    return ExitCode.PARTLY if bad_lines or undone or outcome.unbought or outcome.held else ExitCode.DONE


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one go came to."""

    settled: tuple[Result, ...]
    sorted: Sorted
    held: tuple[str, ...]
    """The tasks that another lab was at work on."""
    spending: Spending

    @property
    def results(self) -> tuple[Result, ...]:
        return (*self.sorted.standing, *self.settled)

    @property
    def unbought(self) -> int:
        """Runs that were not started for want of money."""
        return len(self.sorted.left) - len(self.settled) - len(self.held)


def _go_on(options: RunOptions) -> str:
    """How to go on after an interrupt."""
    if options.fresh:
        return "without --fresh the same command goes on from here"
    return "the same command goes on from here"


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
            "Add it to prices.toml in the root (docs/traces.md has the form), or give tokens like --budget 200ktokens",
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


def _summarise(outcome: Outcome, tool: Tool, suite: SuitePaths, options: RunOptions) -> None:
    usage = outcome.spending.usage()
    skipped = len(outcome.sorted.standing)
    if options.as_json:
        record = {
            "suite": suite.name,
            "tool": tool.name,
            "runs": len(outcome.results),
            "skipped": skipped,
            "not_started": outcome.unbought,
            "held": list(outcome.held),
            "usage": msgspec.to_builtins(usage),
            "statuses": counts(outcome.results),
            "results": [to_json(result) for result in outcome.results],
        }
        print_json(record)
        return
    if options.retry and not outcome.sorted.left:
        print_line(f"{tool.name} on {suite.name}: no selected run is one to --retry: {', '.join(options.retry)}")
        return
    shown = ", ".join(f"{count} {status}" for status, count in counts(outcome.results).items())
    before = f" ({skipped} of them done before; --fresh does them again)" if skipped else ""
    print_line(f"{tool.name} on {suite.name}: {len(outcome.results)} runs, {shown or 'none'}{before}")
    if usage.requests:
        print_line(f"asked of the model, earlier goes at these runs included: {shown_usage(usage)}")
    if outcome.held:
        print_line(f"{len(outcome.held)} runs are another lab's at the moment: {', '.join(outcome.held[:MAX_NAMED])}")
    if outcome.unbought:
        print_line(f"{outcome.unbought} runs were not started: {outcome.spending.why_over}")
    if not tool.instant and outcome.results:
        print_line(f"read one with: lab trace {tool.name}/{outcome.results[-1].task} --suite {suite.name}")
    print_line(f"compare with: lab report --suite {suite.name}")
