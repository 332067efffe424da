"""The lines of a trace, as docs/traces.md describes them. `n` is the number of the request, from 1, in all of them."""

from __future__ import annotations

import msgspec


class RequestLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of requests.jsonl, written as the request comes."""

    n: int
    started_at: str
    """UTC, ISO 8601 with milliseconds."""
    method: str
    path: str
    """As it was asked for, with its query."""
    headers: dict[str, str]
    """Those that say something of the request; none that holds a key."""
    model_asked: str | None
    other_model: bool
    """Whether it was sent for the run's model, though it named another."""
    refused: str | None
    """Why it was not sent on; None where it was."""
    usage_added: bool = False
    """Whether lab asked for the tokens of a stream, as the tool did not."""
    body: msgspec.Raw = msgspec.Raw(b"null")
    """In full as the tool sent it: JSON where it is JSON, else text."""
    left_out: str | None = None
    """Why the body is not here."""


class UsageLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of usage.jsonl: one for each question that was answered, at its end. None is unknown."""

    n: int
    model: str
    prompt: int | None
    cached: int | None
    cache_write: int | None
    completion: int | None
    reasoning: int | None
    cost_usd: float | None


class LatencyLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of latency.jsonl: one for each request that was sent on, at its end."""

    n: int
    status: int | None
    """Of the provider's answer; None where there was none."""
    ttfb_ms: float | None
    """From sending it on to the first byte of the answer's body."""
    total_ms: float
    bytes: int
    """Of the answer's body."""
    response: str | None
    """The file of the answer, below responses/."""
    error: str | None
    """What went wrong, in a line."""
    model_failure: bool
    """Whether that was the model's side."""
    cut: str | None = None
    """Who ended it before its end: the tool, or lab."""
    left_out: str | None = None
    """Why the file does not hold all of the answer."""
