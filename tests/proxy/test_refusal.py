"""What does not go on: without the key, by other paths, and what no client would send."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.proxy import question
from lab.proxy.question import MAX_BODY_BYTES
from tests.proxy.attempt import PATIENCE_S, asking_path, attempt, brief, refused, session
from tests.proxy.attempt import question as ask_for

if TYPE_CHECKING:
    from pathlib import Path

CHAT, RESPONSES, ANTHROPIC, GEMINI = Api.OPENAI_CHAT, Api.OPENAI_RESPONSES, Api.ANTHROPIC, Api.GEMINI


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"x-api-key": ""},
        {"x-goog-api-key": "ä"},
        {"Authorization": "Basic {key}"},
    ],
)
def test_who_does_not_show_the_key_gets_nothing(tmp_path: Path, api: Api, headers: dict[str, str]) -> None:
    with attempt(tmp_path, api) as asking, session() as tool:
        url = asking.tap.base_url + asking_path(api)
        shown = {name: value.format(key=asking.tap.key).encode() for name, value in headers.items()}
        answer = tool.post(url, data=json.dumps(ask_for(api)), headers=shown, timeout=PATIENCE_S)
        assert answer.status_code == 401
        assert "key" in refused(asking, 401, answer.content)


@pytest.mark.parametrize(
    ("api", "request_line"),
    [
        *((api, "GET /") for api in Api),
        *((api, "HEAD /v1/models") for api in Api),
        *((api, "POST /v1/embeddings") for api in Api),
        (CHAT, "POST /v1/responses"),
        (CHAT, "GET /v1/chat/completions"),
        (CHAT, "DELETE /v1/models/the-model"),
        (CHAT, "POST /v1/chat/completions/"),
        (CHAT, "POST /v1/chat/completions;x=1"),
        (CHAT, "POST /v1//chat/completions"),
        (CHAT, "POST //v1/chat/completions"),
        (CHAT, "POST /v1/../admin"),
        (CHAT, "POST /v1/../v1/chat/completions"),
        (CHAT, "POST /v1/%2e%2e/admin"),
        (CHAT, "POST /v1/chat%2Fcompletions"),
        (CHAT, "POST /v1/chat/completions%00"),
        (CHAT, "POST /V1/chat/completions"),
        (CHAT, "POST http://elsewhere.example/v1/chat/completions"),
        (CHAT, "GET /v1/models/.."),
        (CHAT, "GET /v1/models/a/../../files"),
        (CHAT, "GET /v1/models/a%2F..%2Ffiles"),
        (CHAT, "OPTIONS *"),
        (CHAT, "CONNECT elsewhere.example:443"),
        (CHAT, "POST /v1/chat/completions?x=1"),
        (RESPONSES, "GET /v1/responses/resp_1"),
        (RESPONSES, "POST /v1/responses/resp_1/cancel"),
        (RESPONSES, "POST /v1/files"),
        (ANTHROPIC, "POST /v1/messages/batches"),
        (ANTHROPIC, "GET /v1/files"),
        (ANTHROPIC, "POST /v1/messages?beta=true&key2=1"),
        (GEMINI, "POST /v1beta/models/m:embedContent"),
        (GEMINI, "POST /v1beta/cachedContents"),
        (GEMINI, "POST /v1beta/models/../files:generateContent"),
        (GEMINI, "POST /v1beta/models/m:generateContent?access_token=1"),
        (GEMINI, "POST /v1beta/models/m:generateContent:x"),
    ],
)
def test_only_questions_to_the_model_go_on(tmp_path: Path, api: Api, request_line: str) -> None:
    with attempt(tmp_path, api) as asking:
        name, value = next(iter(asking.shown_key.items()))
        head = f"{request_line} HTTP/1.1\r\nHost: x\r\n{name}: {value}\r\nContent-Length: 2\r\n\r\n{{}}"
        answer = asking.send(head.encode())
        assert answer.startswith(b"HTTP/1.1 403 ")
        body = answer.partition(b"\r\n\r\n")[2]
        if not request_line.startswith("HEAD"):
            assert "is not passed on" in refused(asking, 403, body)
        assert asking.usage().refused == 1


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
def test_no_other_protocol_is_spoken(tmp_path: Path, upgrade: str) -> None:
    """codex may try a web socket first; at this status it uses HTTP instead."""
    with attempt(tmp_path, RESPONSES) as asking:
        head = f"GET /v1/responses HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {asking.tap.key}\r\n"
        answer = asking.send(
            f"{head}Connection: Upgrade\r\nUpgrade: {upgrade}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert answer.startswith(b"HTTP/1.1 426 ")
        assert asking.usage().refused == 1


@pytest.mark.parametrize(
    ("body", "headers", "status", "says"),
    [
        (b"", {}, 400, "not JSON"),
        (b"hello", {}, 400, "not JSON"),
        (b"[]", {}, 400, "not a JSON object"),
        (b'{"model":"\xff"}', {}, 400, "not JSON"),
        ("{}".encode("utf-16"), {}, 400, "not JSON"),
        (b"\xef\xbb\xbf{}", {}, 400, "not JSON"),
        (b'{"a":NaN}', {}, 400, "not JSON"),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}", {}, 400, "not JSON"),
        (b'{"n":' + b"1" * 5000 + b"}", {}, 400, "not JSON"),
        (b'{"model":"the-model","model":"other"}', {}, 400, "'model' twice"),
        (b'{"tools":[],"tools":[{"type":"web_search"}]}', {}, 400, "'tools' twice"),
        (b'{"tools":[{"type":"function","t\\u0079pe":"web_search"}]}', {}, 400, "'type' twice"),
        (b'{"model":1}', {}, 400, "not a text"),
        # a provider that takes these for true or false would stream without telling tokens
        (b'{"stream":1}', {}, 400, '"stream" is not true or false'),
        (b'{"stream":"false"}', {}, 400, '"stream" is not true or false'),
        (b'{"stream":true,"stream_options":[]}', {}, 400, '"stream_options" is not an object'),
        (b'{"stream":true,"stream_options":{"include_usage":"no"}}', {}, 400, '"include_usage" is not true or false'),
        (b'{"a":' + b"[" * 150 + b"]" * 150 + b"}", {}, 400, "deep"),
        (b'{"a":' + b'{"b":' * 150 + b"1" + b"}" * 150 + b"}", {}, 400, "deep"),
        (b'{"a":[' + b"1," * question.MAX_VALUES + b"1]}", {}, 413, "values"),
        (gzip.compress(b"{}", mtime=0)[:-4], {"Content-Encoding": "gzip"}, 400, "not the gzip"),
        (b"{}", {"Content-Encoding": "gzip"}, 400, "not the gzip"),
        (gzip.compress(b"{}", mtime=0) * 2, {"Content-Encoding": "gzip"}, 400, "not the gzip"),
        (zlib.compress(b"{}"), {"Content-Encoding": "deflate"}, 415, "'deflate'"),
        (b"{}", {"Content-Encoding": "zstd"}, 415, "'zstd'"),
        (b"{}", {"Content-Encoding": "gzip, gzip"}, 415, "'gzip, gzip'"),
        (gzip.compress(b" " * (MAX_BODY_BYTES + 1), mtime=0), {"Content-Encoding": "gzip"}, 413, "larger than 64 MiB"),
    ],
    ids=brief,
)
def test_bodies_that_cannot_be_read(
    tmp_path: Path, body: bytes, headers: dict[str, str], status: int, says: str
) -> None:
    with attempt(tmp_path) as asking:
        answer = asking.ask(body, headers=headers)
        assert answer.status_code == status
        assert says in refused(asking, status, answer.content)
