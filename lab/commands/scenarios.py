"""`lab scenarios`: list tasks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from rich.table import Table

from lab.console import markup, out, print_json
from lab.errors import ExitCode, LabError
from lab.selection import EVERYTHING, Filters, generated_suite, read_tags, select

if TYPE_CHECKING:
    from lab.environment import Environment
    from lab.layout import Root, SuitePaths
    from lab.tasks import Task


@dataclasses.dataclass(frozen=True)
class ScenariosOptions:
    """The options of `lab scenarios`; without a suite, every generated one."""

    suite: str | None = None
    filters: Filters = EVERYTHING
    as_json: bool = False


def scenarios(root: Root, _environment: Environment, options: ScenariosOptions) -> ExitCode:
    """List the selected tasks of one suite, or of all. Raises LabError where there are none."""
    listed = _selected(root, options)
    if options.as_json:
        tags = {task_id: of for paths, _ in listed for task_id, of in read_tags(paths).items()}
        print_json([_record(task, tags.get(task.id, {})) for _, tasks in listed for task in tasks])
        return ExitCode.DONE
    for paths, tasks in listed:
        out().print(_table(paths, tasks))
    return ExitCode.DONE


def _selected(root: Root, options: ScenariosOptions) -> list[tuple[SuitePaths, list[Task]]]:
    if options.suite is not None:
        paths = generated_suite(root, options.suite)
        return [(paths, select(paths, options.filters))]
    suites = root.suites()
    if not suites:
        raise LabError(f"there are no suites in {root.evals}", "Run lab gen --suite starter, or name another --root")
    found, refused = [], []
    for paths in suites:
        try:
            found.append((paths, select(paths, options.filters)))
        except LabError as error:
            # what one suite lacks another may have
            refused.append(error)
    if not found:
        raise refused[0]
    return found


def _table(paths: SuitePaths, tasks: list[Task]) -> Table:
    table = Table(title=markup(f"{paths.name}: {len(tasks)} tasks"), title_justify="left")
    for column in ("task", "upstream id", "dataset", "function"):
        table.add_column(column, overflow="fold")
    table.add_column("hidden cases", justify="right")
    for task in tasks:
        cells = (task.id, task.upstream_id, task.dataset, task.entry_point, str(task.cases or "unproven"))
        table.add_row(*map(markup, cells))
    return table


def _record(task: Task, tags: dict[str, tuple[str, ...]]) -> dict[str, object]:
    return {
        "id": task.id,
        "upstream_id": task.upstream_id,
        "suite": task.suite,
        "dataset": task.dataset,
        "entry_point": task.entry_point,
        "judge": task.judge,
        "cases": task.cases,
        "repairs": list(task.repairs),
        "tags": {space: list(values) for space, values in tags.items()},
    }
