"""`lab trace`: finding a run, and what of it is shown."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lab.apis import Api
from lab.results import Result, read_result
from tests.support.model_server import Fail, Reply, serve
from tests.trace.recorded import record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.laboratory import Laboratory

GOOD = Reply("Here it is:\n```python\ndef f(x):\n    return x + 1\n```\n")
BAD = Reply("\x1b[2J```python\ndef f(x):\n    return '\u202e' + '\x07'\n```")


@pytest.fixture
def ran(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    """Runs of `model` on two tasks, the first of which it solves."""
    with serve([GOOD], always=BAD) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        monkeypatch.setenv("LAB_MODEL", "m")
        said = laboratory("run", "model", "ones-1", "ones-2", "--suite", "tiny", "--jobs", "1")
    assert said.code == 0, said
    return laboratory


def folder_of(ran: Laboratory, task: str) -> Path:
    (file,) = ran.root.glob(f"runs/tiny/*/{task}/*/result.json")
    return file.parent


def test_a_run_as_a_person_reads_it(ran: Laboratory) -> None:
    said = ran("trace", "model/ones-1")
    assert said.code == 0, said
    for part in (
        "model ",
        " on ones-1 (",
        "of tiny, sample 0",
        "m (openai-chat)",
        "pass",
        "1 request, 100 + 10 tokens, cost unknown",
        "[1] POST /v1/chat/completions, 200",
        "  user:",
        "  assistant:",
        "    Here it is:",
        "+    return x + 1",
    ):
        assert part in said.out, part
    # in the order in which it happened
    places = [
        said.out.index(part) for part in ("verdict", "[1] POST", "  user:", "  assistant:", "+++ left/solution.py")
    ]
    assert places == sorted(places)


def test_nothing_of_it_steers_the_terminal(ran: Laboratory) -> None:
    for more in ((), ("--full",), ("--json",)):
        said = ran("trace", "model/ones-2", *more)
        assert said.code == 0, said
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", said.out)
    assert "\\x1b[2J" in ran("trace", "model/ones-2").out


def test_json(ran: Laboratory) -> None:
    told = ran("trace", "model/ones-1", "--json").json()
    (attempt,) = told["attempts"]
    (exchange,) = attempt["exchanges"]
    assert told["run"] == str(folder_of(ran, "ones-1"))
    assert told["result"]["verdict"]["status"] == "pass"
    assert exchange["answer"][0]["parts"] == [{"kind": "text", "text": GOOD.text, "name": None, "call": None}]
    assert exchange["new"][0]["role"] == "user"
    assert "+    return x + 1" in attempt["diff"].splitlines()
    assert attempt["no_diff"] is None


def test_the_ways_to_name_a_run(ran: Laboratory) -> None:
    folder = folder_of(ran, "ones-1")
    names = [str(folder), f"{folder}/", str(folder / "result.json"), folder.name, folder.name[:12], folder.name[:6]]
    for name in [*names, "model/ones-1", "model/One/1"]:
        assert ran("trace", name, "--suite", "tiny", "--json").json()["run"].rstrip("/") == str(folder), name


def test_the_latest_is_shown(ran: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    first = folder_of(ran, "ones-1")
    with serve(always=BAD) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        assert ran("run", "model", "ones-1", "--suite", "tiny", "--model", "other").code == 0
    told = ran("trace", "model/ones-1", "--json").json()
    assert told["result"]["model"] == "other"
    result = read_result(first / "result.json")
    assert isinstance(result, Result)
    (first / "result.json").write_bytes(msgspec.json.encode(msgspec.structs.replace(result, started_at="2999-01-01")))
    assert ran("trace", "model/ones-1", "--json").json()["run"] == str(first)


WRONG = {
    "modle/ones-1": "did you mean model?",
    "model/ones-11": "did you mean ones-1",
    "0": "there is no run '0'",
    "no-run": "there is no run 'no-run'",
    "../..": "is not the folder of a run",
    "*/*": "there is no run '*/*'",
    "model/*": "there is no run of model on '*'",
    "model/ones-1 --attempt 2": "the run has no attempt 2",
    "model/ones-1 --suite other": "there are no runs of 'model'",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_run_that_is_not_there(ran: Laboratory, name: str) -> None:
    said = ran("trace", *name.split(" "))
    assert (said.code, said.out) == (2, "")
    assert WRONG[name] in said.err.lower()


def test_a_beginning_of_several(ran: Laboratory) -> None:
    folder = folder_of(ran, "ones-1")
    folder.with_name(f"{folder.name}0").mkdir()
    (folder.with_name(f"{folder.name}0") / "result.json").write_text("{}")
    assert ran("trace", folder.name, "--json").json()["run"] == str(folder)
    said = ran("trace", folder.name[:12])
    assert said.code == 2
    assert f"tiny/model/ones-1/{folder.name}, tiny/model/ones-1/{folder.name}0" in said.err


def test_a_record_that_cannot_be_read(ran: Laboratory) -> None:
    (folder_of(ran, "ones-1") / "result.json").write_text("{")
    said = ran("trace", str(folder_of(ran, "ones-1")))
    assert said.code == 2
    assert "is not a result" in said.err


def test_tools_without_a_model(laboratory: Laboratory) -> None:
    assert laboratory("run", "stub", "ones-1", "--suite", "tiny").code == 0
    said = laboratory("trace", "stub/ones-1")
    assert "no request to a model was recorded" in said.out
    assert "solution.py is the stub as it was" in said.out


def test_what_a_tool_printed(laboratory: Laboratory) -> None:
    code = "echo one; echo two >&2; rm solution.py"
    command = ("run", "mine", "ones-1", "--suite", "tiny", "--isolation", "process", "--command", f"sh -c '{code}'")
    assert laboratory(*command).code == 0
    said = laboratory("trace", "mine/ones-1")
    assert re.search(r"stdout:\n    one\n", said.out)
    assert re.search(r"stderr:\n    two\n", said.out)
    assert "solution.py is not there" in said.out
    assert laboratory("trace", "mine/ones-1", "--json").json()["attempts"][0]["printed"] == {
        "stdout": "one\n",
        "stderr": "two\n",
    }


def test_long_texts_lose_their_middle(ran: Laboratory) -> None:
    trace = folder_of(ran, "ones-1") / "attempt-1/trace"
    text = "\n".join(f"line {number}" for number in range(500)) + "\n" + "x" * 5000 + "end"
    lines = [
        {
            "n": 1,
            "method": "POST",
            "path": "/v1/chat/completions",
            "body": {"messages": [{"role": "tool", "content": text, "tool_call_id": "c"}]},
        }
    ]
    (trace / "requests.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    short, full = ran("trace", "model/ones-1").out, ran("trace", "model/ones-1", "--full").out
    assert "line 0\n" in short
    assert "481 lines left out; --full shows them" in short
    assert "characters left out" in short
    assert "end\n" in short
    assert "line 250\n" not in short
    assert "line 250\n" in full
    assert "x" * 5000 in full
    told: Any = ran("trace", "model/ones-1", "--json").json()
    assert told["attempts"][0]["exchanges"][0]["new"][0]["parts"][0]["text"] == text


def test_the_arguments_of_calls_are_read_by_name(ran: Laboratory) -> None:
    trace = folder_of(ran, "ones-1") / "attempt-1/trace"
    for file in trace.rglob("*"):
        if file.is_file():
            file.unlink()
    (trace / "responses").rmdir()
    record(trace, Api.ANTHROPIC, stream=True)
    said = ran("trace", "model/ones-1")
    assert (
        "assistant calls write:\n    path: solution.py\n    text:\n        def f(x):\n            return x + 1\n"
        in said.out
    )
    assert "result of toolu_0:\n    written: 2 lines\n" in said.out


def test_attempts_and_repeats(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.running.attempts.PAUSES_S", (0, 0, 0))
    with serve([Fail(401), BAD, GOOD]) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        assert laboratory("run", "model", "ones-1", "--suite", "tiny", "--model", "m", "--attempts", "2").code == 0
    both, second = laboratory("trace", "model/ones-1").out, laboratory("trace", "model/ones-1", "--attempt", "2").out
    assert both.count("[1] POST") == 2
    assert "attempt 1 was repeated: its model had failed" in both
    assert second.count("[1] POST") == 1
    assert "Here it is" in second
