"""Adds up exchanges, of one attempt or of a whole run, for whoever asks from any thread."""

from __future__ import annotations

import dataclasses
import statistics
import threading

from lab.proxy.routes import Kind
from lab.proxy.summary import Tokens, Usage

NO_TOKENS = Tokens()


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a request that was sent on."""

    kind: Kind
    worked: bool = False
    """Whether the model may have worked on it: not where nobody was reached, or an error came in place of an answer."""
    tokens: Tokens = NO_TOKENS
    cost_usd: float | None = None
    ttfb_ms: float | None = None
    """To the first byte of an answer, not of an error."""
    model_failure: str | None = None
    cut: bool = False
    """Ended by the tool or by lab before its end: that says nothing of the model."""


class Ledger:
    """The sums. `priced` says whether the model has a price: then nothing asked costs nothing."""

    def __init__(self, *, priced: bool) -> None:
        self._lock = threading.Lock()
        self._requests = 0
        self._refused = 0
        self._other_model = 0
        self._tokens = Tokens()
        self._unknown_tokens = 0
        self._cost_usd: float | None = 0.0 if priced else None
        self._known_cost_usd = 0.0
        self._ttfb_ms: list[float] = []
        self._model_failure: str | None = None
        self._asked = False

    def refuse(self) -> None:
        with self._lock:
            self._refused += 1

    def send(self, kind: Kind, *, other_model: bool) -> None:
        """A request goes on. Only questions are counted, for nothing else is asked of the model."""
        if kind is not Kind.ASK:
            return
        with self._lock:
            self._requests += 1
            self._other_model += other_model

    def end(self, outcome: Outcome) -> None:
        """A request that was sent on has come to its end."""
        with self._lock:
            self._judge(outcome)
            if outcome.kind is not Kind.ASK or not outcome.worked:
                return
            self._tokens += outcome.tokens
            self._unknown_tokens += None in {outcome.tokens.prompt, outcome.tokens.completion}
            known = None not in {self._cost_usd, outcome.cost_usd}
            self._cost_usd = (self._cost_usd or 0.0) + (outcome.cost_usd or 0.0) if known else None
            self._known_cost_usd += outcome.cost_usd or 0.0
            if outcome.ttfb_ms is not None:
                self._ttfb_ms.append(outcome.ttfb_ms)

    def usage(self) -> Usage:
        with self._lock:
            return Usage(
                requests=self._requests,
                refused=self._refused,
                other_model=self._other_model,
                tokens=self._tokens,
                unknown_tokens=self._unknown_tokens,
                cost_usd=self._cost_usd,
                known_cost_usd=self._known_cost_usd,
                ttfb_ms=round(statistics.median(self._ttfb_ms), 3) if self._ttfb_ms else None,
                model_failure=self._model_failure,
            )

    def _judge(self, outcome: Outcome) -> None:
        """Let the last exchange decide. A listing counts only as long as no question has been asked at all."""
        if outcome.cut or (self._asked and outcome.kind is not Kind.ASK):
            return
        self._asked |= outcome.kind is Kind.ASK
        self._model_failure = outcome.model_failure
