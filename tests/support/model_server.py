"""A real model server on loopback: it speaks the four APIs, follows a script, and remembers what it was asked.

    with serve([Reply("hello"), Fail(503), Drop(Reply("cut off"))]) as server:
        ...  # point a tool at server.url (without /v1), then look at server.requests

Request number n gets `script[n]`, later ones `always`; a step may be a function of the request. Which API it speaks
is told by the path. Listings of models and token counts are answered too, and take no step of the script.

    with serve(always=solver(solution)) as server:
        ...  # whatever agent asks, it is told to write `solution` into solution.py, and then that all is done
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import re
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from aiohttp import web

from lab.apis import Api
from tests.support.model_solver import solver
from tests.support.model_wire import TOKENS, Call, Reply, Wire, encode, error

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

__all__ = [
    "DONE",
    "TOKENS",
    "Call",
    "Drop",
    "Endless",
    "Fail",
    "Raw",
    "Reply",
    "Seen",
    "Server",
    "Slow",
    "serve",
    "solver",
]

START_S = 20
MAX_BODY_BYTES = 256 << 20
PATHS = {
    re.compile(r"/v1/chat/completions"): Api.OPENAI_CHAT,
    re.compile(r"/v1/responses"): Api.OPENAI_RESPONSES,
    re.compile(r"/v1/messages"): Api.ANTHROPIC,
    re.compile(r"/v1beta/models/[^/]+:(?:generateContent|streamGenerateContent)"): Api.GEMINI,
}
DONE = Reply("done")
ENDLESS = "endless"
COUNTS = re.compile(r"/v1/messages/count_tokens|/v1/responses/input_tokens|/v1beta/models/[^/]+:countTokens")


@dataclasses.dataclass(frozen=True)
class Seen:
    """One request as it came; header names in lower case. `api` is None for all that is no question to the model."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes
    api: Api | None

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None

    @property
    def stream(self) -> bool:
        return ":streamGenerateContent" in self.path or (
            isinstance(self.body, dict) and self.body.get("stream") is True
        )

    @property
    def model(self) -> str:
        if self.api is Api.GEMINI:
            return self.path.rpartition("/")[2].partition(":")[0]
        return str(self.body.get("model"))

    @property
    def usage_asked(self) -> bool:
        options = self.body.get("stream_options")
        return isinstance(options, dict) and options.get("include_usage") is True


@dataclasses.dataclass(frozen=True)
class Fail:
    """An error status, with a body in the API's own shape."""

    status: int
    message: str = "something went wrong"
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Drop:
    """The reply's first pieces, then the connection is cut. With `pieces` 0 not even the status is sent."""

    reply: Reply
    pieces: int = 2


@dataclasses.dataclass(frozen=True)
class Slow:
    """The reply after `first_s` seconds, its pieces `between_s` apart."""

    reply: Reply
    first_s: float = 0.0
    between_s: float = 0.0


@dataclasses.dataclass(frozen=True)
class Endless:
    """A stream of text that does not end before the client goes away."""

    between_s: float = 0.01


@dataclasses.dataclass(frozen=True)
class Raw:
    """An answer of these very bytes, in one go, or in `pieces` that are the same bytes."""

    body: bytes
    content_type: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    pieces: tuple[bytes, ...] = ()


Step: TypeAlias = Reply | Fail | Drop | Slow | Endless | Raw
Chosen: TypeAlias = Step | Callable[[Seen], Step]


@dataclasses.dataclass
class Server:
    """A running server: where it is (without /v1), what it was asked, and how often a client left it in a stream."""

    url: str = ""
    requests: list[Seen] = dataclasses.field(default_factory=list)
    left: int = 0
    open_now: int = 0
    most_open: int = 0

    def asked(self) -> list[Seen]:
        """The requests that were questions to the model."""
        return [seen for seen in self.requests if seen.api is not None]


@contextlib.contextmanager
def serve(script: Sequence[Chosen] = (), *, always: Chosen = DONE, port: int = 0) -> Iterator[Server]:
    """Serve until the block ends; requests that are still open then are cut."""
    server = Server()
    ready: threading.Event = threading.Event()
    ending = asyncio.Event()
    loop = asyncio.new_event_loop()

    async def run() -> None:
        handler = _Handler(server, script, always)
        runner = web.ServerRunner(
            web.Server(handler.handle, handler_cancellation=True, access_log=None), shutdown_timeout=0.1
        )
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", port, backlog=512)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await ending.wait()
        await runner.cleanup()
        await asyncio.sleep(0.01)  # connections give their descriptors back a few turns later

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(run())
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=work, name="model-server", daemon=True)
    thread.start()
    assert ready.wait(START_S)
    assert server.url, "the model server did not start"
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(START_S)
        assert not thread.is_alive()


class _Handler:
    def __init__(self, server: Server, script: Sequence[Chosen], always: Chosen) -> None:
        self._server = server
        self._script = script
        self._always = always

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        seen = await _read(request)
        number = len(self._server.asked())
        self._server.requests.append(seen)
        if seen.api is None:
            return _beside(seen)
        chosen = self._script[number] if number < len(self._script) else self._always
        step = chosen(seen) if callable(chosen) else chosen
        self._server.open_now += 1
        self._server.most_open = max(self._server.most_open, self._server.open_now)
        try:
            return await self._answer(request, seen, step)
        except (asyncio.CancelledError, ConnectionError):
            self._server.left += 1
            raise
        finally:
            self._server.open_now -= 1

    async def _answer(self, request: web.BaseRequest, seen: Seen, step: Step) -> web.StreamResponse:
        assert seen.api is not None
        if isinstance(step, Fail):
            return web.json_response(
                error(seen.api, step.status, step.message), status=step.status, headers=step.headers
            )
        if isinstance(step, Raw) and not step.pieces:
            headers = {"Content-Type": step.content_type, **step.headers}
            return web.Response(body=step.body, status=step.status, headers=headers)
        if isinstance(step, Drop) and not step.pieces:
            _cut(request)
        wire = _worded(seen, step)
        if isinstance(step, Slow):
            await asyncio.sleep(step.first_s)
        if isinstance(step, Reply) and not seen.stream:
            return web.Response(body=wire.pieces[0], content_type=wire.content_type)
        response = web.StreamResponse(headers={"Content-Type": wire.content_type, "Cache-Control": "no-cache"})
        await response.prepare(request)
        async for piece in _timed(wire, step):
            await response.write(piece)
        if isinstance(step, Drop):
            _cut(request)
        await response.write_eof()
        return response


async def _timed(wire: Wire, step: Step) -> AsyncIterator[bytes]:
    """The pieces of an answer when their time has come."""
    if isinstance(step, Endless):
        yield wire.pieces[0]
        again = next(piece for piece in wire.pieces if ENDLESS.encode() in piece) if len(wire.pieces) > 1 else b" "
        while True:
            yield again
            await asyncio.sleep(step.between_s)
    if isinstance(step, Drop):
        whole = wire.pieces[0]
        for piece in wire.pieces[: step.pieces] if len(wire.pieces) > 1 else (whole[: len(whole) // 2],):
            yield piece
            await asyncio.sleep(0.01)  # so that what was sent arrives before the end of the connection does
        return
    for piece in wire.pieces:
        yield piece
        await asyncio.sleep(step.between_s if isinstance(step, Slow) else 0.02 if isinstance(step, Raw) else 0)


def _worded(seen: Seen, step: Reply | Drop | Slow | Endless | Raw) -> Wire:
    assert seen.api is not None
    if isinstance(step, Raw):
        return Wire(step.pieces, step.content_type)
    reply = step if isinstance(step, Reply) else Reply(ENDLESS) if isinstance(step, Endless) else step.reply
    return encode(
        seen.api,
        reply,
        model=seen.model,
        stream=seen.stream,
        usage_asked=seen.api is not Api.OPENAI_CHAT or not seen.stream or seen.usage_asked,
    )


def _cut(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def _beside(seen: Seen) -> web.Response:
    """What is asked beside the model: which models there are, and how many tokens a text has."""
    if COUNTS.fullmatch(seen.path):
        return web.json_response({"input_tokens": 7, "totalTokens": 7})
    if seen.method == "GET" and re.fullmatch(r"/v1(?:beta)?/models(?:/[^/]+)?", seen.path):
        model = {"id": "m", "object": "model", "owned_by": "lab", "type": "model", "name": "models/m"}
        return web.json_response({"object": "list", "data": [model], "models": [model], "has_more": False})
    return web.json_response({"error": {"message": f"no such path: {seen.path}", "type": "not_found"}}, status=404)


async def _read(request: web.BaseRequest) -> Seen:
    raw = bytearray()
    async for piece in request.content.iter_any():
        raw += piece
        assert len(raw) <= MAX_BODY_BYTES
    api = next((api for path, api in PATHS.items() if path.fullmatch(request.path)), None)
    return Seen(
        method=request.method,
        path=request.path,
        query=dict(request.query),
        headers={name.lower(): value for name, value in request.headers.items()},
        raw=bytes(raw),
        api=api if request.method == "POST" else None,
    )
