"""What stands on disk after an attempt: every request, whole lines, no key."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from lab.apis import Api
from lab.errors import LabError
from lab.proxy import recording
from lab.proxy.mask import Mask
from lab.proxy.recording import Recorder
from lab.proxy.records import LatencyLine, RequestLine, UsageLine
from tests.proxy.attempt import MODEL, PATIENCE_S, REAL_KEY, attempt
from tests.proxy.attempt import question as ask_for
from tests.support.model_server import DONE, Fail, Raw, Reply, Seen, serve

PROJECT = Path(__file__).parents[2]
HALF = len(REAL_KEY) // 2


def test_the_lines_are_as_they_are_described(tmp_path: Path) -> None:
    with attempt(tmp_path, script=[DONE, Fail(500, "it broke")]) as asking:
        asking.ask(ask_for(Api.OPENAI_CHAT, model="other", text="a\nb"), headers={"User-Agent": "tool/1", "X-Own": "1"})
        asking.ask()
        asking.ask(path="/v1/files")
    for name, kind in (("requests", RequestLine), ("usage", UsageLine), ("latency", LatencyLine)):
        for line in (tmp_path / f"{name}.jsonl").read_bytes().splitlines():
            assert isinstance(msgspec.json.decode(line, type=kind), kind)
    first, second, third = asking.lines("requests")
    assert (first["n"], first["method"], first["path"]) == (1, "POST", "/v1/chat/completions")
    assert (first["model_asked"], first["other_model"], first["refused"]) == ("other", True, None)
    assert first["headers"] == {"user-agent": "tool/1", "content-type": "application/json"}
    assert first["body"]["text"] == "a\nb"
    assert first["started_at"].endswith("+00:00")
    assert (second["other_model"], second["body"]["model"]) == (False, MODEL)
    assert third["refused"] == "POST /v1/files is not passed on: only questions to the model are"
    assert [line["n"] for line in asking.lines("usage")] == [1]
    good, bad = asking.lines("latency")
    assert (good["n"], good["status"], good["response"], good["error"]) == (1, 200, "001.json", None)
    assert 0 < good["ttfb_ms"] <= good["total_ms"]
    assert good["bytes"] == (tmp_path / "responses" / "001.json").stat().st_size
    assert (bad["n"], bad["status"], bad["error"]) == (2, 500, "500 Internal Server Error: it broke")


@pytest.mark.parametrize(
    ("body", "recorded"),
    [
        (b'{"a":\n [1.50, 123456789012345678901234567890]}', {"a": [1.5, 123456789012345678901234567890]}),
        (b'{"a": "half an emoji: \\ud83d"}', {"a": "half an emoji: \ud83d"}),
        (b"no json\n\xff", "no json\n\ufffd"),
    ],
)
def test_a_body_is_recorded_in_full_be_it_json_or_not(tmp_path: Path, body: bytes, recorded: object) -> None:
    with attempt(tmp_path) as asking:
        asking.ask(body)
    [line] = asking.lines("requests")
    assert line["body"] == recorded


@pytest.mark.parametrize(
    ("api", "step"),
    [
        pytest.param(Api.OPENAI_CHAT, Reply(f"the key is {REAL_KEY}."), id="said by the model"),
        pytest.param(Api.OPENAI_CHAT, Fail(401, f"Incorrect API key provided: {REAL_KEY}"), id="in an error"),
        pytest.param(Api.ANTHROPIC, Fail(400, f"{REAL_KEY} is no key"), id="in an error of the tool's"),
        pytest.param(Api.GEMINI, Raw(f"{REAL_KEY}".encode(), "text/plain"), id="in a text"),
    ],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_real_key_comes_back_to_nobody(tmp_path: Path, api: Api, step: Reply | Fail | Raw, stream: bool) -> None:
    with attempt(tmp_path, api, always=step) as asking:
        answer = asking.ask(stream=stream)
        usage = asking.usage()
    # the scripted stream comes in pieces of twelve characters, so a part of the key is what a model may say
    parts = {REAL_KEY, REAL_KEY[3:]} if not stream else {REAL_KEY}
    for part in parts:
        assert part not in answer.text
        assert part not in str(answer.headers)
        assert part.encode() not in asking.recorded()
        assert part not in str(usage)


def test_a_key_spread_over_two_pieces_comes_back_to_nobody(tmp_path: Path) -> None:
    pieces = [f"data: {REAL_KEY[:HALF]}".encode(), REAL_KEY[HALF:].encode() + b"\n\n"]
    with attempt(tmp_path, Api.ANTHROPIC, always=_in_pieces(pieces)) as asking:
        answer = asking.ask(stream=True)
    assert answer.content == b"data: " + b"*" * len(REAL_KEY) + b"\n\n"
    assert (tmp_path / "responses" / "001.sse").read_bytes() == answer.content


def _in_pieces(pieces: list[bytes]) -> Raw:
    return Raw(b"".join(pieces), "text/event-stream", pieces=tuple(pieces))


def test_a_key_that_an_error_spells_in_escapes_comes_back_to_nobody(tmp_path: Path) -> None:
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in REAL_KEY)
    with attempt(tmp_path, always=Raw(f'{{"error":{{"message":"no {escaped}"}}}}'.encode(), status=401)) as asking:
        answer = asking.ask()
        usage = asking.usage()
    stars = f"no {'*' * len(escaped)}"
    assert answer.json() == {"error": {"message": stars}}
    assert json.loads((tmp_path / "responses" / "001.json").read_bytes()) == answer.json()
    assert usage.model_failure == f"401 Unauthorized: {stars}"
    assert REAL_KEY.encode() not in asking.recorded()


def test_an_error_that_is_called_by_half_an_emoji_can_be_written(tmp_path: Path) -> None:
    with attempt(tmp_path, always=Raw(rb'{"error":{"type":"\ud83d","message":"\ud83d"}}')) as asking:
        asking.ask()
        usage = asking.usage()
    assert msgspec.json.decode(msgspec.json.encode(usage))["model_failure"] == r"\ud83d: \ud83d"
    assert asking.lines("latency")[0]["error"] == usage.model_failure


def test_the_tools_key_is_not_recorded_though_the_model_may_repeat_it(tmp_path: Path) -> None:
    def repeat(seen: Seen) -> Reply:
        return Reply(seen.body["messages"][0]["content"])

    with attempt(tmp_path, always=repeat) as asking:
        key = asking.tap.key
        body = ask_for(Api.OPENAI_CHAT)
        body["messages"][0]["content"] = f"my key is {key}"
        answer = asking.ask(body, headers={"User-Agent": key})
        assert answer.json()["choices"][0]["message"]["content"] == f"my key is {key}"
        escaped = json.dumps(body).replace(key[0], f"\\u{ord(key[0]):04x}").encode()
        asking.ask(escaped)
    assert key.encode() not in asking.recorded()


def test_an_answer_is_recorded_up_to_a_limit_and_passed_on_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "MAX_RESPONSE_BYTES", 100_000)
    pieces = (b'"' + b"x" * 60_000, b"y" * 60_000, b'z"')
    body = b"".join(pieces)
    with attempt(tmp_path, always=Raw(body, pieces=pieces)) as asking:
        assert asking.ask().content == body
    size = (tmp_path / "responses" / "001.json").stat().st_size
    assert 0 < size <= 100_000
    assert f"only the first {size} bytes" in asking.lines("latency")[0]["left_out"]


def test_a_trace_is_never_written_over(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking, pytest.raises(LabError, match="File exists"):
        asking.proxy.attach(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "usage.jsonl").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LabError, match="File exists"):
        Recorder(tmp_path / "other", Mask([]))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("what", ["line", "answer"])
def test_a_full_disk_is_said_at_the_end_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        if path.name == ("requests.jsonl" if what == "line" else "001.json"):
            if len(data) > 10:
                return write(descriptor, data[:10])  # a part of it still fits
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    with attempt(tmp_path) as asking:
        monkeypatch.setattr("lab.proxy.recording.os.write", full)
        assert asking.ask().status_code == 200
        with pytest.raises(LabError, match="the disk is full"):
            asking.tap.close()
        assert asking.tap.close().requests == 1
        monkeypatch.undo()
    assert len(asking.lines("requests")) == (0 if what == "line" else 1)
    assert len(asking.lines("latency")) == 1


KILLED = """
import sys, threading, time
from pathlib import Path
from lab.apis import Api
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
with Proxy(Upstream(Api.OPENAI_CHAT, sys.argv[1], None, "m"), Prices({})) as proxy:
    tap = proxy.attach(Path(sys.argv[2]))
    print(tap.base_url, tap.key, flush=True)
    time.sleep(60)
"""


def test_a_kill_leaves_whole_lines(tmp_path: Path) -> None:
    import requests  # noqa: PLC0415

    with serve() as server:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, server.url, str(tmp_path)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        url, key = process.stdout.readline().split()
        asked = 0
        deadline = time.monotonic() + PATIENCE_S
        with requests.Session() as tool:
            tool.trust_env = False
            while asked < 50 and time.monotonic() < deadline:
                body = ask_for(Api.OPENAI_CHAT, text="x" * 5000)
                tool.post(
                    f"{url}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=9
                )
                asked += 1
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    # the last exchange may have been answered just before its line was written
    for name, least in (("requests", asked), ("usage", asked - 1), ("latency", asked - 1)):
        text = (tmp_path / f"{name}.jsonl").read_text("utf-8")
        assert text.endswith("\n")
        assert least <= len([json.loads(line) for line in text.splitlines()]) <= asked
