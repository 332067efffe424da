"""The one error class for what a user can mend, and the exit codes that scripts rely on."""

from __future__ import annotations

import enum


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
