"""What lab prints: names and texts from disk are shown as text, whatever characters they hold."""

from __future__ import annotations

import json
import sys
import unicodedata

from rich.console import Console
from rich.markup import escape

INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
"""Unicode categories that steer a terminal or hide text: controls, formats (right-to-left marks), surrogates."""


def safe(text: str, *, keep: str = "") -> str:
    """Escape every character that steers a terminal, as Python would write it; those in `keep` stay."""
    return "".join(
        c if c in keep or unicodedata.category(c) not in INVISIBLE else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def markup(text: str) -> str:
    """One line of text made fit for rich: no control characters, and square brackets mean themselves."""
    return escape(safe(text))


def out() -> Console:
    """A console on today's standard output. Piped output is as wide as its tables need to be."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=False, emoji=False)
    if not console.is_terminal:
        console.width = 240
    return console


def err() -> Console:
    """A console on standard error, for progress and warnings."""
    return Console(file=sys.stderr, highlight=False, soft_wrap=True, emoji=False)


def warn(line: str) -> None:
    """One line on standard error that does not stop the work."""
    sys.stderr.write(f"lab: {safe(line)}\n")


def print_json(value: object) -> None:
    """One JSON value on standard output, on one line; ASCII, so that no character in it can steer a terminal."""
    sys.stdout.write(json.dumps(value) + "\n")


def print_line(line: str) -> None:
    """One line of plain text on standard output."""
    sys.stdout.write(safe(line) + "\n")
