"""The command line: options and help only. Each command calls the function of its name in lab.commands."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from lab.cli import task_commands, tool_commands
from lab.cli.shared import app
from lab.error_handler import guard

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["app", "main", "task_commands", "tool_commands"]


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script: run one command and give its exit code. Nothing is raised."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal that knows fewer characters gets escapes, not an error
            stream.reconfigure(errors="backslashreplace")
    return guard(lambda: app(given or ["--help"], prog_name="lab", standalone_mode=False))
