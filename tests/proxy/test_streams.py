"""Streams: as they are sent, fifty at once, and their tokens told to lab only."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.proxy.summary import Tokens
from tests.proxy.attempt import PATIENCE_S, asking_path, attempt, question, session
from tests.support.model_server import TOKENS, Fail, Reply, Slow

if TYPE_CHECKING:
    from pathlib import Path

    import requests

    from tests.support.model_server import Chosen


def test_a_chat_stream_tells_its_tokens_to_lab_only(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking:
        hidden = asking.ask(stream=True).text
        wanted = asking.ask(question(Api.OPENAI_CHAT, stream=True, stream_options={"include_usage": True})).text
        unwanted = asking.ask(question(Api.OPENAI_CHAT, stream=True, stream_options={"include_usage": False})).text
        asked = [seen.body.get("stream_options") for seen in asking.server.asked()]
        usage = asking.usage()
    assert "usage" not in hidden
    assert "usage" in wanted
    assert hidden == unwanted
    assert hidden.endswith("data: [DONE]\n\n")
    assert asked == [{"include_usage": True}] * 3
    # also what a tool does not want to know counts against a budget
    assert (usage.tokens.prompt, usage.unknown_tokens) == (300, 0)
    lines = asking.lines("requests")
    assert [line["usage_added"] for line in lines] == [True, False, True]
    assert lines[2]["body"]["stream_options"] == {"include_usage": False}


def test_a_provider_that_refuses_to_tell_tokens_is_asked_in_the_tools_own_words(tmp_path: Path) -> None:
    script: list[Chosen] = [Fail(400, "unknown parameter: stream_options"), DONE_SAYING_NOTHING, DONE_SAYING_NOTHING]
    with attempt(tmp_path, script=script) as asking:
        assert asking.ask(stream=True).status_code == 200
        assert asking.ask(stream=True).status_code == 200
        asked = ["stream_options" in seen.body for seen in asking.server.asked()]
        usage = asking.usage()
    assert asked == [True, False, False]
    assert (usage.requests, usage.unknown_tokens, usage.tokens, usage.model_failure) == (2, 2, Tokens(), None)


DONE_SAYING_NOTHING = Reply("done", tokens=None)


@pytest.mark.parametrize("api", [Api.OPENAI_CHAT, Api.ANTHROPIC], ids=["read by events", "read by pieces"])
def test_a_stream_comes_as_it_is_sent(tmp_path: Path, api: Api) -> None:
    """The first piece is there long before the last is sent, with events hidden from it or not."""
    step = Slow(Reply("x" * 60), between_s=0.3)
    with attempt(tmp_path, api, always=step) as asking, session() as tool:
        body = question(asking.api, stream=True)
        started = time.monotonic()
        answer = tool.post(
            asking.tap.base_url + asking_path(asking.api),
            data=json.dumps(body),
            headers=asking.shown_key,
            stream=True,
            timeout=PATIENCE_S,
        )
        pieces = answer.iter_content(None)
        next(pieces)
        first = time.monotonic() - started
        more = len(list(pieces))
        last = time.monotonic() - started
    assert more > 3
    assert last > 1.5
    assert first < last / 2
    line = asking.lines("latency")[0]
    assert line["ttfb_ms"] < 1000 * last / 2 < line["total_ms"]


def test_fifty_streams_at_once(tmp_path: Path) -> None:
    step = Slow(Reply("y" * 120), first_s=0.5, between_s=0.05)
    with attempt(tmp_path, always=step) as asking:
        answers: list[requests.Response] = []
        threads = [
            threading.Thread(target=lambda: answers.append(asking.ask(stream=True)), daemon=True) for _ in range(50)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
        assert asking.server.most_open == 50
        usage = asking.usage()
        total = asking.proxy.total()
    assert len({answer.content for answer in answers}) == 1
    assert [answer.status_code for answer in answers] == [200] * 50
    assert (usage.requests, usage.tokens.prompt, usage.model_failure) == (50, 50 * (TOKENS.prompt or 0), None)
    assert total == usage
    assert sorted(line["n"] for line in asking.lines("latency")) == list(range(1, 51))
