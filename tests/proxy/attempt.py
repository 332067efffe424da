"""An attempt whose model is scripted: a tap of a real proxy before a real server, and a tool that asks through it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import requests

from lab.apis import Api
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Tap, Upstream
from tests.support.model_server import DONE, serve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lab.proxy.summary import Usage
    from tests.support.model_server import Chosen, Server

MODEL = "the-model"
REAL_KEY = "sk-real-0123456789abcdef"
PATIENCE_S = 30


@dataclasses.dataclass
class Attempt:
    """One attempt at one of the four APIs."""

    api: Api
    server: Server
    proxy: Proxy
    tap: Tap
    trace: Path

    def ask(
        self,
        body: object = None,
        *,
        stream: bool = False,
        path: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Ask the model as a tool would; `body` (bytes as they are) and `path` in place of the usual ones."""
        if body is None:
            body = question(self.api, stream=stream)
        with session() as tool:
            return tool.post(
                self.tap.base_url + (path or asking_path(self.api, stream=stream)),
                data=body if isinstance(body, bytes) else json.dumps(body),
                headers={"Content-Type": "application/json", **self.shown_key, **(headers or {})},
                timeout=PATIENCE_S,
            )

    @property
    def shown_key(self) -> dict[str, str]:
        match self.api:
            case Api.ANTHROPIC:
                return {"x-api-key": self.tap.key}
            case Api.GEMINI:
                return {"x-goog-api-key": self.tap.key}
            case _:
                return {"Authorization": f"Bearer {self.tap.key}"}

    def send(self, data: bytes) -> bytes:
        """Send bytes of HTTP, or of none, and give all that comes back before the connection ends."""
        with self.connect() as connection:
            connection.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while piece := connection.recv(1 << 16):
                    answer += piece
            return answer

    def connect(self) -> socket.socket:
        parts = urlsplit(self.tap.base_url)
        return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=PATIENCE_S)

    def usage(self) -> Usage:
        """The attempt's figures, at its end."""
        return self.tap.close()

    def lines(self, name: str) -> list[dict[str, Any]]:
        """The lines of one of the trace's files."""
        return [json.loads(line) for line in (self.trace / f"{name}.jsonl").read_text("utf-8").splitlines()]

    def recorded(self) -> bytes:
        """All that was recorded, in one."""
        return b"".join(path.read_bytes() for path in sorted(self.trace.rglob("*")) if path.is_file())


@contextlib.contextmanager
def attempt(
    trace: Path,
    api: Api = Api.OPENAI_CHAT,
    script: Sequence[Chosen] = (),
    *,
    always: Chosen = DONE,
    prices: Prices | None = None,
    key: str | None = REAL_KEY,
    upstream: str | None = None,
) -> Iterator[Attempt]:
    """An attempt with a model that follows a script; `upstream` in place of the scripted server's address."""
    trace.mkdir(exist_ok=True)
    with serve(script, always=always) as server:
        to = Upstream(api, upstream or server.url, key, MODEL)
        with Proxy(to, prices or Prices({})) as proxy:
            tap = proxy.attach(trace)
            try:
                yield Attempt(api, server, proxy, tap, trace)
            finally:
                tap.close()


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something has come about in another thread."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def refused(asking: Attempt, status: int, body: bytes) -> str:
    """Check that the last request was refused in the API's own words, and give the reason."""
    said = json.loads(body)
    error = said["error"]
    assert error["message"].startswith("lab: ")
    if asking.api is Api.ANTHROPIC:
        assert said["type"] == "error"
    elif asking.api is Api.GEMINI:
        assert error["code"] == status
    assert asking.server.requests == []
    usage = asking.tap.usage()
    assert (usage.requests, usage.model_failure) == (0, None)
    assert usage.refused == len(asking.lines("requests")) > 0
    reason = asking.lines("requests")[-1]["refused"]
    assert error["message"] == f"lab: {reason}"
    return str(reason)


def closed_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def brief(value: object) -> str | None:
    """The name of a case by its first bytes, for what is sent may be long."""
    return repr(value[:24])[2:-1] if isinstance(value, bytes) else None


def session() -> requests.Session:
    """A client that takes nothing from this machine's environment, and adds nothing of its own."""
    client = requests.Session()
    client.trust_env = False
    client.headers.clear()
    return client


def question(api: Api, *, stream: bool = False, model: str = MODEL, **more: object) -> dict[str, Any]:
    """The shortest question that the API takes."""
    asked: dict[str, Any] = {"model": model, "stream": stream, **more}
    match api:
        case Api.OPENAI_RESPONSES:
            return {"input": [{"role": "user", "content": "hello"}], **asked}
        case Api.GEMINI:
            return {"contents": [{"role": "user", "parts": [{"text": "hello"}]}], **more}
        case Api.ANTHROPIC:
            return {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 10, **asked}
        case _:
            return {"messages": [{"role": "user", "content": "hello"}], **asked}


def asking_path(api: Api, *, stream: bool = False, model: str = MODEL) -> str:
    match api:
        case Api.OPENAI_RESPONSES:
            return "/v1/responses"
        case Api.ANTHROPIC:
            return "/v1/messages"
        case Api.GEMINI:
            return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
        case _:
            return "/v1/chat/completions"
