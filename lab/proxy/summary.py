"""What an attempt asked of its model, in figures."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them; None where it did not say, never zero for unknown.

    `prompt` is all that was sent, cached or not; `cached` of it was read from the provider's cache, and `cache_write`
    of it written there. `completion` is all that was made, with `reasoning`, a part of it.
    """

    prompt: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    completion: int | None = None
    reasoning: int | None = None

    def __add__(self, other: Tokens) -> Tokens:
        """The sum, in which what either does not know counts as nothing, and what neither knows is unknown."""
        pairs = zip(self.__struct_fields__, msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Tokens(**{name: _add(mine, theirs) for name, mine, theirs in pairs})


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt's use of its model, or the sum over several."""

    requests: int = 0
    """Questions that went on to the model, whatever became of them; listings and counts of tokens are none."""
    refused: int = 0
    """Requests that the proxy did not let through."""
    other_model: int = 0
    """Questions that named another model, and were sent for the run's."""
    tokens: Tokens = Tokens()
    unknown_tokens: int = 0
    """Requests that went on to the model and whose tokens are not known, such as cut streams: the sums lack them.

    An error in place of an answer used none, which is known.
    """
    cost_usd: float | None = None
    """None where the price of the model or the tokens of a request are unknown."""
    known_cost_usd: float = 0.0
    """Dollars of the requests whose cost is known: all of it where `cost_usd` is not None."""
    ttfb_ms: float | None = None
    """Median time to first byte of the answered requests, milliseconds."""
    model_failure: str | None = None
    """Why the last exchange failed on the model's side, in a line; None where it did not."""


def _add(one: int | None, other: int | None) -> int | None:
    return None if one is None and other is None else (one or 0) + (other or 0)


def total(usages: Iterable[Usage]) -> Usage:
    """The sum over attempts or runs; the time to first byte is the median of theirs, a failure that of the last.

    The sum's cost is unknown where that of one is that asked its model, or where none is known.
    """
    known = list(usages)
    tokens = Tokens()
    for usage in known:
        tokens += usage.tokens
    costs = [usage.cost_usd for usage in known if usage.requests or usage.cost_usd is not None]
    times = [usage.ttfb_ms for usage in known if usage.ttfb_ms is not None]
    return Usage(
        requests=sum(usage.requests for usage in known),
        refused=sum(usage.refused for usage in known),
        other_model=sum(usage.other_model for usage in known),
        tokens=tokens,
        unknown_tokens=sum(usage.unknown_tokens for usage in known),
        cost_usd=None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
        known_cost_usd=sum(usage.known_cost_usd for usage in known),
        ttfb_ms=statistics.median(times) if times else None,
        model_failure=known[-1].model_failure if known else None,
    )
