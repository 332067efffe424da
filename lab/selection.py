"""Which tasks a command works on: the filters that every command shares."""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
from typing import TYPE_CHECKING

from lab.errors import LabError, did_you_mean
from lab.order import natural
from lab.suites import SUITES
from lab.tasks import Task, read_lock, read_task, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from lab.layout import Root, SuitePaths

Tags = dict[str, dict[str, tuple[str, ...]]]
"""Task id to namespace (`bcb.domain`, `lib`) to values."""


@dataclasses.dataclass(frozen=True)
class Filters:
    """What was asked for; an empty field lets everything through."""

    tasks: tuple[str, ...] = ()
    """Globs over task ids and upstream ids."""
    langs: tuple[str, ...] = ()
    """Datasets."""
    categories: tuple[str, ...] = ()
    """Values of any namespace that ends in `domain`; one of them must match, case ignored."""
    tags: tuple[str, ...] = ()
    """Values of any namespace; all must match, case ignored."""
    random_n: int | None = None
    seed: int = 0
    sample_size: int | None = None
    """The first N of what is left, in natural order."""


EVERYTHING = Filters()


def all_tasks(suite: SuitePaths) -> list[Task]:
    """Every task of a generated suite in natural order; raises LabError where there is no suite."""
    return [read_task(suite, task_id) for task_id in sorted(read_lock(suite), key=natural)]


def select(suite: SuitePaths, filters: Filters) -> list[Task]:
    """The tasks that pass every filter, in natural order.

    Raises LabError where nothing matches, saying which values exist.
    """
    tasks = all_tasks(suite)
    if not tasks:
        raise LabError(f"the suite {suite.name} has no tasks", f"Run lab gen --suite {suite.name}")
    tasks = _by_name(tasks, filters.tasks)
    tasks = _by_dataset(tasks, filters.langs)
    if filters.categories or filters.tags:
        tasks = _by_tags(tasks, read_tags(suite), filters)
    if filters.random_n is not None:
        tasks = sorted(tasks, key=lambda task: _draw(filters.seed, task.id))[: filters.random_n]
        tasks.sort(key=lambda task: natural(task.id))
    return tasks[: filters.sample_size]


def generated_suite(root: Root, name: str | None) -> SuitePaths:
    """The suite of that name on disk; raises LabError where it is not there, saying how to get it."""
    generated = {paths.name: paths for paths in root.suites()}
    if name is None:
        raise LabError("--suite is missing", f"There are: {', '.join(generated or SUITES)}")
    if name in generated:
        return generated[name]
    if name in SUITES:
        raise LabError(f"the suite {name} is not in {root.evals}", f"Run lab gen --suite {name} first")
    raise LabError(f"there is no suite {name}", did_you_mean(name, {*generated, *SUITES}))


def find_task(root: Root, name: str, suite: str | None = None) -> tuple[SuitePaths, Task]:
    """The one task of that id, or upstream id, in one suite or in all; raises LabError where it is not exactly one."""
    suites = [generated_suite(root, suite)] if suite else root.suites()
    if not suites:
        raise LabError(f"there are no suites in {root.evals}", "Run lab gen --suite starter, or name another --root")
    known: list[str] = []
    upstream: list[tuple[SuitePaths, Task]] = []
    for paths in suites:
        lock = read_lock(paths)
        if name in lock:
            return paths, read_task(paths, name)
        known += lock
        upstream += [(paths, task) for task in all_tasks(paths) if task.upstream_id == name]
    if not upstream:
        raise LabError(f"there is no task {name}", did_you_mean(name, known))
    if len(upstream) > 1:
        raise LabError(f"{name} is several tasks", f"Name one of {', '.join(task.id for _, task in upstream)}")
    return upstream[0]


def read_tags(suite: SuitePaths) -> Tags:
    """tags.toml: one table a task, one list a namespace. A suite without the file has no tags."""
    if not suite.tags.exists():
        return {}
    tables = read_toml(suite.tags)
    try:
        return {
            task_id: {namespace: tuple(map(str, values)) for namespace, values in table.items()}
            for task_id, table in tables.items()
        }
    except (AttributeError, TypeError) as error:
        raise LabError(f"{suite.tags} does not hold a table of lists a task", "Run lab gen again") from error


def _draw(seed: int, task_id: str) -> bytes:
    """A task's place in the shuffled order: the same on every machine and Python, whatever else is selected."""
    return hashlib.sha256(f"{seed}:{task_id}".encode()).digest()


def _by_name(tasks: list[Task], patterns: Iterable[str]) -> list[Task]:
    chosen: set[str] = set()
    for pattern in patterns:
        hits = {
            t.id for t in tasks if fnmatch.fnmatchcase(t.id, pattern) or fnmatch.fnmatchcase(t.upstream_id, pattern)
        }
        if not hits:
            names = [t.upstream_id if "/" in pattern else t.id for t in tasks]
            raise LabError(f"no task is called {pattern}", did_you_mean(pattern, names))
        chosen |= hits
    return [task for task in tasks if task.id in chosen] if chosen else tasks


def _by_dataset(tasks: list[Task], langs: Iterable[str]) -> list[Task]:
    wanted = set(langs)
    known = {task.dataset for task in tasks}
    for name in sorted(wanted - known):
        raise LabError(f"no task here is of the dataset {name}", did_you_mean(name, known))
    return [task for task in tasks if task.dataset in wanted] if wanted else tasks


def _by_tags(tasks: list[Task], tags: Mapping[str, Mapping[str, tuple[str, ...]]], filters: Filters) -> list[Task]:
    def values(task: Task, *, counts: Callable[[str], bool]) -> set[str]:
        spaces = tags.get(task.id, {})
        return {value.casefold() for space in spaces if counts(space) for value in spaces[space]}

    def is_domain(space: str) -> bool:
        return space.rpartition(".")[2] == "domain"

    def every(_space: str) -> bool:
        return True

    for option, wanted, counts in (("category", filters.categories, is_domain), ("tag", filters.tags, every)):
        known = set[str]().union(*(values(task, counts=counts) for task in tasks))
        for name in wanted:
            if name.casefold() not in known:
                advice = did_you_mean(name.casefold(), known) or f"These tasks have no {option} at all"
                raise LabError(f"no task has the {option} {name}", advice)
    categories = {name.casefold() for name in filters.categories}
    required = {name.casefold() for name in filters.tags}
    left = [
        task
        for task in tasks
        if (not categories or categories & values(task, counts=is_domain)) and required <= values(task, counts=every)
    ]
    if not left:
        raise LabError("no task has all of these categories and tags at once", "Leave one of them out")
    return left
