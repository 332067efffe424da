"""What an author writes for one problem."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from starter.draw import Draw

Arguments = list[Any]
"""The arguments of one call, in order."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """One problem: a reference whose source becomes the row, and where its hidden cases come from.

    References must not depend on the Python version: no `sum` of floats (compensated since 3.12), no set order.
    """

    reference: Callable[..., Any]
    edges: list[Arguments]
    """Calls chosen by hand: the visible examples first, then what a sloppy solution gets wrong."""
    draw: Callable[[Draw], Arguments]
    """Makes the arguments of one more call."""
    helpers: tuple[Callable[..., Any], ...] = ()
    """Functions the reference calls; they stand before it in the row."""
    imports: tuple[str, ...] = ()
    """Import statements the reference needs."""


@dataclasses.dataclass(frozen=True)
class Prose(Recipe):
    """A problem told in prose beside its code, as MBPP tells it."""

    _: dataclasses.KW_ONLY
    prompt: str
    examples: int = 3
    """How many of the first edges are shown as `test_list`."""
