"""Whose fault it is that an exchange failed, and what becomes of streams that one of the two sides leaves."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from typing import TYPE_CHECKING

import pytest
import requests

from lab.apis import Api
from lab.proxy import server as proxy_server
from tests.proxy.attempt import (
    PATIENCE_S,
    asking_path,
    attempt,
    closed_port,
    question,
    session,
    wait_for,
)
from tests.support.model_server import DONE, Drop, Endless, Fail, Raw, Reply, Slow, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.proxy.attempt import Attempt
    from tests.support.model_server import Chosen

LONG = Reply("z" * 200)


def event(**fields: object) -> bytes:
    return f"data: {json.dumps(fields)}\n\n".encode()


@pytest.mark.parametrize(
    ("api", "script", "stream", "failure"),
    [
        pytest.param(Api.OPENAI_CHAT, [DONE], True, None, id="good"),
        *(
            pytest.param(api, [Fail(status, "told so")], False, f"{status} ", id=f"{api} {status}")
            for api in Api
            for status in (401, 403, 404, 405, 429, 500, 503, 529)
        ),
        *(
            pytest.param(api, [Fail(status, "told so")], False, None, id=f"{api} {status}")
            for api in Api
            for status in (400, 413, 422)
        ),
        pytest.param(Api.OPENAI_CHAT, [Fail(429), DONE], False, None, id="good in the end"),
        pytest.param(Api.OPENAI_CHAT, [DONE, Fail(429)], False, "429 Too Many Requests", id="bad in the end"),
        pytest.param(Api.OPENAI_CHAT, [Fail(429), Fail(400)], False, None, id="spoiled in the end"),
        pytest.param(Api.OPENAI_CHAT, [Drop(LONG, pieces=0)], False, "it closed the connection", id="no answer"),
        pytest.param(Api.OPENAI_CHAT, [Drop(LONG)], False, "the answer was cut off", id="cut off whole"),
        *(
            pytest.param(api, [Drop(LONG, pieces=3)], True, "the answer was cut off", id=f"{api} cut off in a stream")
            for api in Api
        ),
        pytest.param(
            Api.OPENAI_CHAT,
            [Raw(event(choices=[{"delta": {}, "finish_reason": None}]), "text/event-stream")],
            True,
            "the answer stopped before its end",
            id="chat without an end",
        ),
        pytest.param(
            Api.ANTHROPIC,
            [Raw(event(type="message_start", message={"usage": {"input_tokens": 3}}), "text/event-stream")],
            True,
            "the answer stopped before its end",
            id="message without an end",
        ),
        pytest.param(Api.GEMINI, [Raw(b"")], False, "the answer stopped before its end", id="nothing at all"),
        pytest.param(
            Api.OPENAI_CHAT, [Raw(b"<html>", "text/html")], False, "the answer stopped before its end", id="a web page"
        ),
        pytest.param(
            Api.ANTHROPIC,
            [Raw(event(type="error", error={"type": "overloaded_error", "message": "busy"}), "text/event-stream")],
            True,
            "overloaded_error: busy",
            id="anthropic overloaded in a stream",
        ),
        pytest.param(
            Api.ANTHROPIC,
            [Raw(event(type="error", error={"type": "invalid_request_error", "message": "x"}), "text/event-stream")],
            True,
            None,
            id="anthropic spoiled in a stream",
        ),
        pytest.param(
            Api.OPENAI_RESPONSES,
            [Raw(event(type="response.failed", response={"error": {"code": "server_error"}}), "text/event-stream")],
            True,
            "server_error",
            id="response failed",
        ),
        pytest.param(
            Api.OPENAI_CHAT, [Raw(b'{"error":{"code":429,"message":"slow"}}')], False, "429: slow", id="error as 200"
        ),
        pytest.param(
            Api.OPENAI_CHAT,
            [Raw(b"", status=307, headers={"Location": "http://127.0.0.1:1/"})],
            False,
            "it answered 307",
            id="sent elsewhere",
        ),
        pytest.param(
            Api.OPENAI_CHAT,
            [Raw(b"not gzip at all", headers={"Content-Encoding": "gzip"})],
            False,
            "the answer was cut off",
            id="bad gzip",
        ),
    ],
)
def test_the_last_exchange_decides(
    tmp_path: Path, api: Api, script: Sequence[Chosen], stream: bool, failure: str | None
) -> None:
    with attempt(tmp_path, api, script) as asking:
        for _ in script:
            try:
                asking.ask(stream=stream)
            except requests.RequestException:
                assert failure is not None
        usage = asking.usage()
    assert usage.requests == len(script)
    lines = asking.lines("latency")
    if failure is None:
        assert usage.model_failure is None
        assert lines[-1]["model_failure"] is False
    else:
        assert (usage.model_failure or "").startswith(failure)
        assert lines[-1]["model_failure"] is True
        assert lines[-1]["error"] == usage.model_failure
        assert "\n" not in (usage.model_failure or "")


@pytest.mark.parametrize(
    ("upstream", "failure"),
    [
        ("http://127.0.0.1:{port}", "it refused the connection"),
        ("http://nowhere.invalid", "its name is not known"),
        ("https://127.0.0.1:{server}", "ClientConnectorSSLError"),
    ],
)
def test_a_model_that_cannot_be_reached(tmp_path: Path, upstream: str, failure: str) -> None:
    with serve() as server:
        at = upstream.format(port=closed_port(), server=server.url.rpartition(":")[2])
        with attempt(tmp_path, upstream=at) as asking:
            answer = asking.ask()
            assert answer.status_code == 502
            assert answer.json()["error"]["message"].startswith("lab: the model gave no answer")
            usage = asking.usage()
    assert (usage.model_failure or "").startswith(failure)
    assert (usage.requests, usage.unknown_tokens, usage.ttfb_ms) == (1, 0, None)
    line = asking.lines("latency")[0]
    assert (line["status"], line["ttfb_ms"], line["response"]) == (None, None, None)


@pytest.mark.parametrize("step", [Slow(DONE, first_s=20), Slow(LONG, between_s=20)], ids=["at first", "in the midst"])
def test_a_model_that_says_nothing_is_not_waited_for_for_ever(
    tmp_path: Path, step: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_server, "SILENCE_S", 0.3)
    with attempt(tmp_path, always=step) as asking:
        try:
            assert asking.ask(stream=True).status_code == 502
        except requests.RequestException:
            assert step.between_s
        assert "it said nothing for too long" in (asking.usage().model_failure or "")


def test_a_refusal_and_a_listing_do_not_decide(tmp_path: Path) -> None:
    with attempt(tmp_path, script=[Fail(503)]) as asking:
        asking.ask()
        asking.ask(path="/v1/embeddings")
        with session() as tool:
            url = asking.tap.base_url + "/v1/models"
            assert tool.get(url, headers=asking.shown_key, timeout=PATIENCE_S).status_code == 200
        assert (asking.usage().model_failure or "").startswith("503")


def test_a_listing_decides_where_nothing_was_asked(tmp_path: Path) -> None:
    with attempt(tmp_path, upstream=f"http://127.0.0.1:{closed_port()}") as asking, session() as tool:
        url = asking.tap.base_url + "/v1/models"
        assert tool.get(url, headers=asking.shown_key, timeout=PATIENCE_S).status_code == 502
        assert asking.usage().model_failure == "it refused the connection"


@contextlib.contextmanager
def begun(asking: Attempt) -> Iterator[http.client.HTTPResponse]:
    """A stream that was asked for, its head read; the connection is cut at the end of the block."""
    connection = http.client.HTTPConnection(asking.tap.base_url.removeprefix("http://"), timeout=PATIENCE_S)
    with contextlib.closing(connection):
        body = json.dumps(question(asking.api, stream=True))
        connection.request("POST", asking_path(asking.api, stream=True), body, asking.shown_key)
        yield connection.getresponse()


@pytest.mark.parametrize("api", list(Api))
def test_a_tool_that_leaves_ends_the_stream_at_the_model(tmp_path: Path, api: Api) -> None:
    with attempt(tmp_path, api, always=Endless()) as asking:
        with begun(asking) as answer:
            assert answer.read(20)
        wait_for(lambda: asking.server.left == 1)
        usage = asking.usage()
    assert usage.model_failure is None
    line = asking.lines("latency")[0]
    assert (line["cut"], line["model_failure"], line["error"]) == ("the tool", False, None)
    assert line["bytes"] > 0
    assert (tmp_path / "responses" / "001.sse").stat().st_size == line["bytes"]


def test_what_a_tool_leaves_does_not_wash_away_a_failure(tmp_path: Path) -> None:
    with attempt(tmp_path, script=[Fail(503), Endless()]) as asking:
        asking.ask()
        with begun(asking) as answer:
            assert answer.read(20)
        wait_for(lambda: asking.server.left == 1)
        assert (asking.usage().model_failure or "").startswith("503")


def test_a_tool_may_leave_once_it_has_read_the_end(tmp_path: Path) -> None:
    """The connection to the provider is still open then; the answer is whole all the same."""
    end = event(choices=[], usage={"prompt_tokens": 3, "completion_tokens": 2}) + b"data: [DONE]\n\n"
    with attempt(tmp_path, script=[Fail(503)], always=_held_open(end)) as asking:
        asking.ask()
        with begun(asking) as answer:
            assert answer.read(len(b"data: [DONE]\n\n")) == b"data: [DONE]\n\n"
        wait_for(lambda: len(asking.lines("latency")) == 2)
        usage = asking.usage()
    assert (usage.model_failure, usage.tokens.prompt, usage.unknown_tokens) == (None, 3, 0)
    assert asking.lines("latency")[1]["cut"] is None


def _held_open(body: bytes) -> Chosen:
    return Raw(body, "text/event-stream", headers={"Content-Length": str(len(body) + 1)})


def test_a_tool_that_leaves_before_any_answer(tmp_path: Path) -> None:
    with attempt(tmp_path, always=Slow(DONE, first_s=PATIENCE_S)) as asking:
        with asking.connect() as connection:
            body = json.dumps(question(asking.api))
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            wait_for(lambda: asking.server.open_now == 1)
        wait_for(lambda: asking.server.left == 1)
        usage = asking.usage()
    # the model may have worked on it all the same
    assert (usage.requests, usage.model_failure, usage.unknown_tokens) == (1, None, 1)


def test_closing_a_tap_cuts_what_streams(tmp_path: Path) -> None:
    with attempt(tmp_path, always=Endless()) as asking, contextlib.ExitStack() as streams:
        answers = [streams.enter_context(begun(asking)) for _ in range(5)]
        for answer in answers:
            assert answer.read(10)
        started = time.monotonic()
        usage = asking.tap.close()
        assert time.monotonic() - started < 5
        assert asking.tap.close() == usage
        for answer in answers:
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                answer.read()
        with pytest.raises(requests.ConnectionError):
            asking.ask()
        wait_for(lambda: asking.server.left == 5)
    assert (usage.requests, usage.model_failure, usage.unknown_tokens) == (5, None, 5)
    assert [line["cut"] for line in asking.lines("latency")] == ["lab"] * 5
