"""Many streams at once, straight and through the proxy: streams.py COUNT SECONDS prints JSON of first bytes, in ms.

It runs in the Python that has lab. Client, proxy and model are processes of their own, as they are in a run; each
client asks again as soon as its stream has ended, so that all of them stream all the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web

from lab.apis import Api
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_S, BETWEEN_S, PIECES = 0.2, 0.05, 20
BODY_CHARS = 20_000
"""Of one question: what an agent sends after a few turns."""
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"a few words of it"},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


async def serve_model() -> None:
    """A model that streams, until it is killed."""

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await asyncio.sleep(FIRST_S)
        await response.prepare(request)
        for _ in range(PIECES):
            await response.write(CHUNK)
            await asyncio.sleep(BETWEEN_S)
        await response.write(END)
        return response

    runner = web.ServerRunner(web.Server(answer, access_log=None))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    print(f"http://127.0.0.1:{runner.addresses[0][1]} none", flush=True)
    await asyncio.Event().wait()


def serve_proxy(model: str) -> None:
    """A proxy before the model, until it is killed."""
    with (
        tempfile.TemporaryDirectory() as trace,
        Proxy(Upstream(Api.OPENAI_CHAT, model, None, "m"), Prices({})) as proxy,
    ):
        tap = proxy.attach(Path(trace))
        print(tap.base_url, tap.key, flush=True)
        sys.stdin.read()


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[tuple[str, str]]:
    """One of the two in a process of its own: its address and key."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url, key = process.stdout.readline().split()
        yield url, key
    finally:
        process.kill()
        process.communicate()


async def first_bytes(url: str, key: str, count: int, seconds: float) -> list[float]:
    """Milliseconds to the first byte of every stream that ended in time, of `count` at once."""
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x" * BODY_CHARS}]})
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    until = time.monotonic() + seconds
    taken: list[float] = []

    async def ask(session: aiohttp.ClientSession) -> None:
        await asyncio.sleep(random.uniform(0, FIRST_S + PIECES * BETWEEN_S))
        while time.monotonic() < until:
            asked = time.perf_counter()
            async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as answer:
                await answer.content.readany()
                taken.append(1000 * (time.perf_counter() - asked))
                rest = await answer.content.read()
                if answer.status != 200 or not rest.endswith(END):
                    raise RuntimeError(f"a stream broke: {answer.status} {rest[-100:]!r}")

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(ask(session) for _ in range(count)))
    return taken


def main(arguments: list[str]) -> None:
    match arguments:
        case ["model"]:
            asyncio.run(serve_model())
        case ["proxy", model]:
            serve_proxy(model)
        case [count, seconds]:
            with started("model") as (model, key), started("proxy", model) as (proxy, proxy_key):
                sides = {"model": (model, key), "proxy": (proxy, proxy_key)}
                taken = {
                    name: asyncio.run(first_bytes(url, shown, int(count), float(seconds)))
                    for name, (url, shown) in sides.items()
                }
            print(json.dumps(taken))
        case _:
            sys.exit("usage: streams.py COUNT SECONDS")


if __name__ == "__main__":
    main(sys.argv[1:])
