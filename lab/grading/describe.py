"""A verdict as the one line that check.sh prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.grading.show import printable

if TYPE_CHECKING:
    from lab.verdict import Verdict

MAX_LINE_CHARS = 600


def one_line(verdict: Verdict, *, oracle: bool = False) -> str:
    """`wrong humanevalplus-0: case 3 of 812: ([1.0], 0.5) returned True`; the expected value only with `oracle`."""
    case = "" if verdict.failed_case is None else f"case {verdict.failed_case + 1} of {verdict.cases_total}: "
    expected = f" (expected {verdict.expected})" if oracle and verdict.expected is not None else ""
    return printable(f"{verdict.status} {verdict.task}: {case}{verdict.reason}{expected}", MAX_LINE_CHARS)
