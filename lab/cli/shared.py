"""What all commands share on the command line: the application, its own options, and how one is called."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

import lab
from lab.cli import options  # noqa: TC001 - typer reads the annotations
from lab.console import print_line
from lab.environment import read_environment
from lab.errors import LabError
from lab.layout import find_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.errors import ExitCode

app = typer.Typer(
    name="lab",
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer calls it so
    if value:
        print_line(f"lab {lab.__version__}")
        raise typer.Exit


@app.callback()
def lab_command(
    context: typer.Context,
    *,
    root: options.Root = None,
    version: Annotated[  # noqa: ARG001 - its callback does it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compare coding agents on public benchmarks, with verdicts that the graded code cannot forge.

    Try this:

    ```
    lab gen --suite starter
    lab run reference --suite starter
    lab report
    ```
    """
    context.obj = root


def do(context: typer.Context, command: Callable[..., ExitCode], root: str | None, record: Any) -> int:
    """Call a command with the root and the environment; `--root` may stand before the command or after it."""
    if sys.platform == "win32":
        raise LabError("lab does not run on Windows itself", "Use WSL (untested): wsl --install, then lab doctor there")
    environment = read_environment()
    return int(command(find_root(root or context.obj, environment.root), environment, record))
