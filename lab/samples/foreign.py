"""Samples of tasks that a suite does not have, as the one line that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.order import natural

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_NAMES_SHOWN = 5
MAX_NAME_CHARS = 100


def foreign_line(counts: Mapping[str, int], suite: str, samples: int) -> str:
    """`counts` are samples by the name given; they may leave some of the `samples` out."""
    # a name is whatever a line says
    names = sorted({name[:MAX_NAME_CHARS] for name in counts}, key=natural)
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    return f"{samples} samples are of tasks that {suite} does not have: {', '.join(names[:MAX_NAMES_SHOWN])}{more}"
