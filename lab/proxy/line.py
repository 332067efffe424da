"""What the exchanges of one attempt share."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.apis import Api

if TYPE_CHECKING:
    import aiohttp

    from lab.proxy.ledger import Ledger, Outcome
    from lab.proxy.mask import Mask
    from lab.proxy.prices import Prices
    from lab.proxy.recording import Recorder
    from lab.proxy.routes import Kind

VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?(?=/|$)")
"""A version in a path, be it the last part or not: /v1, /api/paas/v4, /v1beta/openai."""


@dataclasses.dataclass(frozen=True)
class Upstream:
    """Where questions go on to: the provider, and the run's key and model."""

    api: Api
    base_url: str
    """Without a trailing slash, with or without the version of the API."""
    key: str | None = dataclasses.field(repr=False)
    model: str

    @property
    def versioned_url(self) -> str:
        """The address below which the API's paths are: as it was given, with the usual version where it has none."""
        if VERSION.search(urlsplit(self.base_url).path):
            return self.base_url
        return self.base_url + ("/v1beta" if self.api is Api.GEMINI else "/v1")


@dataclasses.dataclass
class Provider:
    """The connection to the provider that all attempts of a run share."""

    upstream: Upstream
    session: aiohttp.ClientSession
    proxy: str | None
    """The HTTP proxy on the way there; None where there is none."""
    prices: Prices
    add_usage: bool = True
    """Whether streams are asked to report their tokens; no longer once the provider has refused such a question."""


@dataclasses.dataclass
class Line:
    """One attempt's line to the provider."""

    provider: Provider
    key: str = dataclasses.field(repr=False)
    """What the tool must show."""
    recorder: Recorder
    real_key: Mask = dataclasses.field(repr=False)
    """Keeps the provider's key out of what comes back."""
    ledgers: tuple[Ledger, ...]
    """The attempt's and the run's."""
    held_bytes: int = 0
    """Of request bodies that are in memory now."""
    closing: bool = False

    @property
    def upstream(self) -> Upstream:
        return self.provider.upstream

    def refuse(self) -> None:
        for ledger in self.ledgers:
            ledger.refuse()

    def send(self, kind: Kind, *, other_model: bool) -> None:
        for ledger in self.ledgers:
            ledger.send(kind, other_model=other_model)

    def end(self, outcome: Outcome) -> None:
        for ledger in self.ledgers:
            ledger.end(outcome)
