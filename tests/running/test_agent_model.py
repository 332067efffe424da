"""An agent and its model: reached through the relay or a port, counted, and never with the real key."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.grading.isolation import Isolation
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from lab.running.holder import Network
from tests.support.model_server import Drop, Fail, Reply, Server, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.running.attempt import Tried
    from tests.running.agents import Ground
    from tests.support.model_server import Chosen

REAL_KEY = "sk-the-real-key"
WAYS = [
    pytest.param(Isolation.BWRAP, Network.MODEL, marks=pytest.mark.sandbox),
    pytest.param(Isolation.BWRAP, Network.HOST, marks=pytest.mark.sandbox),
    (Isolation.PROCESS, Network.HOST),
]
ENVIRONMENT = {"BASE_URL": "{base_url}", "KEY": "{key}", "MODEL": "{model}"}
ASK = """
import json, os, sys, threading, urllib.error, urllib.request
def ask(key=os.environ["KEY"], path="/v1/chat/completions", stream=False, **more):
    body = {"model": os.environ["MODEL"], "messages": [{"role": "user", "content": "hi"}], "stream": stream, **more}
    request = urllib.request.Request(os.environ["BASE_URL"] + path, json.dumps(body).encode(),
        {"Authorization": "Bearer " + key, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)
"""


@contextlib.contextmanager
def model(script: Sequence[Chosen] = (), always: Chosen | None = None) -> Iterator[tuple[Proxy, Server]]:
    with (
        serve(script, always=always or Reply("hello")) as server,
        Proxy(Upstream(Api.OPENAI_CHAT, server.url, REAL_KEY, "tiny-model"), Prices({})) as proxy,
    ):
        yield proxy, server


def attempt(
    ground: Ground, proxy: Proxy, code: str, isolation: Isolation, network: Network = Network.MODEL
) -> tuple[Tried, Path]:
    agent = ground.agent("-c", ASK + code, isolation=isolation, network=network, proxy=proxy, environment=ENVIRONMENT)
    assert (agent.notice is not None) == (isolation is Isolation.BWRAP and network is Network.HOST)
    return ground.attempt(agent)


@pytest.mark.parametrize(("isolation", "network"), WAYS)
def test_it_reaches_its_model(ground: Ground, isolation: Isolation, network: Network) -> None:
    with model() as (proxy, server):
        tried, folder = attempt(ground, proxy, "print(ask()[1], ask(stream=True)[1])", isolation, network)
    said = (folder / "trace/stdout").read_text()
    assert said.count("hello") >= 2, (said, tried)
    assert (tried.stop, tried.exit_code) == ("done", 0)
    assert tried.usage is not None
    assert (tried.usage.requests, tried.usage.refused, tried.usage.model_failure) == (2, 0, None)
    assert [seen.headers["authorization"] for seen in server.asked()] == [f"Bearer {REAL_KEY}"] * 2
    assert len((folder / "trace/requests.jsonl").read_text().splitlines()) == 2
    record = json.loads((folder / "trace/command.json").read_text())
    assert record["environment"]["KEY"] == "KEY"


@pytest.mark.sandbox
def test_many_requests_at_once_through_the_relay(ground: Ground) -> None:
    code = """
answers = []
threads = [threading.Thread(target=lambda: answers.append(ask(stream=True)[0])) for _ in range(50)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(answers.count(200))
"""
    with model() as (proxy, _):
        tried, folder = attempt(ground, proxy, code, Isolation.BWRAP)
    assert (folder / "trace/stdout").read_text() == "50\n", tried
    assert tried.usage is not None
    assert tried.usage.requests == 50


@pytest.mark.parametrize(("isolation", "network"), WAYS)
def test_the_real_key_is_nowhere(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, isolation: Isolation, network: Network
) -> None:
    monkeypatch.setenv("LAB_API_KEY", REAL_KEY)
    code = """
for name, value in os.environ.items(): print(name, value)
print(open("/proc/self/cmdline").read(), open("/proc/1/cmdline").read())
print(ask(), ask(key="wrong"))
"""
    with model(always=Fail(400, f"what is this key {REAL_KEY}?")) as (proxy, _):
        _, folder = attempt(ground, proxy, code, isolation, network)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {"stdout", "stderr", "command.json", "requests.jsonl"} <= {path.name for path in files}
    for path in files:
        assert REAL_KEY not in path.read_text(), path


FAILURES = [
    pytest.param([Fail(503)], "print(ask())", "model-failure", id="the model's last answer was an error of its own"),
    pytest.param([Fail(429)], "print(ask())", "model-failure", id="it had no more of it"),
    pytest.param([Fail(401)], "print(ask())", "model-failure", id="the key is wrong"),
    pytest.param([Drop(Reply("hello"))], "print(ask(stream=True))", "model-failure", id="the answer broke off"),
    pytest.param([Fail(503), Reply("hello")], "print(ask(), ask())", "done", id="it got over an error"),
    pytest.param([Fail(400)], "print(ask())", "done", id="it spoiled its request itself"),
    pytest.param([Fail(503)], "print(ask(path='/v1/files'))", "done", id="it asked for what lab lets nobody have"),
    pytest.param([Fail(503)], "print(1)", "done", id="it never asked"),
    pytest.param([Fail(503)], "raise SystemExit(3)", "done", id="it crashed at its start"),
]


@pytest.mark.parametrize("isolation", [pytest.param(Isolation.BWRAP, marks=pytest.mark.sandbox), Isolation.PROCESS])
@pytest.mark.parametrize(("script", "code", "stop"), FAILURES)
def test_whose_failure_it_is(
    ground: Ground, script: Sequence[Chosen], code: str, stop: str, isolation: Isolation
) -> None:
    with model(script) as (proxy, _):
        tried, _ = attempt(ground, proxy, code, isolation)
    assert tried.stop == stop, tried
    assert tried.usage is not None
    assert (tried.usage.model_failure is not None) == (stop == "model-failure")


def test_a_timeout_is_the_tools_whatever_its_model_did(ground: Ground) -> None:
    with model(always=Fail(503)) as (proxy, _):
        agent = ground.agent(
            "-c",
            ASK + "import time\nask()\ntime.sleep(60)",
            isolation=Isolation.PROCESS,
            proxy=proxy,
            environment=ENVIRONMENT,
            timeout_s=2,
        )
        tried, _ = ground.attempt(agent)
    assert tried.stop == "timeout"


@pytest.mark.sandbox
def test_the_next_attempts_key_opens_no_other_line(ground: Ground) -> None:
    with model() as (proxy, server):
        _, folder = attempt(ground, proxy, "print(os.environ['KEY'])", Isolation.BWRAP)
        key = (folder / "trace/stdout").read_text().strip()
        tried, folder = attempt(ground, proxy, f"print(ask(key={key!r})[0])", Isolation.BWRAP)
    assert (folder / "trace/stdout").read_text() == "401\n"
    assert tried.usage is not None
    assert (tried.usage.requests, tried.usage.refused) == (0, 1)
    assert server.asked() == []
