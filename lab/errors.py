"""The one error class for what a user can mend, and the exit codes that scripts rely on."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NAMES_SHOWN = 12


class ExitCode(enum.IntEnum):
    """Exit codes of every `lab` command; `check.sh` and `lab check` share the numbers."""

    DONE = 0
    PARTLY = 1
    """Done, but not all of it (dropped problems, infra); for a check: not passed."""
    NOTHING_DONE = 2
    """Usage, input or environment; for a check: could not be graded."""
    BUG = 3
    INTERRUPTED = 130


class LabError(Exception):
    """What happened, where, and what to do about it: printed as one line, then exit code 2.

    `what` says what happened and where; `fix` says what the user can do.
    """

    def __init__(self, what: str, fix: str = "") -> None:
        self.what = what
        self.fix = fix
        super().__init__(f"{what}. {fix}" if fix else what)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Advice for a name that does not exist: the nearest known ones, else all of them (at most twelve)."""
    import difflib  # noqa: PLC0415 - errors only; a check.sh must start fast

    names = sorted(known)
    if near := difflib.get_close_matches(word, names, n=3, cutoff=0.6):
        return f"Did you mean {' or '.join(near)}?"
    if not names:
        return ""
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return f"There are: {', '.join(names[:MAX_NAMES_SHOWN])}{more}"
