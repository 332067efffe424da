"""What does not go on: keys, paths and tools that reach beyond the model, and what no client would send."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from lab.apis import Api
from lab.proxy import question
from lab.proxy.question import MAX_BODY_BYTES
from tests.proxy.attempt import PATIENCE_S, asking_path, attempt, brief, session
from tests.proxy.attempt import question as ask_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.proxy.attempt import Attempt

CHAT, RESPONSES, ANTHROPIC, GEMINI = Api.OPENAI_CHAT, Api.OPENAI_RESPONSES, Api.ANTHROPIC, Api.GEMINI


def refused(asking: Attempt, status: int, body: bytes) -> str:
    """Check that the last request was refused in the API's own words, and give the reason."""
    said = json.loads(body)
    error = said["error"]
    assert error["message"].startswith("lab: ")
    if asking.api is ANTHROPIC:
        assert said["type"] == "error"
    elif asking.api is GEMINI:
        assert error["code"] == status
    assert asking.server.requests == []
    usage = asking.tap.usage()
    assert (usage.requests, usage.model_failure) == (0, None)
    assert usage.refused == len(asking.lines("requests")) > 0
    reason = asking.lines("requests")[-1]["refused"]
    assert error["message"] == f"lab: {reason}"
    return str(reason)


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
    ("api", "tool", "name"),
    [
        *((CHAT, {"type": name}, name) for name in ("web_search", "openrouter:web_search", "code_interpreter", "mcp")),
        (CHAT, {"type": "builtin_function", "function": {"name": "$web_search"}}, "builtin_function"),
        (CHAT, {"function": {"name": "f"}}, "None"),
        *(
            (RESPONSES, {"type": name}, name)
            for name in (
                "web_search",
                "web_search_preview",
                "web_search_2025_08_26",
                "file_search",
                "code_interpreter",
                "image_generation",
                "mcp",
                "tool_search",
                "something_new",
            )
        ),
        (RESPONSES, {"type": "shell", "environment": {"type": "container_auto"}}, "shell"),
        (RESPONSES, {"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}, "namespace"),
        (RESPONSES, {"type": ["web_search"]}, "['web_search']"),
        *(
            (ANTHROPIC, {"type": name, "name": "x"}, name)
            for name in (
                "web_search_20250305",
                "web_fetch_20250910",
                "code_execution_20250825",
                "mcp_toolset",
                "advisor_20260301",
                "tool_search_tool_regex_20251119",
            )
        ),
        *(
            (GEMINI, {name: {}}, name)
            for name in (
                "googleSearch",
                "google_search",
                "googleSearchRetrieval",
                "urlContext",
                "url_context",
                "codeExecution",
                "fileSearch",
                "googleMaps",
                "mcpServers",
            )
        ),
        (GEMINI, {"functionDeclarations": [], "googleSearch": {}}, "googleSearch"),
    ],
)
def test_tools_of_the_provider_are_refused_by_name(tmp_path: Path, api: Api, tool: dict[str, Any], name: str) -> None:
    local = {"type": "function", "function": {"name": "f"}} if api is not GEMINI else {"functionDeclarations": []}
    with attempt(tmp_path, api) as asking:
        answer = asking.ask(ask_for(api, tools=[] if api is ANTHROPIC else [local]) | {"tools": [tool]})
        assert answer.status_code == 400
        assert f'"{name}"' in refused(asking, 400, answer.content)
        assert asking.lines("requests")[0]["body"]["tools"] == [tool]


@pytest.mark.parametrize(
    ("api", "fields", "name"),
    [
        (CHAT, {"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
        (CHAT, {"plugins": [{"id": "web"}]}, "plugins"),
        (CHAT, {"models": ["other"]}, "models"),
        (RESPONSES, {"prompt": {"id": "pmpt_1"}}, "prompt"),
        (ANTHROPIC, {"mcp_servers": [{"url": "https://x.example"}]}, "mcp_servers"),
        (ANTHROPIC, {"container": "c1"}, "container"),
        (CHAT, {"Tools": [{"type": "web_search"}]}, "Tools"),
        (CHAT, {"MODEL": "other"}, "MODEL"),
        (ANTHROPIC, {"mcpServers": []}, "mcpServers"),
        (CHAT, {"tools": {"type": "web_search"}}, "tools"),
        (CHAT, {"tools": ["web_search"]}, "tools"),
        (
            CHAT,
            {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://x.example/a"}}]}]},
            "by its address",
        ),
        (
            RESPONSES,
            {"input": [{"content": [{"type": "input_file", "file_url": "https://x.example/a"}]}]},
            "by its address",
        ),
        (
            RESPONSES,
            {"input": [{"type": "function_call_output", "output": [{"image_url": " HTTPS://x.example/a"}]}]},
            "by its address",
        ),
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "document", "source": {"type": "url", "url": "https://x.example"}}]}]},
            "by its address",
        ),
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "tool_result", "content": [{"source": {"type": "url"}}]}]}]},
            "by its address",
        ),
        (GEMINI, {"contents": [{"parts": [{"fileData": {"fileUri": "https://x.example/watch"}}]}]}, "by its address"),
    ],
)
def test_fields_that_reach_beyond_the_model(tmp_path: Path, api: Api, fields: dict[str, Any], name: str) -> None:
    with attempt(tmp_path, api) as asking:
        answer = asking.ask(ask_for(api) | fields)
        assert answer.status_code == 400
        assert name in refused(asking, 400, answer.content)


@pytest.mark.parametrize(
    ("api", "fields"),
    [
        (CHAT, {"tools": [{"type": "function", "function": {"name": "web_search"}}, {"type": "custom", "custom": {}}]}),
        (CHAT, {"tools": None, "plugins": [], "functions": [{"name": "f"}]}),
        (CHAT, {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}]}),
        (
            RESPONSES,
            {
                "tools": [
                    {"type": "function", "name": "f"},
                    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
                    {"type": "local_shell"},
                    {"type": "shell"},
                    {"type": "shell", "environment": {"type": "local"}},
                    {"type": "tool_search", "execution": "client"},
                    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
                ]
            },
        ),
        (RESPONSES, {"input": "only a text"}),
        (
            ANTHROPIC,
            {
                "tools": [
                    {"name": "Bash", "input_schema": {}},
                    {"type": "custom", "name": "f"},
                    {"type": "bash_20250124", "name": "bash"},
                    {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
                    {"type": "computer_20250124", "name": "computer"},
                    {"type": "memory_20250818", "name": "memory"},
                ],
                "mcp_servers": [],
            },
        ),
        # what a tool is given looks like an address, and is none
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "tool_use", "input": {"source": {"type": "url"}}}]}]},
        ),
        (GEMINI, {"tools": [{"functionDeclarations": [{"name": "google_search"}], "googleSearch": None}]}),
    ],
)
def test_tools_that_the_agent_runs_pass(tmp_path: Path, api: Api, fields: dict[str, Any]) -> None:
    with attempt(tmp_path, api) as asking:
        body = ask_for(api) | fields
        assert asking.ask(body).status_code == 200
        assert asking.server.asked()[0].body == body


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
