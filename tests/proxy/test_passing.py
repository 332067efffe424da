"""What goes on to the provider, and what comes back: all four APIs, streamed and not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.errors import LabError
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from lab.proxy.summary import Tokens
from tests.proxy.attempt import MODEL, PATIENCE_S, REAL_KEY, asking_path, attempt, question, session
from tests.support.model_server import Call, Raw, Reply, serve

if TYPE_CHECKING:
    from pathlib import Path


APIS = pytest.mark.parametrize("api", list(Api))
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
REPLY = Reply("I write it.", (Call("bash", {"command": "true"}),))


@APIS
@STREAMED
def test_what_comes_back_is_what_the_provider_sent(tmp_path: Path, api: Api, stream: bool) -> None:
    with serve(always=REPLY) as server, session() as client:
        path = server.url + asking_path(api, stream=stream)
        direct = client.post(path, data=json.dumps(question(api, stream=stream)), timeout=PATIENCE_S)
    with attempt(tmp_path, api, always=REPLY) as asking:
        answer = asking.ask(stream=stream)
    assert (answer.status_code, answer.content) == (200, direct.content)
    assert answer.headers["Content-Type"] == direct.headers["Content-Type"]
    file = next((tmp_path / "responses").iterdir())
    assert file.name == ("001.sse" if stream else "001.json")
    if api is not Api.OPENAI_CHAT or not stream:
        assert file.read_bytes() == direct.content


@APIS
@STREAMED
def test_the_tokens_of_an_exchange_are_counted(tmp_path: Path, api: Api, stream: bool) -> None:
    with attempt(tmp_path, api, always=REPLY) as asking:
        asking.ask(stream=stream)
        asking.ask(stream=stream)
        usage = asking.tap.close()
    line = asking.lines("usage")[1]
    # Anthropic does not say what of its output was reasoning, OpenAI does not say what it wrote to its cache
    missing = {"reasoning"} if api is Api.ANTHROPIC else {"cache_write"}
    known = {"prompt": 100, "cached": 20, "cache_write": 0, "completion": 10, "reasoning": 4}
    assert {name: line[name] for name in known} == known | dict.fromkeys(missing)
    assert (usage.tokens.prompt, usage.tokens.completion, usage.tokens.cached) == (200, 20, 40)
    assert (usage.requests, usage.refused, usage.unknown_tokens, usage.model_failure) == (2, 0, 0, None)
    assert usage.ttfb_ms is not None


@APIS
def test_the_real_key_goes_on_and_the_tools_does_not(tmp_path: Path, api: Api) -> None:
    cookies = {
        "Cookie": "session=1",
        "X-Forwarded-For": "10.0.0.1",
        "X-Hop": "1",
        "Connection": "X-Hop",
        "X-Own": "stays",
    }
    with attempt(tmp_path, api) as asking:
        assert asking.ask(headers=cookies | {"Host": "elsewhere.example"}).status_code == 200
        seen = asking.server.asked()[0]
    expected = {
        Api.ANTHROPIC: ("x-api-key", REAL_KEY),
        Api.GEMINI: ("x-goog-api-key", REAL_KEY),
    }.get(api, ("authorization", f"Bearer {REAL_KEY}"))
    assert seen.headers[expected[0]] == expected[1]
    assert sum(REAL_KEY in value for value in seen.headers.values()) == 1
    assert asking.tap.key not in str(seen.headers)
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["x-own"] == "stays"
    assert not {"cookie", "x-forwarded-for", "x-hop"} & seen.headers.keys()
    assert seen.headers["host"] == asking.server.url.removeprefix("http://")


@pytest.mark.parametrize(
    ("api", "headers", "query"),
    [
        (Api.ANTHROPIC, {"Authorization": "Bearer {key}"}, ""),
        (Api.GEMINI, {}, "?key={key}"),
        (Api.GEMINI, {"Authorization": "Bearer {key}"}, "?alt=sse&key={key}"),
        (Api.OPENAI_CHAT, {"authorization": "bearer {key}"}, ""),
    ],
)
def test_a_tool_may_show_its_key_in_any_way(tmp_path: Path, api: Api, headers: dict[str, str], query: str) -> None:
    with attempt(tmp_path, api) as asking, session() as tool:
        key = asking.tap.key
        answer = tool.post(
            asking.tap.base_url + asking_path(api) + query.format(key=key),
            data=json.dumps(question(api)),
            headers={name: value.format(key=key) for name, value in headers.items()},
            timeout=PATIENCE_S,
        )
        assert answer.status_code == 200
        assert key not in str(asking.server.asked()[0])
    assert key.encode() not in asking.recorded()


def test_without_a_key_of_its_own_none_goes_on(tmp_path: Path) -> None:
    with attempt(tmp_path, key=None) as asking:
        assert asking.ask().status_code == 200
        assert "authorization" not in asking.server.asked()[0].headers


@pytest.mark.parametrize(
    "body",
    [
        b'{"model": "the-model",\n "temperature": 1.0, "big": 123456789012345678901234567890, "messages": [] }',
        '{"messages":[{"role":"user","content":"\\u00e4 ä \\ud83d 🙂"}],"model":"the-model"}'.encode(),
    ],
)
def test_a_body_for_the_runs_model_goes_on_byte_for_byte(tmp_path: Path, body: bytes) -> None:
    with attempt(tmp_path) as asking:
        asking.ask(body)
        assert asking.server.asked()[0].raw == body


def test_another_model_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    body = b'{"model":"other","messages":[ ],"n":1.50,"big":123456789012345678901234567890,"text":"\\u00e4\\/"}'
    with attempt(tmp_path) as asking:
        asking.ask(body)
        asking.ask(b'{"messages":[]}')
        usage = asking.usage()
        seen = [seen.raw for seen in asking.server.asked()]
    assert seen[0] == body.replace(b"other", MODEL.encode())
    assert json.loads(seen[1])["model"] == MODEL
    assert usage.other_model == 1  # a question that names none is for no other
    assert [line["model_asked"] for line in asking.lines("requests")] == ["other", None]
    assert json.loads(body) == asking.lines("requests")[0]["body"]


def test_half_an_emoji_goes_on_beside_another_model(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking:
        assert asking.ask(b'{"model":"other","messages":[{"content":"cut off \\ud83d"}],"n":1.5}').status_code == 200
        sent = asking.server.asked()[0].body
    assert sent == {"model": MODEL, "messages": [{"content": "cut off \ud83d"}], "n": 1.5}


def test_another_model_in_geminis_path_is_replaced(tmp_path: Path) -> None:
    with attempt(tmp_path, Api.GEMINI) as asking:
        asking.ask(path="/v1beta/models/gemini-2.5-pro:generateContent")
        asking.ask(path=f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse")
        asking.ask(question(Api.GEMINI, model=f"models/{MODEL}"), path=f"/models/{MODEL}:generateContent")
        paths = [(seen.path, seen.query) for seen in asking.server.asked()]
        assert asking.usage().other_model == 1
    assert paths == [
        (f"/v1beta/models/{MODEL}:generateContent", {}),
        (f"/v1beta/models/{MODEL}:streamGenerateContent", {"alt": "sse"}),
        (f"/v1beta/models/{MODEL}:generateContent", {}),
    ]


@pytest.mark.parametrize(
    ("api", "method", "path", "on"),
    [
        (Api.OPENAI_CHAT, "POST", "/chat/completions", "/v1/chat/completions"),
        (Api.OPENAI_CHAT, "GET", "/v1/models", "/v1/models"),
        (Api.OPENAI_CHAT, "GET", "/models/anything", f"/v1/models/{MODEL}"),
        (Api.OPENAI_RESPONSES, "POST", "/responses", "/v1/responses"),
        (Api.OPENAI_RESPONSES, "GET", "/v1/models?client_version=1.0", "/v1/models"),
        (Api.OPENAI_RESPONSES, "POST", "/v1/responses/input_tokens", "/v1/responses/input_tokens"),
        (Api.ANTHROPIC, "POST", "/v1/messages?beta=true", "/v1/messages"),
        (Api.ANTHROPIC, "POST", "/v1/messages/count_tokens?beta=true", "/v1/messages/count_tokens"),
        (Api.ANTHROPIC, "GET", "/v1/models?limit=1000", "/v1/models"),
        (Api.GEMINI, "POST", "/v1beta/models/m:countTokens", f"/v1beta/models/{MODEL}:countTokens"),
        (Api.GEMINI, "POST", "/v1alpha/models/m:generateContent", f"/v1beta/models/{MODEL}:generateContent"),
        (Api.GEMINI, "GET", "/v1beta/models?pageSize=50", "/v1beta/models"),
        (Api.GEMINI, "GET", "/v1beta/models/m", f"/v1beta/models/{MODEL}"),
    ],
)
def test_the_paths_that_tools_ask_for(tmp_path: Path, api: Api, method: str, path: str, on: str) -> None:
    with attempt(tmp_path, api) as asking, session() as tool:
        body = json.dumps(question(api)) if method == "POST" else None
        url = asking.tap.base_url + path
        answer = tool.request(method, url, data=body, headers=asking.shown_key, timeout=PATIENCE_S)
        assert (answer.status_code, asking.server.requests[0].path) == (200, on)
        usage = asking.usage()
        questions = len(asking.server.asked())
    assert (usage.requests, usage.refused, usage.unknown_tokens) == (questions, 0, 0)


@APIS
@pytest.mark.parametrize("prefix", ["/api/paas/v4", "/v1beta/openai"])
def test_an_address_with_a_version_of_its_own_is_kept(tmp_path: Path, api: Api, prefix: str) -> None:
    with serve() as server, attempt(tmp_path, api, upstream=server.url + prefix) as asking:
        answer = asking.ask()
        usage = asking.usage()
        path = asking_path(api).removeprefix("/v1beta" if api is Api.GEMINI else "/v1")
        assert [seen.path for seen in server.requests] == [prefix + path]
    # the scripted server does not know that path: the tool did not choose it
    assert answer.status_code == 404
    assert (usage.model_failure or "").startswith("404 Not Found: no such path")


def test_a_body_in_gzip_is_read(tmp_path: Path) -> None:
    body = json.dumps(question(Api.OPENAI_CHAT)).encode()
    with attempt(tmp_path) as asking:
        assert asking.ask(gzip.compress(body), headers={"Content-Encoding": "gzip"}).status_code == 200
        seen = asking.server.asked()[0]
    assert (seen.raw, seen.headers.get("content-encoding")) == (body, None)


def test_an_answer_in_gzip_is_read_and_recorded_plain(tmp_path: Path) -> None:
    plain = json.dumps({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}).encode()
    with attempt(tmp_path, always=Raw(gzip.compress(plain), headers={"Content-Encoding": "gzip"})) as asking:
        answer = asking.ask()
        assert (answer.content, answer.headers.get("Content-Encoding")) == (plain, None)
        assert asking.usage().tokens == Tokens(prompt=3, completion=4)
    assert (tmp_path / "responses" / "001.json").read_bytes() == plain


def test_headers_of_an_answer_come_back_but_for_cookies(tmp_path: Path) -> None:
    headers = {"Set-Cookie": "a=1", "x-request-id": "r1", "Alt-Svc": "h3", "x-echo": f"key {REAL_KEY}"}
    with attempt(tmp_path, always=Raw(b"{}", headers=headers)) as asking:
        answer = asking.ask()
    assert answer.headers["x-request-id"] == "r1"
    assert not {"set-cookie", "alt-svc"} & {name.lower() for name in answer.headers}
    assert REAL_KEY not in str(answer.headers)


def test_a_tool_may_ask_over_a_unix_socket(tmp_path: Path) -> None:
    import http.client  # noqa: PLC0415
    import socket  # noqa: PLC0415

    class OverSocket(http.client.HTTPConnection):
        def connect(self) -> None:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(str(path))

    path, trace = tmp_path / "model.sock", tmp_path / "trace"
    trace.mkdir()
    with serve() as server, Proxy(Upstream(Api.ANTHROPIC, server.url, REAL_KEY, MODEL), Prices({})) as proxy:
        tap = proxy.attach(trace, socket=path)
        assert tap.base_url == ""
        connection = OverSocket("model")
        body = json.dumps(question(Api.ANTHROPIC))
        connection.request("POST", "/v1/messages", body, {"x-api-key": tap.key})
        assert connection.getresponse().status == 200
        connection.close()
        assert tap.close().requests == 1
        assert not path.exists()
        far = tmp_path / ("x" * 200)
        (tmp_path / "second").mkdir()
        with pytest.raises(LabError, match="cannot listen"):
            proxy.attach(tmp_path / "second", socket=far)
