"""Tokens, ends and errors, read out of answers in all the shapes that the four APIs and their look-alikes have."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.apis import Api
from lab.proxy import events
from lab.proxy.answer import READERS, Answer
from lab.proxy.events import Event, EventStream
from lab.proxy.summary import Tokens

CHAT, RESPONSES, ANTHROPIC, GEMINI = Api.OPENAI_CHAT, Api.OPENAI_RESPONSES, Api.ANTHROPIC, Api.GEMINI
NONE = Tokens()


def read(api: Api, *chunks: dict[str, Any], events: bool) -> Answer:
    answer = READERS[api](events=events)
    if events:
        for chunk in chunks:
            answer.feed(f"data: {json.dumps(chunk)}\n\n".encode())
    else:
        answer.feed(json.dumps(chunks[0] if len(chunks) == 1 else chunks).encode())
    answer.end()
    return answer


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param({"prompt_tokens": 7, "completion_tokens": 3}, Tokens(prompt=7, completion=3), id="bare"),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            Tokens(prompt=9, cached=4, cache_write=2, completion=5, reasoning=3),
            id="details",
        ),
        pytest.param(
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None},
            Tokens(prompt=9, completion=5),
            id="no details",
        ),
        pytest.param(
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8},
            Tokens(prompt=9, completion=1, cached=8),
            id="deepseek",
        ),
        pytest.param(
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 34,
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
            Tokens(prompt=9, completion=25, reasoning=20),
            id="reasoning beside the completion",
        ),
        pytest.param({"prompt_tokens": 0, "completion_tokens": 0}, Tokens(prompt=0, completion=0), id="zero is known"),
        pytest.param({"prompt_tokens": "7", "completion_tokens": 3}, Tokens(completion=3), id="text"),
        pytest.param({"prompt_tokens": -1, "completion_tokens": True}, NONE, id="negative and truth"),
        pytest.param({"prompt_tokens": 10**12, "completion_tokens": 1.0}, NONE, id="huge and float"),
        pytest.param({"prompt_tokens": None, "completion_tokens": [1]}, NONE, id="null and list"),
        pytest.param(
            {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}},
            Tokens(completion=1),
            id="more cached than there was",
        ),
        pytest.param(
            {"prompt_tokens": 3, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 4}},
            Tokens(prompt=3, completion=1),
            id="more reasoned than there was",
        ),
        pytest.param({}, NONE, id="empty"),
        pytest.param([1], NONE, id="a list"),
        pytest.param("7", NONE, id="a text"),
    ],
)
@pytest.mark.parametrize("events", [False, True], ids=["whole", "streamed"])
def test_openai_chat(usage: object, expected: Tokens, events: bool) -> None:
    answer = read(CHAT, {"choices": [{"finish_reason": "stop"}], "usage": usage}, events=events)
    assert answer.tokens() == expected
    assert answer.finished


ANTHROPIC_WHOLE = {
    "type": "message",
    "usage": {
        "input_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 8,
    },
}


def started(**usage: object) -> dict[str, Any]:
    return {"type": "message_start", "message": {"usage": usage}}


def delta(**usage: object) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}


@pytest.mark.parametrize(
    ("api", "chunks", "events", "expected"),
    [
        pytest.param(
            RESPONSES,
            [
                {"type": "response.created", "response": {"usage": None}},
                {
                    "type": "response.completed",
                    "response": {
                        "usage": {
                            "input_tokens": 20,
                            "input_tokens_details": {"cached_tokens": 12},
                            "output_tokens": 9,
                            "output_tokens_details": {"reasoning_tokens": 8},
                        }
                    },
                },
            ],
            True,
            Tokens(prompt=20, cached=12, completion=9, reasoning=8),
            id="responses streamed",
        ),
        pytest.param(
            RESPONSES,
            [{"object": "response", "error": None, "usage": {"input_tokens": 2, "output_tokens": 1}}],
            False,
            Tokens(prompt=2, completion=1),
            id="responses whole",
        ),
        pytest.param(
            ANTHROPIC,
            [ANTHROPIC_WHOLE],
            False,
            Tokens(prompt=135, cached=100, cache_write=30, completion=8),
            id="anthropic whole",
        ),
        pytest.param(
            ANTHROPIC,
            [started(input_tokens=5, cache_read_input_tokens=7, output_tokens=1), delta(output_tokens=8)],
            True,
            Tokens(prompt=12, cached=7, completion=8),
            id="anthropic streamed",
        ),
        pytest.param(
            ANTHROPIC,
            [started(input_tokens=5, output_tokens=1), delta(output_tokens=3), delta(output_tokens=8)],
            True,
            Tokens(prompt=5, completion=8),
            id="anthropic counts on",
        ),
        pytest.param(
            ANTHROPIC,
            [started(input_tokens=5, output_tokens=1)],
            True,
            Tokens(prompt=5),
            id="anthropic cut off: its first figure means nothing",
        ),
        pytest.param(
            ANTHROPIC,
            [started(input_tokens=0), delta(input_tokens=9, cache_read_input_tokens=None, output_tokens=2)],
            True,
            Tokens(prompt=9, completion=2),
            id="anthropic's look-alikes count all at the end",
        ),
        pytest.param(
            GEMINI,
            [
                {"candidates": [{}], "usageMetadata": {"promptTokenCount": 50, "totalTokenCount": 50}},
                {
                    "candidates": [{"finishReason": "STOP"}],
                    "usageMetadata": {
                        "promptTokenCount": 50,
                        "cachedContentTokenCount": 40,
                        "candidatesTokenCount": 6,
                        "thoughtsTokenCount": 3,
                        "totalTokenCount": 59,
                    },
                },
            ],
            True,
            Tokens(prompt=50, cached=40, completion=9, reasoning=3),
            id="gemini streamed",
        ),
        pytest.param(
            GEMINI,
            [{"candidates": []}, {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 1}}],
            False,
            Tokens(prompt=5, completion=1),
            id="gemini streamed as a list",
        ),
        pytest.param(
            GEMINI,
            [{"usageMetadata": {"promptTokenCount": 5, "thoughtsTokenCount": 7, "totalTokenCount": 12}}],
            False,
            Tokens(prompt=5, completion=7, reasoning=7),
            id="gemini leaves out zeros",
        ),
        pytest.param(
            GEMINI,
            [{"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": "1", "totalTokenCount": 6}}],
            False,
            Tokens(prompt=5),
            id="gemini with a text",
        ),
    ],
)
def test_the_other_apis(api: Api, chunks: list[dict[str, Any]], events: bool, expected: Tokens) -> None:
    assert read(api, *chunks, events=events).tokens() == expected


def test_what_is_kept_for_an_hour_is_told_apart() -> None:
    assert read(ANTHROPIC, ANTHROPIC_WHOLE, events=False).hour_writes == 20


@pytest.mark.parametrize("api", list(Api))
@pytest.mark.parametrize(
    "body", [b"", b"null", b"[]", b"{", b'"x"', b"<html>", b"\xff\xfe", b"[" * 100_000, b"data: {\n\n", b"{" * 9]
)
@pytest.mark.parametrize("events", [False, True])
def test_what_looks_like_no_answer_says_nothing(api: Api, body: bytes, events: bool) -> None:
    answer = READERS[api](events=events)
    answer.feed(body)
    answer.end()
    assert (answer.tokens(), answer.finished, answer.error, answer.hour_writes) == (NONE, False, None, 0)


@pytest.mark.parametrize(
    ("api", "last"),
    [
        (CHAT, b"data: [DONE]\n\n"),
        (CHAT, b'data: {"choices":[{"finish_reason":"length"}]}\n\n'),
        (RESPONSES, b'event: x\ndata: {"type":"response.incomplete","response":{}}\n\n'),
        (ANTHROPIC, b'data: {"type":"message_stop"}\r\n\r\n'),
        (GEMINI, b'data: {"candidates":[{"finishReason":"MAX_TOKENS"}]}\r\n\r\n'),
        (GEMINI, b'data: {"promptFeedback":{"blockReason":"SAFETY"}}'),
    ],
)
def test_the_end_of_a_stream_is_known_by_its_own_words(api: Api, last: bytes) -> None:
    answer = READERS[api](events=True)
    answer.feed(b'data: {"choices":[{"finish_reason":null}],"candidates":[{}],"type":"message_start"}\n\n')
    assert not answer.finished
    answer.feed(last)
    answer.end()
    assert answer.finished


@given(st.lists(st.sampled_from([b"data: a\ndata:b\n\n", b": c\r\n\r\n", b"event: e\rdata: x\r\r", b"\n"])), st.data())
def test_events_are_the_same_however_they_are_cut(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def events(*pieces: bytes) -> list[Event]:
        stream = EventStream()
        return [event for piece in pieces for event in stream.feed(piece)] + list(stream.rest())

    assert events(*pieces) == events(text)
    assert b"".join(event.raw for event in events(*pieces)) == text


def test_events_beyond_a_limit_go_on_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 3)
    stream = EventStream()
    seen = [*stream.feed(b"data: 1\n\n\n\n\n\ndata: 2\n\nda"), *stream.feed(b"ta: 3\n\n"), *stream.rest()]
    assert [event.data for event in seen] == [b"1", b"", b"", b"", b""]
    assert b"".join(event.raw for event in seen) == b"data: 1\n\n\n\n\n\ndata: 2\n\ndata: 3\n\n"
