"""What a request costs, and what a table of prices may say."""

from __future__ import annotations

import re
import tomllib
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING

import pytest

import lab.proxy
from lab.apis import Api
from lab.errors import LabError
from lab.layout import Root
from lab.proxy.prices import Price, Prices, load_prices
from lab.proxy.summary import Tokens
from tests.proxy.attempt import MODEL, attempt, wait_for
from tests.proxy.attempt import question as ask_for
from tests.support.model_server import DONE, Drop, Fail, Reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.model_server import Chosen

ENTRY = """
["the-model"]
input = 2
output = 8.0
cached = 0.5
cache_write = 2.5
cache_write_1h = 4
up_to = 1000
source = "https://provider.example/pricing"
date = 2026-11-30
"""


def prices(tmp_path: Path, text: str = ENTRY) -> Prices:
    (tmp_path / "prices.toml").write_text(text, "utf-8")
    return load_prices(Root(tmp_path))


@pytest.mark.parametrize(
    ("model", "tokens", "hour_writes", "micro_dollars"),
    [
        (MODEL, Tokens(prompt=100, completion=10), 0, 280),
        (MODEL, Tokens(prompt=100, completion=10, cached=40), 0, 120 + 20 + 80),
        (MODEL, Tokens(prompt=100, completion=10, cached=40, cache_write=20), 0, 80 + 20 + 50 + 80),
        (MODEL, Tokens(prompt=100, completion=10, cached=40, cache_write=20), 8, 80 + 20 + 30 + 32 + 80),
        (MODEL, Tokens(prompt=100, completion=10, reasoning=9), 0, 280),
        (MODEL, Tokens(prompt=0, completion=0), 0, 0),
        (MODEL, Tokens(prompt=1000, completion=0), 0, 2000),
        (MODEL, Tokens(prompt=1001, completion=0), 0, None),
        (MODEL, Tokens(prompt=100), 0, None),
        (MODEL, Tokens(completion=10), 0, None),
        (MODEL, Tokens(), 0, None),
        ("the-model-2026", Tokens(prompt=100, completion=10), 0, None),
        ("THE-MODEL", Tokens(prompt=100, completion=10), 0, None),
    ],
)
def test_the_cost_of_a_request(
    tmp_path: Path, model: str, tokens: Tokens, hour_writes: int, micro_dollars: int | None
) -> None:
    cost = prices(tmp_path).cost(model, tokens, hour_writes)
    assert cost == (None if micro_dollars is None else pytest.approx(micro_dollars / 1_000_000))


@pytest.mark.parametrize("missing", ["cached", "cache_write"])
def test_a_price_that_is_missing_makes_unknown_what_needs_it(tmp_path: Path, missing: str) -> None:
    table = prices(tmp_path, re.sub(rf"(?m)^{missing} = .*\n", "", ENTRY))
    assert table.cost(MODEL, Tokens(prompt=100, completion=10)) == pytest.approx(0.00028)
    assert table.cost(MODEL, Tokens(prompt=100, completion=10, **{missing: 1})) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\n[x", r"prices\.toml is not TOML: .*Correct that line"),
        (ENTRY.replace("output = 8.0\n", ""), r"prices\.toml:2: the price of 'the-model' is wrong: .*output"),
        (ENTRY + "inptu = 3\n", r"prices\.toml:2: .*inptu"),
        (ENTRY.replace("input = 2", 'input = "2"'), r"prices\.toml:2: .*float"),
        (ENTRY.replace("input = 2", "input = -2"), r"prices\.toml:2: .*input is -2"),
        (ENTRY.replace("input = 2", "input = nan"), r"prices\.toml:2: .*no price"),
        (ENTRY.replace("2026-11-30", '"yesterday"'), r"prices\.toml:2: .*date"),
        (re.sub("source.*\n", "", ENTRY), r"prices\.toml:2: .*source"),
        ("input = 3\n", r"the price of 'input' is wrong"),
        ("x = " + "[" * 30_000, r"prices\.toml is no table of prices: RecursionError"),
        ("x = " + "9" * 5_000, r"prices\.toml is no table of prices: ValueError"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(LabError, match=says):
        prices(tmp_path, text)


def test_a_table_that_is_no_file_of_text(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(LabError, match="not UTF-8"):
        load_prices(Root(tmp_path))
    path.unlink()
    path.mkdir()
    with pytest.raises(LabError, match="not a regular file"):
        load_prices(Root(tmp_path))


def test_the_users_prices_go_before_the_shipped(tmp_path: Path) -> None:
    shipped = load_prices(Root(tmp_path)).table
    model = next(iter(shipped))
    own = prices(tmp_path, ENTRY.replace("the-model", model)).table
    assert own[model].input == 2
    assert own.keys() == shipped.keys()


def test_the_shipped_prices_say_where_they_are_from() -> None:
    text = resources.files(lab.proxy).joinpath("prices.toml").read_text("utf-8")
    for model, entry in tomllib.loads(text).items():
        assert entry["source"].startswith("https://"), model
        assert 0 < entry.get("cached", entry["input"]) <= entry["input"] < entry["output"], model


PRICE = Price(input=2, output=8, cached=0.5, source="here", date=datetime(2026, 1, 1, tzinfo=UTC).date())


def test_the_cost_of_an_attempt_is_known_as_long_as_all_of_it_is(tmp_path: Path) -> None:
    table = Prices({MODEL: PRICE})
    script: list[Chosen] = [DONE, Fail(503), Reply("done", tokens=None)]
    one = (80 * 2 + 20 * 0.5 + 10 * 8) / 1_000_000
    with attempt(tmp_path, script=script, prices=table) as asking:
        assert asking.tap.usage().cost_usd == 0
        seen = []
        for number, _ in enumerate(script, 1):
            asking.ask(ask_for(Api.OPENAI_CHAT, model="other"))
            wait_for(lambda: len(asking.lines("latency")) == number)  # noqa: B023 - waited for at once
            seen.append(asking.tap.usage().cost_usd)
        assert asking.proxy.total().cost_usd is None
    assert seen == [pytest.approx(one), pytest.approx(one), None]
    assert [line["cost_usd"] for line in asking.lines("usage")] == [pytest.approx(one), None]
    assert asking.lines("usage")[0]["model"] == MODEL


def test_a_stream_that_was_cut_off_has_an_unknown_cost(tmp_path: Path) -> None:
    with attempt(tmp_path, Api.ANTHROPIC, [Drop(DONE, pieces=2)], prices=Prices({MODEL: PRICE})) as asking:
        with pytest.raises(OSError, match=r"rematurely|roken|ncomplete"):
            asking.ask(stream=True)
        usage = asking.usage()
    assert (usage.cost_usd, usage.tokens.prompt, usage.tokens.completion, usage.unknown_tokens) == (None, 100, None, 1)


def test_a_model_without_a_price_has_no_cost(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking:
        assert asking.tap.usage().cost_usd is None
