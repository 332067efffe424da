"""Random choices that come out the same on every Python: built on `Random.random` alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


class Draw:
    """Choices from a named seed.

    Of the `random` module only `random()` under the same seed is promised to stay as it is between versions
    (see "Notes on Reproducibility" in its documentation), so nothing else of it is used.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, share: float) -> bool:
        """True in `share` of the calls, from 0 to 1."""
        return self._random() < share

    def integer(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included; at most 2**53 of them."""
        return low + int(self._random() * (high - low + 1))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def many(self, low: int, high: int, make: Callable[[], T]) -> list[T]:
        """From `low` to `high` values of `make`."""
        return [make() for _ in range(self.integer(low, high))]

    def text(self, alphabet: str, low: int, high: int) -> str:
        """From `low` to `high` characters of `alphabet`."""
        return "".join(self.many(low, high, lambda: self.pick(alphabet)))

    def shuffled(self, values: Sequence[T]) -> list[T]:
        rest = list(values)
        return [rest.pop(self.integer(0, len(rest) - 1)) for _ in values]
