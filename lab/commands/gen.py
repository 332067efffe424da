"""`lab gen`: make the tasks of a suite, proven."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.console import print_line, warn
from lab.environment import MAX_JOBS
from lab.errors import ExitCode, LabError
from lab.generate.choice import FIRST_SAMPLE, Amount
from lab.generate.generation import Outcome, Request, generate
from lab.suites import get_suite

if TYPE_CHECKING:
    from pathlib import Path

    from lab.environment import Environment
    from lab.layout import Root, SuitePaths


@dataclasses.dataclass(frozen=True)
class GenOptions:
    """The options of `lab gen`, as given."""

    suite: str
    every: bool = False
    """--all."""
    limit: int | None = None
    """Problems of each dataset."""
    langs: tuple[str, ...] = ()
    """Dataset names."""
    source: Path | None = None
    validate: bool = True
    jobs: int | None = None
    """None is what the environment says."""
    offline: bool = False
    refresh: bool = False
    fresh: bool = False
    prune: bool = False


def gen(root: Root, environment: Environment, options: GenOptions) -> ExitCode:
    """Generate; PARTLY where a problem was dropped. Raises LabError for usage, rows, disk and venv."""
    suite = get_suite(options.suite)
    paths = root.suite(suite.name)
    outcome = generate(paths, suite, _request(options, environment), environment=environment, say=warn)
    _print(outcome, options, paths)
    return ExitCode.PARTLY if outcome.dropped else ExitCode.DONE


def _request(options: GenOptions, environment: Environment) -> Request:
    if options.every and options.limit is not None:
        raise LabError("--all and --limit exclude each other", "Leave one of them out")
    if options.limit is not None and options.limit < 1:
        raise LabError(f"--limit is {options.limit}, which is not a positive number", "Leave it out, or raise it")
    jobs = environment.jobs if options.jobs is None else options.jobs
    if not 1 <= jobs <= MAX_JOBS:
        raise LabError(f"--jobs is {jobs}, not a whole number from 1 to {MAX_JOBS}", "Leave it out, or change it")
    return Request(
        jobs=jobs,
        amount=Amount(every=options.every, limit=options.limit),
        datasets=options.langs,
        source=options.source,
        offline=options.offline,
        refresh=options.refresh,
        validate=options.validate,
        fresh=options.fresh,
        prune=options.prune,
    )


def _print(outcome: Outcome, options: GenOptions, paths: SuitePaths) -> None:
    for name, refused in outcome.dropped.items():
        tail = f" ({refused.output})" if refused.output else ""
        print_line(f"dropped {name}: {refused.reason}{tail}")
    if outcome.removed:
        why = "not selected" if options.prune else "their upstream rows are gone"
        print_line(f"removed {', '.join(outcome.removed)}: {why}")
    for name, why in outcome.constant_answers.items():
        print_line(f"{name}: a constant passes, and may: {why}")
    for name, rows in outcome.rows.items():
        print_line(f"rows of {name}: {len(rows.rows)}, {rows.origin}")
        if not rows.known:
            print_line(f"rows of {name}: not those that this lab was written for (lock.toml has their sha256)")
    if outcome.unproven:
        print_line(f"not proven: {len(outcome.unproven)} tasks, for --no-validate; lab gen proves them")
    elif outcome.venv:
        print_line(f"grading venv: {paths.venv}, ready")
    kept = len(outcome.written) + len(outcome.unchanged)
    print_line(
        f"{paths.name}: kept {kept} of {outcome.selected} ({len(outcome.written)} written,"
        f" {len(outcome.unchanged)} unchanged), dropped {len(outcome.dropped)}, removed {len(outcome.removed)};"
        f" the suite has {outcome.total} tasks"
    )
    upstream = sum(len(rows.rows) for rows in outcome.rows.values())
    if not options.every and outcome.selected < upstream and options.limit is None:
        print_line(f"(a sample: {FIRST_SAMPLE} a dataset unless told otherwise; --all takes all {upstream})")
