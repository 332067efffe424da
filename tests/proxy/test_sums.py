"""What an attempt's figures count, and what they say where not all of it is known."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import requests

from lab.apis import Api
from lab.proxy.ledger import Ledger
from lab.proxy.prices import Price, Prices
from lab.proxy.summary import Tokens, Usage, total
from tests.proxy.attempt import MODEL, PATIENCE_S, attempt, closed_port, session
from tests.support.model_server import DONE, Drop, Fail, Raw, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_server import Chosen

PRICES = Prices(
    {MODEL: Price(input=2, output=8, cached=0.5, source="here", date=datetime(2026, 1, 1, tzinfo=UTC).date())}
)
ONE = (80 * 2 + 20 * 0.5 + 10 * 8) / 1_000_000
"""Dollars for the usual reply."""
LONG = Reply("z" * 200)


@pytest.mark.parametrize(
    ("step", "unknown"),
    [
        pytest.param(DONE, 0, id="answered"),
        pytest.param(Reply("done", tokens=None), 1, id="answered without a word of tokens"),
        pytest.param(Drop(LONG, pieces=3), 1, id="cut in the midst"),
        pytest.param(Drop(LONG, pieces=0), 1, id="cut before the answer"),
        pytest.param(Raw(b"", "text/event-stream", headers={"Content-Length": "9"}), 1, id="cut after the head"),
        # an error in place of an answer is not billed
        *(pytest.param(Fail(status), 0, id=str(status)) for status in (400, 401, 404, 429, 500, 529)),
        pytest.param(Raw(b"", status=307, headers={"Location": "/"}), 0, id="sent elsewhere"),
    ],
)
def test_what_a_question_used_is_unknown_unless_it_was_said_or_it_was_not_answered(
    tmp_path: Path, step: Chosen, unknown: int
) -> None:
    with attempt(tmp_path, script=[DONE], always=step, prices=PRICES) as asking:
        asking.ask(stream=True)
        with contextlib.suppress(requests.RequestException):
            asking.ask(stream=True)
        usage = asking.usage()
    assert (usage.requests, usage.unknown_tokens) == (2, unknown)
    assert usage.known_cost_usd == pytest.approx(2 * ONE if step is DONE else ONE)
    assert usage.cost_usd == (None if unknown else usage.known_cost_usd)
    assert [line["cost_usd"] for line in asking.lines("usage")][1:] == ([None] if unknown else [ONE] * (step is DONE))


def test_a_question_that_reached_nobody_used_nothing(tmp_path: Path) -> None:
    with attempt(tmp_path, upstream=f"http://127.0.0.1:{closed_port()}", prices=PRICES) as asking:
        assert asking.ask().status_code == 502
        usage = asking.usage()
    assert (usage.requests, usage.unknown_tokens, usage.cost_usd) == (1, 0, 0)


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/v1/models/other"), ("GET", "/v1/models"), ("POST", "/v1/messages/count_tokens")]
)
def test_a_listing_or_a_count_is_no_request_to_the_model(tmp_path: Path, method: str, path: str) -> None:
    with attempt(tmp_path, Api.ANTHROPIC, prices=PRICES) as asking, session() as tool:
        body = b'{"model":"other","messages":[]}' if method == "POST" else None
        url = asking.tap.base_url + path
        assert tool.request(method, url, data=body, headers=asking.shown_key, timeout=PATIENCE_S).status_code == 200
        assert asking.usage() == Usage(cost_usd=0)
    assert len(asking.lines("requests")) == len(asking.lines("latency")) == 1


KNOWN = Usage(requests=2, tokens=Tokens(prompt=5, completion=1), cost_usd=0.5, known_cost_usd=0.5)
PARTLY = Usage(requests=3, tokens=Tokens(prompt=7), unknown_tokens=2, cost_usd=None, known_cost_usd=0.25)
UNPRICED = Usage(requests=1, tokens=Tokens(prompt=1, completion=1))
IDLE = Usage(cost_usd=0.0)
"""A model that has a price, and was asked nothing."""


@pytest.mark.parametrize(
    ("usages", "cost", "known", "unknown_tokens"),
    [
        ([], None, 0, 0),
        ([Usage()], None, 0, 0),
        ([IDLE], 0, 0, 0),
        ([IDLE, Usage()], 0, 0, 0),
        ([KNOWN, IDLE], 0.5, 0.5, 0),
        ([KNOWN, Usage()], 0.5, 0.5, 0),
        ([KNOWN, KNOWN], 1, 1, 0),
        ([KNOWN, PARTLY, PARTLY], None, 1, 4),
        ([UNPRICED, KNOWN], None, 0.5, 0),
    ],
)
def test_a_sum_says_what_is_known_of_it(
    usages: list[Usage], cost: float | None, known: float, unknown_tokens: int
) -> None:
    summed = total(usages)
    assert (summed.cost_usd, summed.known_cost_usd, summed.unknown_tokens) == (cost, known, unknown_tokens)
    assert total([summed]) == summed


@pytest.mark.parametrize("priced", [True, False])
def test_nothing_asked_costs_the_same_by_the_ledger_and_by_the_sum(priced: bool) -> None:
    usage = Ledger(priced=priced).usage()
    assert total([usage]) == usage
    assert usage.cost_usd == (0 if priced else None)
