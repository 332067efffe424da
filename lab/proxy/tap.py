"""The end of the line at which one attempt's tool asks: a listener that only the tool's key opens."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
from typing import TYPE_CHECKING, Any, cast

from aiohttp import web

from lab.errors import LabError
from lab.proxy.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aiohttp.web_protocol import RequestHandler

    from lab.proxy.ledger import Ledger
    from lab.proxy.line import Line
    from lab.proxy.loop import LoopThread
    from lab.proxy.summary import Usage

MAX_HEADER_BYTES = 64 << 10
MAX_CONNECTIONS = 256
"""Of one tool at the same time: each costs lab a descriptor, and lab has those of all attempts."""
BACKLOG = 256
LINGER_S = 2.0
CLOSE_S = 0.05
HOST = "127.0.0.1"

_quiet = logging.getLogger("lab.proxy")
_quiet.addHandler(logging.NullHandler())
_quiet.propagate = False  # what a hostile client sends is no news on the user's terminal


class _Server(web.Server):
    """A server that cuts connections beyond the limit, and those that come as it closes."""

    closing = False

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if self.closing or len(self.connections) > MAX_CONNECTIONS:
            transport.abort()


def _listener(path: Path | None) -> socket.socket:
    """A socket that listens, on a path or a port. Raises LabError."""
    listener = socket.socket(socket.AF_INET if path is None else socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind((HOST, 0) if path is None else os.fspath(path))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        where = HOST if path is None else os.fspath(path)
        raise LabError(
            f"cannot listen for the agent on {where}: {error.strerror or error}",
            "Free a port, or choose a root with a shorter path",
        ) from error
    return listener


class Tap:
    """One attempt's line to the model. Thread-safe."""

    def __init__(self, loop: LoopThread, line: Line, ledger: Ledger, *, on_close: Callable[[Tap], None]) -> None:
        self._loop = loop
        self._line = line
        self._ledger = ledger
        self._on_close = on_close
        self._asked = 0
        self._exchanges: set[asyncio.Task[Any]] = set()
        self._server: _Server | None = None
        self._runner: web.ServerRunner | None = None
        self._listener: socket.socket | None = None
        self._path: Path | None = None
        self._closing = threading.Lock()
        self._closed = False
        self.base_url = ""
        """http://127.0.0.1:PORT; empty where it listens on a socket."""

    @property
    def key(self) -> str:
        """What the tool must show as its key, in whatever way its API has."""
        return self._line.key

    def open(self, path: Path | None) -> None:
        """Listen on the Unix socket `path`, else on a free port of this machine's loopback. Raises LabError."""
        self._listener = _listener(path)
        self._path = path
        if path is None:
            self.base_url = f"http://{HOST}:{self._listener.getsockname()[1]}"
        self._loop.call(self._open, self._listener)

    def usage(self) -> Usage:
        """What the attempt has used so far."""
        return self._ledger.usage()

    def close(self) -> Usage:
        """Stop listening, cut what still streams, close the files. Gives the final figures, also a second time.

        Raises LabError, once, where the disk refused a part of the trace.
        """
        with self._closing:
            if not self._closed:
                self._closed = True
                try:
                    with contextlib.suppress(LabError):  # without its loop there is nothing left to end
                        self._loop.call(self._close)
                finally:
                    self._line.recorder.close()
                    self._on_close(self)
                    if self._listener is not None:
                        self._listener.close()
                    if self._path is not None:
                        self._path.unlink(missing_ok=True)
                if self._line.recorder.error is not None:
                    raise self._line.recorder.error
        return self.usage()

    async def _open(self, listener: socket.socket) -> None:
        self._server = _Server(
            self._handle,
            handler_cancellation=True,
            access_log=None,
            logger=_quiet,
            auto_decompress=False,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            lingering_time=LINGER_S,
        )
        self._runner = web.ServerRunner(self._server, shutdown_timeout=CLOSE_S)
        await self._runner.setup()
        await web.SockSite(self._runner, listener, backlog=BACKLOG).start()
        self._loop.at_end.add(self._close)

    async def _close(self) -> None:
        self._loop.at_end.discard(self._close)
        self._line.closing = True
        exchanges = list(self._exchanges)
        for exchange in exchanges:
            exchange.cancel()
        await asyncio.gather(*exchanges, return_exceptions=True)
        if self._server is not None and self._runner is not None and self._listener is not None:
            # a connection that is just being accepted as the listener closes would be lost open, before Python 3.12
            asyncio.get_running_loop().remove_reader(self._listener)
            self._server.closing = True
            await asyncio.sleep(0)
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if self._line.closing:
            raise ConnectionResetError
        task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._exchanges.add(task)
        self._asked += 1
        try:
            return await Exchange(self._line, self._asked, request).run()
        finally:
            self._exchanges.discard(task)
