"""What the readers of samples give, whatever the samples lie in."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SAMPLE_BYTES = 16 << 20
"""Of one line or file. Far over what is graded: a large solution gets a verdict, a huge line is not a sample."""


@dataclasses.dataclass(frozen=True)
class Sample:
    """One recorded solution. `source` is a whole file, or, with `continues`, what follows the prompt."""

    place: int
    """Where its samples find it again."""
    line: int | None
    """1-based; None in a folder."""
    task: str
    """lab's id or upstream's."""
    source: bytes
    where: str
    """`line 3`, for what is said of it."""
    continues: bool = False
    model: str | None = None

    def bad(self, reason: str) -> BadLine:
        """What is left of it where its task cannot take it."""
        return BadLine(self.line, self.where, reason)


@dataclasses.dataclass(frozen=True)
class BadLine:
    """A line, or a file of a folder, that holds no sample: `line 3`, and why not."""

    line: int | None
    where: str
    reason: str

    def __str__(self) -> str:
        return f"{self.where} {self.reason}"


class Samples(Protocol):
    """Samples that lie on disk. Reading never holds more than one of them."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def __iter__(self) -> Iterator[Sample | BadLine]:
        """Every sample in order; what cannot be read is given as such and does not stop the rest.

        Raises LabError where reading itself fails.
        """
        ...

    def again(self, place: int) -> Sample | BadLine:
        """One sample once more, its line unknown. What stands there may have changed meanwhile."""
        ...

    def sha256(self) -> str:
        """The identity of all of it; raises LabError where it cannot be read."""
        ...
