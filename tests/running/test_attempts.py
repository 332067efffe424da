"""What a run comes to over its attempts, with a real program as agent and a real server as its model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lab.running.place import Place
from tests.running.agents import PYTHON
from tests.support.model_server import Drop, Fail, Raw, Reply, serve

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.results import Result
    from tests.support.laboratory import Laboratory, Said
    from tests.support.model_server import Server

RIGHT = Reply("def f(x): return x + 1\n")
WRONG = Reply("def f(x): return 0\n")
ASKER = r"""
import json, sys, urllib.error, urllib.request
base, key, model, asks = sys.argv[1:5]
for _ in range(int(asks)):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": open("prompt.txt").read()}]})
    headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}
    asked = urllib.request.Request(base + "/v1/chat/completions", body.encode(), headers)
    try:
        answer = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked))
        open("solution.py", "w").write(answer["choices"][0]["message"]["content"])
    except (OSError, ValueError) as error:
        print(error)
"""
"""Does as its model says, and gives up at once: whatever became of its questions, it ends well."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.running.attempts.PAUSES_S", (0.0, 0.0, 0.0))


def adapter(laboratory: Laboratory, *, asks: int = 1, api: str = "openai-chat", model: str = "{model}") -> None:
    command = [str(PYTHON), "{home}/asker.py", "{base_url}", "{key}", model, str(asks)]
    file = laboratory.root / "tools" / "asker.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        f'name = "asker"\nsummary = "asks once"\nhome = "https://example.org"\ninstall = "none"\nversion = []\n'
        f'api = "{api}"\ncommand = {json.dumps(command)}\n'
        f"[[files]]\npath = \"{{home}}/asker.py\"\ntext = '''{ASKER}'''\n"
    )


def run(laboratory: Laboratory, server: Server | None, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Said:
    monkeypatch.setenv("LAB_API_KEY", "sk-real")
    monkeypatch.setenv("LAB_BASE_URL", "http://127.0.0.1:9" if server is None else server.url)
    given = ("run", "asker", "--suite", "tiny", "--model", "m", "--isolation", "process", *arguments)
    return laboratory(*given)


def only(laboratory: Laboratory) -> Result:
    (result,) = laboratory.results("asker")
    return result


@pytest.mark.parametrize(
    ("script", "attempts", "statuses"),
    [
        ([RIGHT], 1, ["pass"]),
        ([RIGHT, WRONG], 3, ["pass"]),
        ([WRONG, RIGHT], 3, ["wrong", "pass"]),
        ([WRONG, WRONG, WRONG, RIGHT], 3, ["wrong", "wrong", "wrong"]),
        ([WRONG, RIGHT], 1, ["wrong"]),
    ],
)
def test_attempts_end_with_the_first_that_passes(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, script: Sequence[Reply], attempts: int, statuses: list[str]
) -> None:
    adapter(laboratory)
    with serve(script) as server:
        said = run(laboratory, server, monkeypatch, "ones-1", "--attempts", str(attempts))
        assert len(server.requests) == len(statuses)
    assert said.code == 0
    result = only(laboratory)
    assert [attempt.verdict and attempt.verdict.status.value for attempt in result.attempts] == statuses
    assert result.verdict == result.attempts[-1].verdict
    assert (result.first_try, result.stop, result.requests) == (statuses[0] == "pass", "done", len(statuses))
    assert result.tokens is not None
    assert result.tokens.prompt == sum(a.usage.tokens.prompt or 0 for a in result.attempts if a.usage)
    assert result.wall_s == pytest.approx(sum(attempt.wall_s for attempt in result.attempts), abs=0.01)
    assert result.settings.get("attempts") == (attempts if attempts > 1 else None)
    folder = next(laboratory.root.glob("runs/tiny/asker/ones-1/*"))
    assert len(list(folder.glob("attempt-*/work/solution.py"))) == len(statuses)
    assert len(list(folder.glob("attempt-*/trace/requests.jsonl"))) == len(statuses)


def test_a_report_keeps_the_first_try_apart_from_the_best(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory)
    # ones-1 at once, ones-2 at the second try, ones-3 never
    answers = [RIGHT, WRONG, Reply("def f(x): return x + 2\n"), WRONG, WRONG]
    with serve(answers) as server:
        run(laboratory, server, monkeypatch, "-n", "3", "--jobs", "1", "--attempts", "2")
    ((row,),) = (report["rows"] for report in laboratory("report", "--json").json())
    assert (row["runs_passed"], row["attempts"]) == (1, 2)
    assert (row["pass_at_1"], row["best_of_n"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    shown = laboratory("report").out
    assert "66.7 % (2)" in shown
    assert "33.3 %" in shown


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        (Fail(401), "401"),
        (Fail(403), "403"),
        (Fail(429), "429"),
        (Fail(500), "500"),
        (Fail(503), "503"),
        (Drop(Reply("x" * 200)), ""),
        (None, "refused"),
    ],
)
def test_a_model_that_fails_is_asked_again_and_then_infra(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, failure: Fail | Drop | None, why: str
) -> None:
    adapter(laboratory)
    with serve(always=failure or RIGHT) as server:
        said = run(laboratory, None if failure is None else server, monkeypatch, "ones-1", "--attempts", "2")
    assert said.code == 1
    result = only(laboratory)
    assert result.verdict is not None
    assert (result.verdict.status.value, result.stop, len(result.attempts)) == ("infra", "model-failure", 1)
    assert why in result.verdict.reason
    assert [repeat.attempt for repeat in result.repeats] == [1, 1, 1]
    folder = next(laboratory.root.glob("runs/tiny/asker/ones-1/*"))
    assert sorted(path.name for path in folder.glob("attempt-*")) == [
        "attempt-1",
        *(f"attempt-1-repeated-{number}" for number in (1, 2, 3)),
    ]
    assert "sk-real" not in "".join(path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())


def test_a_model_that_recovers_leaves_one_attempt_and_its_repeats(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory)
    with serve([Fail(503), Fail(429), RIGHT]) as server:
        assert run(laboratory, server, monkeypatch, "ones-1").code == 0
    result = only(laboratory)
    assert (result.first_try, len(result.attempts), len(result.repeats), result.requests) == (True, 1, 2, 1)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_what_the_tool_spoiled_is_its_own_failure(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    adapter(laboratory)
    with serve(always=Fail(status)) as server:
        assert run(laboratory, server, monkeypatch, "ones-1").code == 0
    result = only(laboratory)
    assert result.verdict is not None
    assert (result.verdict.status.value, result.stop, result.repeats) == ("wrong", "done", ())


@pytest.mark.parametrize("asks", [0, 2])
def test_only_the_last_exchange_counts(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, asks: int) -> None:
    adapter(laboratory, asks=asks)
    with serve([Fail(503), RIGHT]) as server:
        run(laboratory, server, monkeypatch, "ones-1")
    result = only(laboratory)
    assert result.verdict is not None
    assert (result.verdict.status.value, result.repeats) == ("pass" if asks else "wrong", ())


def test_a_tool_without_an_api_has_no_infra(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory, api="none", model="none")
    file = laboratory.root / "tools" / "asker.toml"
    file.write_text(file.read_text().replace("{base_url}", "http://127.0.0.1:9").replace("{key}", "none"))
    assert laboratory("run", "asker", "ones-1", "--suite", "tiny", "--isolation", "process").code == 0
    assert run(laboratory, None, monkeypatch, "ones-1").code == 2, "--model is of no use to it"
    result = only(laboratory)
    assert result.verdict is not None
    assert (result.verdict.status.value, result.requests, result.cost_usd) == ("wrong", None, None)


def test_a_request_for_another_model_is_counted(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory, model="dearer")
    with serve([RIGHT]) as server:
        run(laboratory, server, monkeypatch, "ones-1")
        assert [seen.body["model"] for seen in server.requests] == ["m"]
    (attempt,) = only(laboratory).attempts
    assert attempt.usage is not None
    assert attempt.usage.other_model == 1


def test_a_budget_starts_no_more_and_resume_goes_on(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        once = run(laboratory, server, monkeypatch, "-n", "4", "--jobs", "1", "--budget", "1tokens", "--json")
        assert (once.code, once.json()["runs"], once.json()["not_started"]) == (1, 1, 3)
        # what was spent before counts, so the same command spends nothing more
        again = run(laboratory, server, monkeypatch, "-n", "4", "--jobs", "1", "--budget", "1tokens")
        assert again.code == 1
        assert "3 runs were not started: the budget of 1 tokens is spent" in again.out
        assert len(server.requests) == 1
        more = run(laboratory, server, monkeypatch, "-n", "4", "--budget", "1mtokens", "--json").json()
        assert (more["runs"], more["skipped"], more["not_started"]) == (4, 1, 0)


def test_a_budget_stops_further_attempts_and_money_found_buys_the_rest(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory)
    given = ("ones-1", "--attempts", "3", "--json", "--budget")
    with serve(always=WRONG) as server:
        run(laboratory, server, monkeypatch, *given, "1tokens")
        result = only(laboratory)
        assert (result.stop, len(result.attempts)) == ("budget", 1)
        # what it cost counts, so the same command buys nothing more, and loses nothing
        again = run(laboratory, server, monkeypatch, *given, "1tokens").json()
        assert (again["not_started"], len(only(laboratory).attempts), len(server.requests)) == (1, 1, 1)
        said = run(laboratory, server, monkeypatch, *given, "1mtokens").json()
        # the first attempt stands as it was drawn
        assert (said["skipped"], len(only(laboratory).attempts), len(server.requests)) == (0, 3, 3)


def test_a_first_try_that_failed_is_not_drawn_anew(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve([WRONG, *[Fail(503)] * 4], always=RIGHT) as server:
        run(laboratory, server, monkeypatch, "ones-1", "--attempts", "2")
        first = only(laboratory)
        assert (first.verdict and first.verdict.status.value, len(first.repeats)) == ("infra", 3)
        run(laboratory, server, monkeypatch, "ones-1", "--attempts", "2")
    result = only(laboratory)
    assert [a.verdict.status.value for a in result.attempts if a.verdict] == ["wrong", "pass"]
    assert (result.first_try, result.attempts[0]) == (False, first.attempts[0])
    folder = next(laboratory.root.glob("runs/tiny/asker/ones-1/*"))
    assert (folder / "attempt-1/work/solution.py").read_text() == WRONG.text
    assert sorted(path.name for path in folder.iterdir()) == ["attempt-1", "attempt-2", "result.json"]
    # what was done again was paid for, too
    assert result.earlier_usage is not None
    assert result.earlier_usage.requests == 4


def test_a_kill_between_attempts_leaves_a_run_to_go_on_with(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory)
    seen = []

    def stop_after_the_first(result: Result, *_given: Any, **_options: Any) -> None:
        seen.append(result)
        raise KeyboardInterrupt

    with serve([WRONG], always=RIGHT) as server:
        with monkeypatch.context() as patch:
            # as far as a kill would have let it come: one attempt recorded, another due
            record = Place.record

            def record_and_stop(place: Place, result: Result) -> None:
                record(place, result)
                stop_after_the_first(result)

            patch.setattr(Place, "record", record_and_stop)
            assert run(laboratory, server, monkeypatch, "ones-1", "--attempts", "2").code == 130
        left = only(laboratory)
        assert (left.stop, left.verdict, len(left.attempts)) == ("interrupted", None, 1)
        run(laboratory, server, monkeypatch, "ones-1", "--attempts", "2")
    assert [a.verdict.status.value for a in only(laboratory).attempts if a.verdict] == ["wrong", "pass"]


def test_an_interrupted_retry_is_still_one_to_retry(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve([WRONG], always=RIGHT) as server:
        run(laboratory, server, monkeypatch, "ones-1")
        with monkeypatch.context() as patch:
            patch.setattr(
                "lab.running.attempts.Attempts.make", lambda *_given: (_ for _ in ()).throw(KeyboardInterrupt)
            )
            assert run(laboratory, server, monkeypatch, "ones-1", "--retry", "failed").code == 130
        assert only(laboratory).stop == "interrupted"
        kept = next(laboratory.root.glob("runs/tiny/asker/ones-1/*")) / "replaced"
        assert (kept / "attempt-1/work/solution.py").read_text() == WRONG.text
        said = run(laboratory, server, monkeypatch, "ones-1", "--retry", "failed", "--json").json()
        assert said["statuses"] == {"pass": 1}
    assert not kept.exists()


def test_unknown_keys_of_an_earlier_record_survive(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        run(laboratory, server, monkeypatch, "ones-1")
        (path,) = laboratory.root.glob("runs/tiny/asker/*/*/result.json")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"of a newer lab": [1]}))
        run(laboratory, server, monkeypatch, "ones-1", "--fresh")
    assert json.loads(path.read_text())["of a newer lab"] == [1]


def test_a_cut_stream_does_not_end_a_budget(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    (laboratory.root / "prices.toml").write_text(PRICE)
    adapter(laboratory, asks=2)
    with serve([Drop(RIGHT), RIGHT], always=RIGHT) as server:
        said = run(laboratory, server, monkeypatch, "-n", "3", "--jobs", "1", "--budget", "1000", "--json").json()
    assert (said["runs"], said["not_started"]) == (3, 0)
    assert said["usage"]["cost_usd"] is None
    assert said["usage"]["known_cost_usd"] > 0


def test_a_provider_that_tells_no_tokens_cannot_spend_without_end(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory, asks=4)
    silent = Raw(json.dumps({"choices": [{"message": {"role": "assistant", "content": RIGHT.text}}]}).encode())
    with serve(always=silent) as server:
        said = run(laboratory, server, monkeypatch, "-n", "6", "--jobs", "1", "--budget", "1mtokens")
        assert len(server.requests) == 12
    assert said.code == 1
    assert "the provider does not say how many tokens are used" in said.out


def test_a_retry_that_finds_nothing_says_so(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        said = run(laboratory, server, monkeypatch, "ones-1", "--retry", "failed")
    assert (said.code, "no selected run is one to --retry: failed" in said.out) == (0, True)


def test_a_retry_without_money_says_so(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=WRONG) as server:
        run(laboratory, server, monkeypatch, "-n", "2")
        said = run(laboratory, server, monkeypatch, "-n", "2", "--retry", "failed", "--budget", "1tokens")
    assert said.code == 1
    assert "2 runs were not started: the budget" in said.out


def test_a_run_that_another_lab_does_is_left_alone(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        run(laboratory, server, monkeypatch, "ones-1")
        folder = next(laboratory.root.glob("runs/tiny/asker/ones-1/*"))
        before = only(laboratory)
        with Place(folder, before.identity).claim() as mine:
            assert mine
            said = run(laboratory, server, monkeypatch, "-n", "2", "--fresh", "--json")
            assert (said.code, said.json()["held"], said.json()["runs"]) == (1, ["ones-1"], 1)
            assert laboratory.results("asker")[0] == before
        assert run(laboratory, server, monkeypatch, "ones-1", "--fresh").code == 0


PRICE = """
[m]
input = 1000.0
cached = 1000.0
cache_write = 1000.0
output = 1000.0
source = "a test"
date = 2026-01-01
"""


def test_a_budget_in_dollars_needs_a_price(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        unknown = run(laboratory, server, monkeypatch, "-n", "2", "--budget", "5")
        assert unknown.code == 2
        assert "the price of m is unknown" in unknown.err
        assert not server.requests
        (laboratory.root / "prices.toml").write_text(PRICE)
        said = run(laboratory, server, monkeypatch, "-n", "2", "--jobs", "1", "--budget", "0.01", "--json").json()
    (one,) = said["results"]
    assert one["cost_usd"] == pytest.approx((one["tokens"]["prompt"] + one["tokens"]["completion"]) / 1000)
    assert (said["usage"]["cost_usd"], said["not_started"]) == (one["cost_usd"], 1)


@pytest.mark.parametrize("amount", ["", "0", "-1", "five", "5eur", "$5tokens", "1e9", "nan", "5 5", "9" * 40])
def test_a_budget_that_is_no_amount(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, amount: str) -> None:
    adapter(laboratory)
    said = run(laboratory, None, monkeypatch, "ones-1", f"--budget={amount}")
    assert said.code == 2
    assert "--budget" in said.err


def test_a_budget_is_for_tools_whose_requests_are_seen(laboratory: Laboratory) -> None:
    said = laboratory("run", "stub", "--suite", "tiny", "--budget", "5")
    assert said.code == 2
    assert "lab cannot see what stub spends" in said.err


def test_retry_does_what_has_such_a_result_and_nothing_else(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter(laboratory)
    with serve([RIGHT, WRONG, *[Fail(503)] * 4], always=RIGHT) as server:
        # ones-1 passes, ones-2 fails, ones-3 is infra, ones-4 was never run
        run(laboratory, server, monkeypatch, "-n", "3", "--jobs", "1")

        def again(*kinds: str) -> dict[str, Any]:
            given = [word for kind in kinds for word in ("--retry", kind)]
            said: dict[str, Any] = run(laboratory, server, monkeypatch, "-n", "4", "--json", *given).json()
            return {one["task"]: one["verdict"]["status"] for one in said["results"]}

        assert again("timeout") == {}
        assert again("infra") == {"ones-3": "wrong"}
        assert again("failed") == {"ones-2": "wrong", "ones-3": "wrong"}
        assert len(laboratory.results("asker")) == 3


def test_a_timeout_is_graded_and_never_repeated(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    file = laboratory.root / "tools" / "asker.toml"
    file.write_text(file.read_text().replace("        print(error)\n", "        import time; time.sleep(60)\n"))
    with serve(always=Fail(503)) as server:
        assert run(laboratory, server, monkeypatch, "ones-1", "--timeout", "1").code == 0
    result = only(laboratory)
    assert result.verdict is not None
    assert (result.stop, result.verdict.status.value, result.repeats) == ("timeout", "wrong", ())


def test_what_a_result_says_of_the_tool(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        said = run(laboratory, server, monkeypatch, "ones-1")
    assert "without a sandbox" in said.err
    result = only(laboratory)
    assert (result.api, result.model, result.isolation, result.network) == ("openai-chat", "m", "process", "host")
    assert result.adapter_sha256 == result.settings["adapter_sha256"]
    assert result.peak_mb
    assert result.ttfb_ms


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "asker", "--suite", "tiny"), "LAB_BASE_URL does not say where the model is asked"),
        (("run", "asker", "--suite", "tiny", "--attempts", "0"), "--attempts"),
        (("run", "stub", "--suite", "tiny", "--attempts", "2"), "stub tries a task once"),
        (("run", "stub", "--suite", "tiny", "--model", "m"), "stub has no use for --model"),
        (("run", "stub", "--suite", "tiny", "--timeout", "3"), "stub has no use for --timeout"),
        (("run", "reference", "--suite", "tiny", "--network", "host"), "reference has no use for --network"),
        (("run", "x", "--command", "true", "--suite", "tiny", "--model", "m"), "asks no model that lab knows of"),
        (("run", "stub", "--suite", "tiny", "--local"), "--local is for the tool model"),
        (("run", "stub", "--suite", "tiny", "--temperature", "1"), "are for the tool model"),
        (("run", "model", "--suite", "tiny", "--temperature", "3"), "--temperature"),
        (("run", "asker", "--suite", "tiny", "--network", "all"), "--network"),
        (("run", "asker", "--suite", "tiny", "--retry", "all"), "--retry"),
        (("run", "aske", "--suite", "tiny"), "there is no tool"),
        (("run", "asker", "--suite", "tiny", "--command", "true"), "asker is the name of a tool that lab knows"),
        (("run", "codex", "--suite", "tiny", "--command", "true"), "codex is the name of a tool that lab knows"),
    ],
)
def test_bad_options(laboratory: Laboratory, arguments: tuple[str, ...], said: str) -> None:
    adapter(laboratory)
    shown = laboratory(*arguments)
    assert shown.code == 2
    assert said in shown.err
    assert not laboratory.results("asker")


@pytest.mark.parametrize("name", ["", "a b", "x" * 201, 'a"b', "näme", "a\nb"])
def test_a_model_of_another_name(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    adapter(laboratory)
    said = run(laboratory, None, monkeypatch, "ones-1", f"--model={name}")
    assert said.code == 2


def test_the_same_run_is_skipped(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    adapter(laboratory)
    with serve(always=RIGHT) as server:
        for skipped, more in ((0, ()), (1, ()), (0, ("--timeout", "9")), (0, ("--attempts", "2"))):
            assert run(laboratory, server, monkeypatch, "ones-1", "--json", *more).json()["skipped"] == skipped
        file = laboratory.root / "tools" / "asker.toml"
        file.write_text(file.read_text() + "# another adapter is another run\n")
        assert run(laboratory, server, monkeypatch, "ones-1", "--json").json()["skipped"] == 0
    assert len(laboratory.results("asker")) == 4
