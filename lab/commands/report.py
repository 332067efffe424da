"""`lab report`: compare tools by what their runs came to."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.console import markup, out, print_json, warn
from lab.errors import ExitCode, LabError, did_you_mean
from lab.grading.exam import lock_digest
from lab.reporting.rows import Row, make_rows
from lab.reporting.tables import comparison, footer, task_by_tool, to_record
from lab.results import Result, Unreadable, find_results, suites_with_runs
from lab.suites import SUITES
from lab.tasks import read_lock

if TYPE_CHECKING:
    from lab.environment import Environment
    from lab.layout import Root


@dataclasses.dataclass(frozen=True)
class ReportOptions:
    """The options of `lab report`; without a suite, every one that has runs."""

    suite: str | None = None
    tasks: bool = False
    as_json: bool = False


def report(root: Root, _environment: Environment, options: ReportOptions) -> ExitCode:
    """Print a table a suite; PARTLY where a result could not be read. Raises LabError where there are no runs."""
    reports = {name: _rows(root, name) for name in _suites(root, options.suite)}
    reports = {name: found for name, found in reports.items() if found[0] or options.suite}
    unreadable = [one for _, problems in reports.values() for one in problems]
    for problem in unreadable:
        warn(f"{problem.path} {problem.reason}; it is left out")
    if not any(rows for rows, _ in reports.values()):
        raise LabError(f"no result in {root.runs} can be read", "Run lab run reference --suite S")
    if options.as_json:
        records = [
            {"suite": name, "rows": [to_record(row, tasks=options.tasks) for row in rows]}
            for name, (rows, _) in reports.items()
        ]
        print_json(records)
    else:
        for name, (rows, _) in reports.items():
            _print(name, rows, options)
    return ExitCode.PARTLY if unreadable else ExitCode.DONE


def _suites(root: Root, name: str | None) -> list[str]:
    names = suites_with_runs(root)
    if name is None:
        if not names:
            raise LabError(f"there are no runs in {root.runs}", "Run lab run reference --suite starter first")
        return names
    if name in names:
        return [name]
    known = {*names, *SUITES, *(paths.name for paths in root.suites())}
    if name in known:
        raise LabError(f"there are no runs of the suite {name}", f"Run lab run reference --suite {name} first")
    raise LabError(f"there is no suite {name}", did_you_mean(name, known))


def _rows(root: Root, suite: str) -> tuple[list[Row], list[Unreadable]]:
    paths = root.suite(suite)
    lock = {name: lock_digest(entry) for name, entry in read_lock(paths).items()} if paths.lock.exists() else {}
    results, unreadable = [], []
    for found in find_results(root, suite):
        if isinstance(found, Result):
            results.append(found)
        else:
            unreadable.append(found)
    return make_rows(results, lock), unreadable


def _print(suite: str, rows: list[Row], options: ReportOptions) -> None:
    console = out()
    console.print(comparison(suite, rows))
    if options.tasks:
        console.print(task_by_tool(suite, rows))
    for line in footer(rows):
        console.print(markup(line))
