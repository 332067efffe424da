"""What was measured, each figure beside its bar, as a Markdown table."""

from __future__ import annotations

import dataclasses
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = ("what", "lab", "beside", "ratio", "bar", "met")


@dataclasses.dataclass(frozen=True)
class Figure:
    """Measurements of lab, one a round, beside those of something else in the same rounds.

    Where `beside` is named the bar is for the ratio of the medians, else for the median itself.
    """

    what: str
    unit: str
    lab: tuple[float, ...]
    bar: float
    beside: str = ""
    theirs: tuple[float, ...] = ()
    """Empty where the other side was not run."""

    @property
    def value(self) -> float | None:
        """What the bar is for; None where the other side is missing, or too short for the clock it has."""
        ours = statistics.median(self.lab)
        if not self.beside:
            return ours
        theirs = statistics.median(self.theirs) if self.theirs else 0.0
        return ours / theirs if theirs else None

    @property
    def met(self) -> bool | None:
        """Whether the bar holds; None where that was not measured."""
        return None if self.value is None else self.value <= self.bar

    def cells(self) -> tuple[str, ...]:
        """The figure as a row under HEAD."""
        value, met = self.value, {True: "yes", False: "NO", None: "not measured"}[self.met]
        if not self.beside:
            return self.what, self._shown(self.lab), "", "", f"{self.bar:g} {self.unit}", met
        theirs = f"{self.beside}: {self._shown(self.theirs)}" if self.theirs else self.beside
        ratio = "" if value is None else f"{value:.2f}"
        return self.what, self._shown(self.lab), theirs, ratio, f"{self.bar:g}", met

    def _shown(self, values: Sequence[float]) -> str:
        median = f"{_number(statistics.median(values))} {self.unit}"
        return median if len(values) == 1 else f"{median} ({', '.join(map(_number, values))})"


def table(figures: Sequence[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = [HEAD, ("---",) * len(HEAD), *(figure.cells() for figure in figures)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _number(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
