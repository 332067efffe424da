"""The recording proxy: a tap for each attempt, and one way to the provider, in one event loop in one thread."""

from __future__ import annotations

import contextlib
import secrets
import threading
from typing import TYPE_CHECKING, Self

import aiohttp

from lab.environment import http_proxy
from lab.errors import LabError
from lab.proxy.ledger import Ledger
from lab.proxy.line import Line, Provider, Upstream
from lab.proxy.loop import LoopThread
from lab.proxy.mask import Mask
from lab.proxy.recording import Recorder
from lab.proxy.tap import MAX_HEADER_BYTES, Tap

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from lab.proxy.prices import Prices
    from lab.proxy.summary import Usage

__all__ = ["Proxy", "Tap", "Upstream"]

CONNECT_S = 30.0
SILENCE_S = 600.0
"""How long a provider may say nothing: models think for minutes, and the providers' own clients wait ten."""
IDLE_S = 2.0
"""How long an idle connection to the provider is kept: one that it closes as it is used again would fail a request."""
KEY_BYTES = 24


class Proxy:
    """Passes the requests of a run's attempts to its provider. A context manager; starting it raises LabError."""

    def __init__(self, upstream: Upstream, prices: Prices) -> None:
        self._upstream = upstream
        self._prices = prices
        self._ledger = self._new_ledger()
        self._loop = LoopThread("lab-proxy")
        self._provider: Provider | None = None
        self._taps: set[Tap] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._loop.start()
        try:
            self._provider = self._loop.call(self._connect)
        except BaseException:
            self._loop.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            taps = list(self._taps)
        try:
            # what a tap has to say is for whoever closes it; here the run is over
            for tap in taps:
                with contextlib.suppress(LabError):
                    tap.close()
        finally:
            self._loop.stop()

    def attach(self, trace: Path, *, socket: Path | None = None) -> Tap:
        """A line for one attempt, recorded in the folder `trace`, which must exist and hold no trace yet.

        It listens on the Unix socket `socket`, else on a free port of 127.0.0.1. Raises LabError.
        """
        if self._provider is None:
            raise RuntimeError("the proxy has not been started")
        self._loop.check()
        key = secrets.token_urlsafe(KEY_BYTES)
        ledger = self._new_ledger()
        recorder = Recorder(trace, Mask([key, self._upstream.key]))
        line = Line(
            provider=self._provider,
            key=key,
            recorder=recorder,
            real_key=Mask([self._upstream.key]),
            ledgers=(ledger, self._ledger),
        )
        tap = Tap(self._loop, line, ledger, on_close=self._detach)
        try:
            tap.open(socket)
        except BaseException:
            tap.close()
            raise
        with self._lock:
            self._taps.add(tap)
        return tap

    def total(self) -> Usage:
        """What all attempts have used so far, with the run's last model failure. Thread-safe."""
        return self._ledger.usage()

    def _new_ledger(self) -> Ledger:
        return Ledger(priced=self._upstream.model in self._prices.table)

    def _detach(self, tap: Tap) -> None:
        with self._lock:
            self._taps.discard(tap)

    async def _connect(self) -> Provider:
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=IDLE_S),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=SILENCE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            # that would send what ~/.netrc holds, too; the user's HTTP proxy is named below
            trust_env=False,
            # the tool's own words go on, and none of ours
            skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._loop.at_end.add(session.close)
        return Provider(self._upstream, session, http_proxy(self._upstream.base_url), self._prices)
