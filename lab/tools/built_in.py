"""The tools that lab brings itself: their names, which no adapter may have, and what each does."""

from __future__ import annotations

import enum


class BuiltIn(enum.StrEnum):
    """Every built-in tool, by its name."""

    REFERENCE = "reference"
    STUB = "stub"
    REPLAY = "replay"
    MODEL = "model"


SUMMARIES = {
    BuiltIn.REFERENCE: "the known-good solution of every task: shows that grading works here",
    BuiltIn.STUB: "the untouched solution.py: what doing nothing scores",
    BuiltIn.REPLAY: "solutions recorded elsewhere, from --samples FILE: one independent run each",
    BuiltIn.MODEL: "one question a task to the model at LAB_BASE_URL, or a small one here with --local",
}
COMMAND = "command"
"""What a command line is called that was given no name."""
TAKEN = (*BuiltIn, COMMAND)
"""Names that mean something else to `lab run` than an adapter."""
