"""What tokens cost: the table that lab ships, and the user's own over it. What is not in it has no price."""

from __future__ import annotations

import dataclasses
import datetime as dt  # noqa: TC003 - msgspec reads the annotation as it runs
import math
import tomllib
from importlib import resources
from typing import TYPE_CHECKING

import msgspec

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.layout import Root
    from lab.proxy.summary import Tokens

PER_TOKENS = 1_000_000
MAX_TABLE_BYTES = 1 << 20


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """US dollars per million tokens of one model. Where a price is missing, requests that need it cost unknown."""

    input: float
    """Of prompt tokens that were neither read from the cache nor written to it."""
    output: float
    """Of all that was made, reasoning included."""
    cached: float | None = None
    """Of prompt tokens read from the cache."""
    cache_write: float | None = None
    cache_write_1h: float | None = None
    """Of tokens written to the cache for an hour, which Anthropic asks more for."""
    up_to: int | None = None
    """The longest prompt, in tokens, that these prices are for."""
    source: str
    date: dt.date
    """When the source said so."""

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached", "cache_write", "cache_write_1h", "up_to"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value}, which is no price")


@dataclasses.dataclass(frozen=True)
class Prices:
    """Prices by the model's exact name."""

    table: Mapping[str, Price]

    def cost(self, model: str, tokens: Tokens, hour_writes: int = 0) -> float | None:
        """Dollars for one request; None where the model, its tokens, or a price that they need are unknown.

        A provider that says nothing of a cache is taken to have none: then all of the prompt costs `input`.
        """
        price = self.table.get(model)
        if price is None or tokens.prompt is None or tokens.completion is None:
            return None
        if price.up_to is not None and tokens.prompt > price.up_to:
            return None
        cached, written = tokens.cached or 0, tokens.cache_write or 0
        hour_writes = min(hour_writes, written)
        parts = (
            (tokens.prompt - cached - written, price.input),
            (cached, price.cached),
            (written - hour_writes, price.cache_write),
            (hour_writes, price.cache_write_1h),
            (tokens.completion, price.output),
        )
        total = 0.0
        for amount, per_million in parts:
            if amount:
                if per_million is None:
                    return None
                total += amount * per_million / PER_TOKENS
        return total


def load_prices(root: Root) -> Prices:
    """The shipped prices, and the user's over them by model. Raises LabError naming file and place."""
    shipped = resources.files(__package__).joinpath("prices.toml")
    table = _read(shipped.read_text("utf-8"), "lab's own prices.toml")
    try:
        text = read_regular(root.prices, MAX_TABLE_BYTES).decode("utf-8")
    except FileNotFoundError:
        return Prices(table)
    except NotRegularFile as error:
        raise LabError(f"{root.prices} {error}", "It should be a TOML file of prices") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{root.prices} is not UTF-8", "Save it as UTF-8") from error
    return Prices(table | _read(text, str(root.prices)))


def _read(text: str, where: str) -> dict[str, Price]:
    try:
        entries = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{where} is not TOML: {error}", "Correct that line") from error
    except (RecursionError, ValueError) as error:  # brackets in brackets, or a number of thousands of digits
        raise LabError(
            f"{where} is no table of prices: {type(error).__name__}", "See docs/traces.md, Prices"
        ) from error
    table = {}
    for model, entry in entries.items():
        try:
            table[model] = msgspec.convert(entry, Price)
        except msgspec.ValidationError as error:
            line = next((n for n, line in enumerate(text.splitlines(), 1) if line.strip() in _heads(model)), None)
            place = where if line is None else f"{where}:{line}"
            raise LabError(
                f"{place}: the price of {model!r} is wrong: {error}", "See docs/traces.md, Prices"
            ) from error
    return table


def _heads(model: str) -> set[str]:
    """How the table of a model may begin."""
    return {f'["{model}"]', f"['{model}']", f"[{model}]"}
