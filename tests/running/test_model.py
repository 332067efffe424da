"""The built-in tool `model`: what it asks, what it makes of the answer, and whose fault a failure is."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from lab.apis import Api
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from lab.running import chat
from lab.running.chat import pause_of
from lab.running.model import model_tool
from lab.running.sampling import Sampling
from tests.running.agents import TASK, Ground
from tests.support.model_server import Drop, Fail, Raw, Reply, Seen, Slow, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.running.attempt import Tried
    from lab.running.model import ModelTool
    from tests.support.laboratory import Laboratory
    from tests.support.model_server import Chosen, Server, Step

CODE = "def f(x):\n    return x + 1\n"
GOOD = Reply(f"Here:\n```python\n{CODE}```\n")
FAST_S = 0.01
ONE = Sampling()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "FIRST_PAUSE_S", FAST_S)


@dataclasses.dataclass
class Bench:
    """A tool with its model."""

    tool: ModelTool
    server: Server
    folder: Path

    def attempt(self, stopping: threading.Event | None = None) -> Tried:
        planned = next(iter(self.tool.plan([TASK])))
        return self.tool.attempt(planned, self.folder, stopping or threading.Event())

    @property
    def solution(self) -> Path:
        return self.folder / "work/solution.py"

    def bodies(self) -> list[Any]:
        return [seen.body for seen in self.server.asked()]


@contextlib.contextmanager
def bench(
    ground: Ground,
    script: Sequence[Chosen] = (),
    always: Chosen = GOOD,
    sampling: Sampling = ONE,
    *,
    timeout_s: float = 30.0,
) -> Iterator[Bench]:
    with (
        serve(script, always=always) as server,
        Proxy(Upstream(Api.OPENAI_CHAT, server.url, "sk-real", "the-model"), Prices({})) as proxy,
    ):
        tool = model_tool(
            proxy=proxy, model="the-model", timeout_s=timeout_s, sampling=sampling, suite=ground.root.suite("tiny")
        )
        yield Bench(tool, server, ground.folder / "attempt-1")


def test_one_question_and_its_code(ground: Ground) -> None:
    with bench(ground, sampling=Sampling(temperature=0.5, max_tokens=99)) as made:
        tried = made.attempt()
    assert tried.work is not None
    assert made.solution.read_text() == CODE
    assert (made.folder / "trace/reply.txt").read_text() == GOOD.text
    assert (tried.stop, tried.missing, tried.notes) == ("done", "", ())
    assert tried.usage is not None
    assert (tried.usage.requests, tried.usage.tokens.completion) == (1, 10)
    (body,) = made.bodies()
    (message,) = body.pop("messages")
    assert body == {"model": "the-model", "temperature": 0.5, "max_tokens": 99}
    assert message["role"] == "user"
    assert "`f`" in message["content"]
    assert "{" not in message["content"]


def test_samples_are_runs_and_their_number_is_no_setting(ground: Ground) -> None:
    with bench(ground, sampling=Sampling(num_samples=3)) as three, bench(ground) as one:
        planned = list(three.tool.plan([TASK]))
        assert [run.sample for run in planned] == [0, 1, 2]
        assert [run.setup for run in one.tool.plan([TASK])] == [planned[2].setup]
    setup = planned[0].setup
    assert (setup.tool, setup.model, setup.api) == ("model", "the-model", "openai-chat")
    assert (setup.isolation, setup.network) == ("none", "model")
    assert {"temperature", "max_tokens", "timeout_s", "prompt_sha256"} == set(setup.settings)


NOTHING = {
    "words": (Reply("I cannot."), "nothing in the reply defines f"),
    "nothing": (Reply(""), "the reply is empty"),
    "parts, none of which is text": (
        Raw(
            json.dumps(
                {"choices": [{"message": {"content": [{"type": "thinking"}, 3]}, "finish_reason": "stop"}]}
            ).encode()
        ),
        "the reply is empty",
    ),
    "a refused question": (Fail(400, "too long for me"), "400 Bad Request: too long for me"),
    "an error of the question with status 200": (
        Raw(b'{"error": {"type": "invalid_request_error", "message": "no"}}'),
        "invalid_request_error: no",
    ),
    "a redirection": (Raw(b"", status=302, headers={"Location": "/v1/elsewhere"}), "lab does not follow that"),
}


@pytest.mark.parametrize(("step", "why"), NOTHING.values(), ids=NOTHING)
def test_nothing_is_written_where_there_is_no_code(ground: Ground, step: Chosen, why: str) -> None:
    with bench(ground, always=step) as made:
        tried = made.attempt()
    assert tried.work is None
    assert why in tried.missing
    assert not made.solution.exists()


def test_a_reply_that_was_cut(ground: Ground) -> None:
    cut = {"choices": [{"message": {"content": "```python\ndef f(x):\n    retu"}, "finish_reason": "length"}]}
    with bench(ground, always=Raw(json.dumps(cut).encode())) as made:
        tried = made.attempt()
    assert tried.notes == ("the reply was cut off before its end (--max-tokens is 4096)",)
    assert made.solution.read_text() == "def f(x):\n    retu\n"


def test_half_an_emoji(ground: Ground) -> None:
    text = json.dumps({"choices": [{"message": {"content": f"{CODE}# \ud83d"}, "finish_reason": "stop"}]})
    with bench(ground, always=Raw(text.encode())) as made:
        tried = made.attempt()
    assert made.solution.read_text() == f"{CODE}# ?\n"
    assert tried.work is not None
    assert tried.usage is not None
    assert tried.usage.model_failure is None


PASSING = {
    "a limit": Fail(429),
    "overload": Fail(503),
    "no connection": Drop(GOOD, pieces=0),
    "a connection that broke off": Drop(GOOD),
    "no JSON": Raw(b"<html>"),
    "no message": Raw(b'{"choices": []}'),
    "an error with status 200": Raw(b'{"error": {"type": "server_error", "message": "overloaded"}}'),
}


@pytest.mark.parametrize("step", PASSING.values(), ids=PASSING)
def test_what_may_pass_is_tried_again(ground: Ground, step: Chosen) -> None:
    with bench(ground, [step, step]) as made:
        tried = made.attempt()
    assert (tried.stop, len(made.bodies())) == ("done", 3)
    assert tried.work is not None


@pytest.mark.parametrize("step", PASSING.values(), ids=PASSING)
def test_what_does_not_pass_is_the_models_failure(ground: Ground, step: Chosen) -> None:
    with bench(ground, always=step) as made:
        tried = made.attempt()
    # the proxy does not see that a whole answer is of no use
    stop = "done" if step is PASSING["no message"] else "model-failure"
    assert (tried.stop, tried.work, len(made.bodies())) == (stop, None, chat.MAX_TRIES)
    assert tried.usage is not None
    assert (tried.usage.model_failure is None) == (stop == "done")


@pytest.mark.parametrize(("status", "stop"), [(401, "model-failure"), (403, "model-failure"), (400, "done")])
def test_what_will_not_pass_is_asked_once(ground: Ground, status: int, stop: str) -> None:
    with bench(ground, always=Fail(status)) as made:
        assert made.attempt().stop == stop
    assert len(made.bodies()) == 1


def test_it_waits_as_long_as_the_provider_says(ground: Ground) -> None:
    with bench(ground, [Fail(429, headers={"Retry-After": "0.5"})]) as made:
        tried = made.attempt()
    assert tried.work is not None
    assert 0.5 <= tried.wall_s < 20


def test_it_gives_up_where_the_wait_would_outlast_its_time(ground: Ground) -> None:
    with bench(ground, always=Fail(429, headers={"Retry-After": "50"}), timeout_s=5) as made:
        tried = made.attempt()
    assert (tried.stop, len(made.bodies())) == ("model-failure", 1)
    assert tried.wall_s < 4


def test_pauses() -> None:
    date = "Thu, 01 Jan 1970 00:01:40 GMT"
    said = {
        "3": 3.0,
        "0": 0.0,
        "0.25": 0.25,
        "99999": 60.0,
        date: 10.0,
        "-5": None,
        "soon": None,
        "": None,
        "9" * 999: 60.0,
    }
    assert {text: pause_of(text, now=90.0) for text in said} == said
    assert pause_of(date, now=200.0) == 0.0
    assert pause_of(None, now=0.0) is None


def test_newer_models_call_the_limit_otherwise(ground: Ground) -> None:
    def picky(seen: Seen) -> Step:
        if "max_tokens" in seen.body:
            return Fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return GOOD

    with bench(ground, always=picky) as made:
        assert made.attempt().work is not None
        made.folder = made.folder.with_name("attempt-2")
        assert made.attempt().work is not None
    sent = [[name for name in body if name.startswith("max")] for body in made.bodies()]
    assert sent == [["max_tokens"], ["max_completion_tokens"], ["max_completion_tokens"]]


def test_time_is_over(ground: Ground) -> None:
    with bench(ground, always=Slow(GOOD, first_s=60), timeout_s=0.5) as made:
        tried = made.attempt()
    assert (tried.stop, tried.work) == ("timeout", None)
    assert 0.5 <= tried.wall_s < 5
    assert not made.solution.exists()


@pytest.mark.parametrize(
    "step", [Slow(GOOD, first_s=60), Fail(503, headers={"Retry-After": "60"})], ids=["asking", "waiting"]
)
def test_it_is_stopped(ground: Ground, step: Chosen) -> None:
    stopping = threading.Event()
    with bench(ground, always=step, timeout_s=90) as made:
        timer = threading.Timer(0.5, stopping.set)
        timer.start()
        started = time.monotonic()
        tried = made.attempt(stopping)
        timer.join()
    assert tried.stop == "interrupted"
    assert time.monotonic() - started < 10


def test_no_proxy_of_the_environment_is_asked(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with bench(ground) as made:
        assert made.attempt().work is not None


def test_the_command_line(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    good = Reply("```python\ndef f(x):\n    return x + 1\n```")
    with serve([good, Reply("no idea")], always=good) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        arguments = ("run", "model", "ones-1", "--suite", "tiny", "--model", "m", "--num-samples", "3", "--jobs", "1")
        said = laboratory(*arguments)
        assert said.code == 0, said
        again = laboratory(*arguments[:-3], "4", "--jobs", "1")
        assert again.code == 0, again
    results = laboratory.results("model")
    assert [result.sample for result in results] == [0, 1, 2, 3]
    statuses = [result.verdict.status for result in results if result.verdict]
    assert statuses == ["pass", "missing", "pass", "pass"]
    assert len(server.asked()) == 4
    assert {result.requests for result in results} == {1}
