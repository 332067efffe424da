"""From what a user calls a run to its folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError, did_you_mean
from lab.layout import NAME
from lab.results import FILE_NAME, Result, read_result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.layout import Root

RUN_ID = re.compile(r"[0-9a-f]{1,12}(-[0-9]{0,9})?")
MAX_SHOWN = 5


def find_run(root: Root, name: str, suite: str | None = None) -> Path:
    """The folder of a run: by its path, by TOOL/TASK (the latest), or by a run-id's beginning.

    Raises LabError where there is none, or more than one.
    """
    path = Path(name)
    if path.name == FILE_NAME and path.is_file():
        return path.parent
    if (path / FILE_NAME).is_file():
        return path
    suites = "*" if suite is None else root.suite(suite).name
    tool, slash, task = name.partition("/")
    if slash and NAME.fullmatch(tool):
        return _latest(root, suites, tool, task)
    if RUN_ID.fullmatch(name):
        found = [result.parent for result in root.runs.glob(f"{suites}/*/*/{name}*/{FILE_NAME}")]
        exact = [folder for folder in found if folder.name == name]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if found:
            shown = ", ".join(_shown(root, found[:MAX_SHOWN])) + (", ..." if len(found) > MAX_SHOWN else "")
            raise LabError(f"{len(found)} runs begin with {name}: {shown}", "Name the path of one")
    elif path.is_dir():
        raise LabError(f"{name} is not the folder of a run: it has no {FILE_NAME}", "Name one that has")
    raise LabError(f"there is no run {name!r} in {root.runs}", "Name a run's folder, its id, or TOOL/TASK")


def _latest(root: Root, suites: str, tool: str, task: str) -> Path:
    """The run that was started last, of a tool on a task; the task by its id or upstream's."""
    files = list(root.runs.glob(f"{suites}/{tool}/*/*/{FILE_NAME}"))
    found = [(result, file) for file in files if isinstance(result := read_result(file), Result)]
    ofs = [(result, file) for result, file in found if task in _names(result)]
    if not ofs:
        if not files:
            tools = {folder.name for folder in root.runs.glob(f"{suites}/*/") if folder.is_dir()}
            raise LabError(f"there are no runs of {tool!r} in {root.runs}", did_you_mean(tool, tools))
        tasks = {name for result, _ in found for name in _names(result)}
        raise LabError(f"there is no run of {tool} on {task!r}", did_you_mean(task, tasks))
    return max(ofs, key=lambda one: (one[0].started_at, one[1].stat().st_mtime_ns))[1].parent


def _names(result: Result) -> set[str]:
    return {result.task} | ({result.verdict.upstream_id} if result.verdict else set())


def _shown(root: Root, folders: Iterable[Path]) -> list[str]:
    return [str(folder.relative_to(root.runs)) for folder in sorted(folders)]
