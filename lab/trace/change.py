"""What a tool made of the stub."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 1 << 20
MAX_LINES = 20_000


class NoChange(Exception):
    """There is no difference to be shown; the message says why, in words for one line."""


def change(stub: Path, solution: Path) -> str:
    """The unified diff from the stub to what was left. Raises NoChange."""
    before, after = _lines(stub, "the stub"), _lines(solution, "solution.py")
    if before == after:
        raise NoChange("solution.py is the stub as it was")
    return "\n".join(difflib.unified_diff(before, after, "stub/solution.py", "left/solution.py", lineterm=""))


def _lines(path: Path, what: str) -> list[str]:
    try:
        lines = read_regular(path, MAX_BYTES).decode("utf-8", "replace").split("\n")
    except FileNotFoundError:
        raise NoChange(f"{what} is not there") from None
    except (NotRegularFile, OSError) as error:
        raise NoChange(f"{what} cannot be read: it {error}") from error
    if len(lines) > MAX_LINES:  # finding a difference takes long where there are many
        raise NoChange(f"{what} has {len(lines)} lines: compare {path} by other means")
    return lines
