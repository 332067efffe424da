"""`lab tools`: what can be run over tasks."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from rich.table import Table

from lab import __version__
from lab.console import markup, out, print_json
from lab.errors import ExitCode
from lab.running.builtin import SUMMARIES

if TYPE_CHECKING:
    from lab.environment import Environment
    from lab.layout import Root


@dataclasses.dataclass(frozen=True)
class ToolsOptions:
    """The options of `lab tools`."""

    as_json: bool = False


def tools(_root: Root, _environment: Environment, options: ToolsOptions) -> ExitCode:
    """List the tools; the built-ins can always run."""
    rows = [
        {"name": name, "kind": "built-in", "version": __version__, "runs_here": True, "summary": summary}
        for name, summary in SUMMARIES.items()
    ]
    if options.as_json:
        print_json(rows)
        return ExitCode.DONE
    table = Table(title="tools", title_justify="left")
    for column in ("tool", "kind", "version", "runs here", "what it does"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(
            markup(str(row["name"])),
            "built-in",
            __version__,
            "yes" if row["runs_here"] else "no",
            markup(str(row["summary"])),
        )
    out().print(table)
    out().print(markup("Any other program: lab run NAME --command 'program {prompt_file}' --suite S"))
    return ExitCode.DONE
