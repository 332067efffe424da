"""What a run may cost, and what it has cost so far."""

from __future__ import annotations

import dataclasses
import re
import threading
from typing import TYPE_CHECKING, Literal

from lab.errors import LabError
from lab.proxy.summary import Usage, total

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FORM = re.compile(r"\$?(?P<number>\d{1,12}(\.\d{1,6})?)\s*(?P<unit>usd|tokens|ktokens|mtokens)?", re.IGNORECASE)
MAX_BLIND = 10
TOKENS = {"tokens": 1, "ktokens": 1_000, "mtokens": 1_000_000}


@dataclasses.dataclass(frozen=True)
class Budget:
    """US dollars, or tokens of prompts and completions together."""

    amount: float
    unit: Literal["usd", "tokens"]

    def __str__(self) -> str:
        return f"${self.amount:,.2f}" if self.unit == "usd" else f"{self.amount:,.0f} tokens"


def parse_budget(text: str) -> Budget:
    """`5`, `$2.50` and `5usd` are dollars; `200000tokens`, `200ktokens` and `2mtokens` are tokens. Raises LabError."""
    match = FORM.fullmatch(text.strip())
    if match is None or float(match["number"]) == 0:
        raise LabError(f"--budget {text!r} is no amount", "Write dollars like 5 or $2.50, or tokens like 200ktokens")
    unit, number = (match["unit"] or "usd").lower(), float(match["number"])
    if unit == "usd":
        return Budget(number, "usd")
    if "$" in text:
        raise LabError(
            f"--budget {text!r} is dollars and tokens", "Write dollars like $2.50, or tokens like 200ktokens"
        )
    return Budget(number * TOKENS[unit], "tokens")


class Spending:
    """What the selected runs have cost: earlier goes at them by their results, and this go as it is made.

    A request whose tokens are unknown (its stream was cut) counts as much as the known ones do on average; where
    there is none to go by, MAX_BLIND of them are let pass.
    """

    def __init__(self, budget: Budget | None, live: Callable[[], Usage]) -> None:
        """`live` gives what this go has asked of the model so far; it is called from any thread."""
        self.budget = budget
        self._live = live
        self._earlier: list[Usage] = []
        self._lock = threading.Lock()

    def add_earlier(self, usages: Iterable[Usage]) -> None:
        """Count what was asked in an earlier go."""
        with self._lock:
            self._earlier += usages

    def usage(self) -> Usage:
        """All of it."""
        with self._lock:
            return total([*self._earlier, self._live()])

    @property
    def is_over(self) -> bool:
        """Whether nothing more may be started."""
        if self.budget is None:
            return False
        usage = self.usage()
        known = usage.requests - usage.unknown_tokens
        if not known:
            return usage.requests >= MAX_BLIND
        tokens = (usage.tokens.prompt or 0) + (usage.tokens.completion or 0)
        spent = tokens if self.budget.unit == "tokens" else usage.known_cost_usd
        return spent * usage.requests / known >= self.budget.amount

    @property
    def why_over(self) -> str:
        """What to say where it is over."""
        usage = self.usage()
        if usage.requests == usage.unknown_tokens:
            return "the provider does not say how many tokens are used, so no budget can be kept: leave out --budget"
        return f"the budget of {self.budget} is spent; raise --budget to go on"
