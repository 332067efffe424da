"""`lab tools`: what can be run over tasks, and what of it is on this machine."""

from __future__ import annotations

import dataclasses
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rich.table import Table

from lab import __version__
from lab.console import markup, out, print_json
from lab.errors import ExitCode, LabError
from lab.tools.built_in import SUMMARIES
from lab.tools.presence import find_for_sandbox
from lab.tools.registry import survey

if TYPE_CHECKING:
    from lab.environment import Environment
    from lab.layout import Root
    from lab.tools.adapter import Adapter
    from lab.tools.presence import Presence


@dataclasses.dataclass(frozen=True)
class ToolsOptions:
    """The options of `lab tools`."""

    as_json: bool = False


@dataclasses.dataclass(frozen=True)
class Row:
    """One tool, as `--json` prints it."""

    name: str
    kind: str
    """`built-in` or `adapter`."""
    summary: str = ""
    api: str | None = None
    version: str | None = None
    runs_here: bool = False
    why_not: str | None = None
    executable: str | None = None
    paths: tuple[str, ...] = ()
    """What its sandbox shows beyond the system's folders."""
    install: str = ""
    home: str = ""
    limits: tuple[str, ...] = ()
    adapter_sha256: str | None = None
    source: str | None = None


def tools(root: Root, environment: Environment, options: ToolsOptions) -> ExitCode:
    """List the tools. An adapter that cannot be read is a line of its own, and does not hide the others."""
    rows = [
        Row(name, "built-in", summary=summary, version=__version__, runs_here=True)
        for name, summary in SUMMARIES.items()
    ]
    found = survey(root)
    # each asks its program for a version: seconds, most of them waiting for the disk
    with ThreadPoolExecutor(max_workers=environment.jobs) as pool:
        rows += pool.map(functools.partial(_row, root), found, found.values())
    if options.as_json:
        print_json([dataclasses.asdict(row) for row in rows])
    else:
        _print(rows, root)
    return ExitCode.DONE


def _row(root: Root, name: str, adapter: Adapter | LabError) -> Row:
    if isinstance(adapter, LabError):
        return Row(name, "adapter", why_not=str(adapter))
    return _found(adapter, find_for_sandbox(adapter, root.folder))


def _found(adapter: Adapter, presence: Presence) -> Row:
    return Row(
        adapter.name,
        "adapter",
        summary=adapter.summary,
        api=adapter.api,
        version=presence.version,
        runs_here=presence.why_not is None,
        why_not=presence.why_not,
        executable=None if presence.executable is None else str(presence.executable),
        paths=tuple(map(str, presence.paths)),
        install=adapter.install,
        home=adapter.home,
        limits=adapter.limits,
        adapter_sha256=adapter.sha256,
        source=str(adapter.source),
    )


def _print(rows: list[Row], root: Root) -> None:
    table = Table(title="tools", title_justify="left")
    for column in ("tool", "API", "version", "runs here", "what it does"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(markup, (row.name, _api(row), row.version or "", _runs(row), row.summary)))
    out().print(table)
    missing = [f"{row.name}: {row.install}" for row in rows if row.executable is None and row.install]
    unread = [f"{row.name}: {row.why_not}" for row in rows if row.kind == "adapter" and row.source is None]
    for title, lines in (("To install what is missing:", missing), ("Adapters that cannot be read:", unread)):
        if lines:
            out().print(title)
        for line in lines:
            out().print(markup(f"  {line}"), soft_wrap=True)
    out().print(
        markup(f"Your own: an adapter in {root.tools}, or any program: lab run NAME --command 'program ...'"),
        soft_wrap=True,
    )


def _api(row: Row) -> str:
    if row.kind == "built-in":
        return row.kind
    # of an adapter that cannot be read it is not known
    return row.api or ("none" if row.source else "")


def _runs(row: Row) -> str:
    if row.runs_here:
        return "yes"
    # what is wrong with a file is long, and to be copied: it comes below the table
    return f"no: {row.why_not if row.source else 'its adapter cannot be read'}"
