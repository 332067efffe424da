"""What a hostile tool sends: what is no HTTP, bodies that break off, and more of everything than there is room for."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest
import requests

from lab.apis import Api
from lab.proxy import exchange, headers, recording, tap
from lab.proxy.answer import Chat
from lab.proxy.question import MAX_BODY_BYTES
from tests.proxy.attempt import MODEL, PATIENCE_S, REAL_KEY, attempt, brief, refused
from tests.proxy.attempt import question as ask_for
from tests.support.model_server import DONE, Slow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHAT = Api.OPENAI_CHAT


def test_a_body_that_is_announced_too_large_is_not_waited_for(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking, asking.connect() as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
        connection.sendall(f"{head}Content-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode())
        answer = connection.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert asking.lines("requests")[0]["left_out"] == "it was not read"


def test_a_tool_that_waits_to_be_told_to_go_on_is_told(tmp_path: Path) -> None:
    body = json.dumps(ask_for(CHAT)).encode()
    with attempt(tmp_path) as asking, asking.connect() as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
        assert connection.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nA: " + b"x" * (1 << 20) + b"\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\n" + b"A: x\r\n" * 100_000 + b"\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
    ],
    ids=brief,
)
def test_what_is_no_request_is_answered_or_cut_and_harms_nobody(
    tmp_path: Path, sent: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with attempt(tmp_path) as asking:
        answer = asking.send(sent)
        assert not answer or answer.split()[1] in {b"400", b"401", b"413", b"414", b"431"}
        assert asking.ask().status_code == 200
        assert asking.usage().requests == 1
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "chunks", [b"zz\r\nhello\r\n", b"5\r\nhel", b"ffffffffffffffffffff\r\n{}\r\n0\r\n\r\n", b"-1\r\n"]
)
def test_a_body_in_broken_chunks_goes_nowhere(tmp_path: Path, chunks: bytes) -> None:
    with attempt(tmp_path) as asking, asking.connect() as connection:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + chunks)
        connection.settimeout(0.5)
        try:
            assert connection.recv(1 << 16).split()[1] == b"400"
        except TimeoutError:
            assert chunks == b"5\r\nhel"  # the rest may still come
        assert asking.server.requests == []


@pytest.mark.parametrize(
    ("headers", "body", "recorded"),
    [
        pytest.param(
            b"User-Agent: caf\xe9\r\n", b'{"messages":[]}', ("headers", "user-agent", r"caf\udce9"), id="latin header"
        ),
        pytest.param(b"", rb'{"model":"\ud83d","messages":[]}', ("model_asked", None, r"\ud83d"), id="half an emoji"),
    ],
)
def test_what_cannot_be_written_as_it_is_goes_on_and_is_recorded(
    tmp_path: Path, headers: bytes, body: bytes, recorded: tuple[str, str | None, str]
) -> None:
    with attempt(tmp_path) as asking:
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n".encode()
        length = f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        assert asking.send(head + headers + length + body).startswith(b"HTTP/1.1 200 ")
        usage = asking.usage()
    assert (usage.requests, usage.refused) == (1, 0)
    [line] = asking.lines("requests")
    name, key, value = recorded
    assert (line[name] if key is None else line[name][key]) == value


@pytest.mark.parametrize("depth", [99, 400, 50_000])
def test_tools_in_tools_in_tools_are_refused(tmp_path: Path, depth: int) -> None:
    body = b'{"tools":' + b'[{"type":"namespace","tools":' * depth + b"[]" + b"}]" * depth + b"}"
    with attempt(tmp_path, Api.OPENAI_RESPONSES) as asking:
        answer = asking.ask(body)
        assert answer.status_code == 400
        refused(asking, 400, answer.content)


def test_a_request_that_lab_stumbles_over_is_refused_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr(exchange, "prepare", stumble)
    with attempt(tmp_path) as asking:
        answer = asking.ask()
        assert answer.status_code == 400
        assert "RecursionError" in refused(asking, 400, answer.content)
        assert asking.lines("requests")[0]["body"]["model"] == MODEL


@pytest.mark.parametrize("begun", [False, True], ids=["before its head", "in its midst"])
def test_an_answer_that_lab_stumbles_over_is_not_the_tools_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begun: bool
) -> None:
    def stumble(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(Chat if begun else headers, "feed" if begun else "to_return", stumble)
    with attempt(tmp_path) as asking:
        if begun:
            with pytest.raises(requests.RequestException):
                asking.ask()
        else:
            assert asking.ask().status_code == 502
        usage = asking.usage()
    assert usage.model_failure == "lab could not pass it on: RecursionError"
    assert (usage.requests, usage.unknown_tokens) == (1, 1)
    assert asking.lines("latency")[0]["error"] == usage.model_failure


@pytest.mark.parametrize(
    ("answer", "gone"),
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX-A: a\xff", b"\xff", id="a byte that is not UTF-8"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-A: a\x01b", b"\x01", id="a control character"),
        pytest.param(f"HTTP/1.1 200 {REAL_KEY}".encode(), REAL_KEY.encode(), id="the key as the reason"),
        pytest.param(f"HTTP/1.1 200 OK\r\n{REAL_KEY}: a".encode(), REAL_KEY.encode(), id="the key as a name"),
    ],
)
def test_a_strange_head_of_an_answer_comes_back_without_what_is_strange(
    tmp_path: Path, answer: bytes, gone: bytes
) -> None:
    body = b'{"choices":[{"finish_reason":"stop"}]}'
    whole = answer + f"\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with raw_server(whole) as upstream, attempt(tmp_path, upstream=upstream) as asking:
        sent = json.dumps(ask_for(CHAT)).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
        back = asking.send(f"{head}Connection: close\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent)
        assert back.startswith(b"HTTP/1.1 200 ")
        assert back.endswith(body)
        assert gone not in back
        assert asking.usage().model_failure is None


@pytest.mark.parametrize("status", [99, 101, 199, 600, 999])
def test_a_status_that_is_none_of_an_answer_is_the_models_side(tmp_path: Path, status: int) -> None:
    answer = f"HTTP/1.1 {status:03} X\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    with raw_server(answer) as upstream, attempt(tmp_path, upstream=upstream) as asking:
        assert asking.ask().status_code == 502
        assert asking.usage().model_failure is not None


def test_what_is_no_http_is_told_without_the_providers_address(tmp_path: Path) -> None:
    with raw_server(b"garbage garbage\n") as upstream, attempt(tmp_path, upstream=f"{upstream}/secret-path") as asking:
        answer = asking.ask()
        usage = asking.usage()
    assert answer.status_code == 502
    assert (usage.model_failure or "").startswith("ClientResponseError: Bad status line")
    for told in (answer.text, str(usage)):
        assert "secret-path" not in told
        assert upstream.removeprefix("http://") not in told


def test_a_stream_of_nothing_leaves_others_their_turn(tmp_path: Path) -> None:
    """Sixteen million blank lines; a read of them in one go would take half a minute."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with raw_server(head + b"\n" * (16 << 20)) as upstream, attempt(tmp_path, upstream=upstream) as asking:
        started = time.process_time()
        assert len(asking.ask(stream=True).content) == 16 << 20
        assert asking.usage().model_failure == "the answer stopped before its end"
    assert time.process_time() - started < 8


@contextlib.contextmanager
def raw_server(answer: bytes) -> Iterator[str]:
    """A server that gives one answer of these bytes, whatever it is asked. Gives its address."""

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(PATIENCE_S)


def test_a_tool_has_so_many_connections_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tap, "MAX_CONNECTIONS", 3)
    with attempt(tmp_path) as asking:
        held = [asking.connect() for _ in range(3)]
        deadline = time.monotonic() + PATIENCE_S
        with asking.connect() as beyond:
            assert beyond.recv(1) == b""
        for connection in held:
            connection.close()
        while time.monotonic() < deadline:
            try:
                assert asking.ask().status_code == 200
                break
            except OSError:  # its places are not free yet
                time.sleep(0.05)
        assert asking.usage().requests == 1


def test_bodies_of_one_attempt_are_held_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_HELD_BYTES", 1000)
    with attempt(tmp_path, always=Slow(DONE, first_s=0.2)) as asking:
        assert asking.ask(ask_for(CHAT, text="x" * 2000)).status_code == 413
        assert asking.ask(ask_for(CHAT, text="x" * 700)).status_code == 200
        assert asking.ask(ask_for(CHAT, text="x" * 700)).status_code == 200  # the first is held no longer


def test_an_attempt_has_so_many_requests_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_LINES", 2)
    with attempt(tmp_path) as asking:
        statuses = [asking.ask().status_code for _ in range(4)]
        usage = asking.usage()
    assert statuses == [200, 200, 429, 429]
    assert (usage.requests, usage.refused, usage.model_failure) == (2, 2, None)
    assert len(asking.lines("requests")) == 2


def test_a_trace_has_so_much_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_TRACE_BYTES", 1000)
    with attempt(tmp_path) as asking:
        assert asking.ask(ask_for(CHAT, text="x" * 900)).status_code == 200
        assert asking.ask().status_code == 200
    bodies = [(line["body"], line["left_out"]) for line in asking.lines("requests")]
    assert bodies[0] == (None, recording.TOO_MUCH)
    assert bodies[1][0]["model"] == MODEL
    assert [line["left_out"] for line in asking.lines("latency")] == [None, None]
