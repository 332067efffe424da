"""A recorded exchange as turns: the same in all four APIs, streamed or not; and whatever was done to the files."""

from __future__ import annotations

import json
import os
import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
import requests

from lab.apis import Api
from lab.trace.exchange import Exchange, read_trace
from lab.trace.turn import Part, Turn
from tests.proxy.attempt import asking_path, attempt
from tests.support.model_server import Drop, Fail, Reply
from tests.trace.recorded import ARGUMENTS, FIRST, LAST, QUESTION, RESULT, SYSTEM, record

if TYPE_CHECKING:
    from pathlib import Path

WAYS = [(api, stream) for api in Api for stream in (False, True)]
IDS = [f"{api}{'-streamed' if stream else ''}" for api, stream in WAYS]
PATHS = {api: asking_path(api) for api in Api}


@pytest.mark.parametrize(("api", "stream"), WAYS, ids=IDS)
def test_a_conversation(tmp_path: Path, api: Api, stream: bool) -> None:
    record(tmp_path, api, stream=stream)
    first, last = read_trace(tmp_path)
    assert [(turn.role, [part.text for part in turn.parts]) for turn in first.new] == [
        ("system", [SYSTEM]),
        ("user", [QUESTION]),
    ]
    (answer,) = first.answer
    said, call = answer.parts
    assert (answer.role, said.kind, said.text) == ("assistant", "text", FIRST.text)
    assert (call.kind, call.name, json.loads(call.text)) == ("call", "write", ARGUMENTS)
    (result,) = last.new
    assert (result.role, [(part.kind, part.text) for part in result.parts]) == ("tool", [("result", RESULT)])
    if api is not Api.GEMINI:
        assert result.parts[0].call == call.call is not None
    assert last.answer == (Turn(role="assistant", parts=(Part(kind="text", text=LAST.text),)),)
    assert [(one.n, one.status, one.prompt, one.completion, one.problems) for one in (first, last)] == [
        (1, 200, 100, 10, ()),
        (2, 200, 100, 10, ()),
    ]
    assert first.total_ms is not None


@pytest.mark.parametrize(("api", "stream"), WAYS, ids=IDS)
def test_the_end_of_an_attempt_that_was_killed(tmp_path: Path, api: Api, stream: bool) -> None:
    record(tmp_path, api, stream=stream)
    whole = list(read_trace(tmp_path))
    for name in ("latency.jsonl", "usage.jsonl"):
        (tmp_path / name).write_text("")
    killed = list(read_trace(tmp_path))
    assert [(one.new, one.answer) for one in killed] == [(one.new, one.answer) for one in whole]
    assert {(one.status, one.total_ms, one.prompt) for one in killed} == {(None, None, None)}


@pytest.mark.parametrize("api", list(Api))
def test_an_answer_that_broke_off(tmp_path: Path, api: Api) -> None:
    with (
        attempt(tmp_path, api, [Drop(Reply("a long answer " * 20), pieces=6)]) as made,
        pytest.raises(requests.RequestException),
    ):
        made.ask(stream=True)
    (one,) = read_trace(tmp_path)
    assert "a long answer".startswith(one.answer[0].parts[0].text[:13])
    assert one.answer[0].parts[0].text
    assert any("cut off" in problem for problem in one.problems)


def test_what_was_refused_and_what_failed(tmp_path: Path) -> None:
    with attempt(tmp_path, script=[Fail(503, "busy")]) as made:
        made.ask(path="/v1/files")
        made.ask(b"no JSON")
        made.ask()
    files, spoiled, failed = read_trace(tmp_path)
    assert (files.request, files.answer) == ("POST /v1/files", ())
    assert "not passed on" in files.problems[0]
    assert "not JSON" in spoiled.problems[0]
    assert (failed.status, failed.answer, failed.problems) == (503, (), ("503 Service Unavailable: busy",))


def write(folder: Path, *messages: list[Any]) -> list[Exchange]:
    """A trace of these requests of OpenAI chat."""
    lines = [
        {"n": n, "method": "POST", "path": "/v1/chat/completions", "body": {"messages": said}}
        for n, said in enumerate(messages, start=1)
    ]
    (folder / "requests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return list(read_trace(folder))


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_only_what_is_new_is_told(tmp_path: Path) -> None:
    answer = {"role": "assistant", "content": "fine"}
    told = write(
        tmp_path,
        [user("a"), answer, user("b")],  # an example before the question
        [user("a"), answer, user("b"), answer, user("b")],  # the same again is new
        [user("title of this?")],  # asked beside
        [user("summary"), user("b"), answer, user("c")],  # shortened
    )
    assert [[turn.parts[0].text for turn in one.new] for one in told] == [
        ["a", "fine", "b"],
        ["b"],
        ["title of this?"],
        ["summary", "c"],
    ]


SHAPES: dict[str, tuple[Api, dict[str, Any], list[tuple[str, str, str]]]] = {
    "images, and content that is none": (
        Api.OPENAI_CHAT,
        {
            "messages": [
                user("x") | {"content": [{"type": "image_url"}, 3, {"type": "text", "text": "see"}, None]},
                7,
                {},
            ]
        },
        [("user", "text", "[image_url]see")],
    ),
    "thoughts": (
        Api.OPENAI_CHAT,
        {"messages": [{"role": "assistant", "reasoning_content": "hm", "content": "yes", "refusal": "or no"}]},
        [("assistant", "reasoning", "hm"), ("assistant", "text", "yesor no")],
    ),
    "calls of other kinds": (
        Api.OPENAI_CHAT,
        {
            "messages": [
                {"role": "assistant", "tool_calls": [{"custom": {"name": "c", "input": "text"}}]},
                {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
                {"role": "function", "name": "f", "content": "out"},
            ]
        },
        [("assistant", "call", "text"), ("assistant", "call", "{}"), ("tool", "result", "out")],
    ),
    "items": (
        Api.OPENAI_RESPONSES,
        {
            "input": [
                {"type": "reasoning", "summary": [{"text": "hm"}], "content": None},
                {"type": "custom_tool_call", "name": "patch", "input": "*** Begin"},
                {"type": "local_shell_call", "action": {"command": ["ls"]}},
                {"type": "custom_tool_call_output", "output": [{"type": "input_text", "text": "done"}]},
                {"type": "item_reference", "id": "x"},
                {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
            ]
        },
        [
            ("assistant", "reasoning", "hm"),
            ("assistant", "call", "*** Begin"),
            ("assistant", "call", '{"command": ["ls"]}'),
            ("tool", "result", "done"),
            ("assistant", "text", "[item_reference]"),
            ("assistant", "text", "no"),
        ],
    ),
    "one text": (Api.OPENAI_RESPONSES, {"input": "hello", "instructions": 3}, [("user", "text", "hello")]),
    "blocks": (
        Api.ANTHROPIC,
        {
            "system": "be good",
            "messages": [
                {
                    "role": "assistant",
                    "content": [{"type": "thinking", "thinking": "hm"}, {"type": "redacted_thinking"}],
                },
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "and"}, {"type": "tool_result", "content": "out"}],
                },
            ],
        },
        [
            ("system", "text", "be good"),
            ("assistant", "reasoning", "hm"),
            ("assistant", "text", "[redacted_thinking]"),
            ("tool", "result", "out"),
            ("user", "text", "and"),
        ],
    ),
    "parts": (
        Api.GEMINI,
        {
            "system_instruction": {"parts": {"text": "be good"}},
            "contents": {
                "parts": [
                    {"text": "hm", "thought": True},
                    {"text": "see"},
                    {"inlineData": {}},
                    {"functionResponse": {"name": "f", "response": {"a": 1, "b": 2}}},
                ]
            },
        },
        [
            ("system", "text", "be good"),
            ("tool", "result", '{"a": 1, "b": 2}'),
            ("user", "reasoning", "hm"),
            ("user", "text", "see[inlineData]"),
        ],
    ),
}


@pytest.mark.parametrize(("api", "body", "told"), SHAPES.values(), ids=SHAPES)
def test_shapes_of_requests(tmp_path: Path, api: Api, body: dict[str, Any], told: list[tuple[str, str, str]]) -> None:
    line = {"n": 1, "method": "POST", "path": PATHS[api], "body": body}
    (tmp_path / "requests.jsonl").write_text(json.dumps(line) + "\n")
    (one,) = read_trace(tmp_path)
    assert [(turn.role, part.kind, part.text) for turn in one.new for part in turn.parts] == told


def test_nothing_was_recorded(tmp_path: Path) -> None:
    assert list(read_trace(tmp_path)) == []
    assert list(read_trace(tmp_path / "none")) == []


@pytest.mark.parametrize("name", ["requests.jsonl", "latency.jsonl", "usage.jsonl", "responses/001.json"])
def test_files_that_are_none(tmp_path: Path, name: str) -> None:
    record(tmp_path, Api.OPENAI_CHAT, stream=False)
    (tmp_path / name).unlink()
    for make in (
        lambda path: path.symlink_to("/etc/passwd"),
        lambda path: path.mkdir(),
        os.mkfifo,
        lambda path: path.write_bytes(b"\xff\x00[[[{" * 1000 + b"\n" + b"[" * 200_000 + b"\n" + b"9" * 5000),
    ):
        make(tmp_path / name)
        told = list(read_trace(tmp_path))
        assert msgspec.json.encode(told)
        assert b"root:" not in msgspec.json.encode(told)
        if name == "requests.jsonl":
            assert all("cannot be read" in one.problems[0] for one in told)
        path = tmp_path / name
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_an_answer_outside_its_folder_is_not_read(tmp_path: Path) -> None:
    record(tmp_path, Api.OPENAI_CHAT, stream=False)
    (tmp_path / "secret.json").write_text('{"choices": [{"message": {"content": "secret"}}]}')
    for name in ("../secret.json", "/etc/passwd", "", 3):
        (tmp_path / "latency.jsonl").write_text(json.dumps({"n": 1, "response": name}) + "\n")
        assert "secret" not in str(next(read_trace(tmp_path)).answer)


DEEP: list[Any] = []
for _ in range(500):
    DEEP = [DEEP]
VALUES: list[Any] = [
    DEEP,
    10**30,
    "\ud83d",
    None,
    0,
    -1,
    True,
    1e308,
    "",
    "text",
    "\u202e\x1b[2J",
    [],
    {},
    [[]],
    [{}],
    {"text": 1},
    ["a"],
]


@pytest.mark.parametrize(("api", "stream"), WAYS, ids=IDS)
def test_no_value_is_taken_for_granted(tmp_path: Path, api: Api, stream: bool) -> None:
    """Every file of a trace with a value somewhere in it changed for one of another kind."""
    record(tmp_path, api, stream=stream)
    chosen = random.Random(f"{api}{stream}")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    originals = {path: path.read_text() for path in files}
    for _ in range(400):
        path = chosen.choice(files)
        lines = originals[path].splitlines(keepends=True)
        at = chosen.choice([number for number, line in enumerate(lines) if "{" in line])
        head, brace, rest = lines[at].partition("{")
        value = json.loads(brace + rest)
        _spoil(value, chosen)
        lines[at] = f"{head}{json.dumps(value)}\n"
        path.write_text("".join(lines))
        for exchange in read_trace(tmp_path):
            msgspec.json.encode(exchange)
        path.write_text(originals[path])


def _spoil(value: Any, chosen: random.Random) -> None:
    """Change one value inside, as deep as chance goes."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = chosen.choice(keys)
    if isinstance(value[key], (dict, list)) and value[key] and chosen.random() < 0.8:
        _spoil(value[key], chosen)
    else:
        value[key] = chosen.choice(VALUES)
