from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from lab.reporting.tables import rate
from lab.results import write_result
from tests.reporting.test_rows import result

if TYPE_CHECKING:
    from tests.support.laboratory import Laboratory


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0.0 %"), (1, "100.0 %"), (0.99999, "> 99.9 %"), (0.0001, "< 0.1 %"), (0.125, "12.5 %")],
)
def test_rate_is_not_rounded_to_perfection(value: float | None, text: str) -> None:
    assert rate(value) == text


def test_report_compares_tools(laboratory: Laboratory) -> None:
    laboratory("run", "reference", "--suite", "tiny")
    laboratory("run", "stub", "--suite", "tiny", "-n", "4")
    said = laboratory("report")
    assert said.code == 0
    reference, stub = (line for line in said.out.splitlines() if "reference" in line or "stub" in line)
    assert "13/13" in reference
    assert "100.0 %" in reference
    assert "0/4" in stub
    assert stub.split()[-2:] == ["9", "-"]
    (report,) = laboratory("report", "--json", "--tasks").json()
    assert report["suite"] == "tiny"
    assert [(row["tool"], row["runs_passed"], len(row["missing"])) for row in report["rows"]] == [
        ("reference", 13, 0),
        ("stub", 0, 9),
    ]
    assert report["rows"][1]["by_task"]["ones-1"] == {"wrong": 1}


def test_rows_of_one_tool_are_told_apart_by_what_differs(laboratory: Laboratory) -> None:
    for temperature in (0.0, 0.8):
        settings = {"temperature": temperature, "max_tokens": 4096, "prompt_sha256": "a" * 64}
        one = result("ones-1", "pass", tool="model", settings=settings, settings_sha256=str(temperature))
        path = laboratory.root / f"runs/tiny/model/ones-1/run-{temperature}/result.json"
        write_result(path, msgspec.structs.replace(one, suite="tiny"))
    said = laboratory("report").out
    assert "max_tokens" not in said
    assert "prompt_sha256" not in said
    assert said.count("temperat") == 2


def test_tasks_by_tool_counts_samples(laboratory: Laboratory) -> None:
    right, wrong = "def f(x): return x + 1", "def f(x): return 0"
    file = laboratory.samples(*({"task_id": "One/1", "solution": text} for text in (right, wrong, right)))
    laboratory("run", "replay", "--suite", "tiny", "--samples", file)
    said = laboratory("report", "--suite", "tiny", "--tasks")
    assert "replay mine" in said.out
    assert "2/3" in next(line for line in said.out.splitlines() if "ones-1 " in line)
    assert "66.7 %" in said.out


def test_hostile_names_are_shown_as_text(laboratory: Laboratory) -> None:
    evil = "[red]\x1b]0;x\x07[/red]"
    record = msgspec.structs.replace(result("ones-1", "pass"), suite="tiny", tool="a", model=evil)
    write_result(laboratory.root / "runs/tiny/a/ones-1/r-0/result.json", record)
    said = laboratory("report", "--tasks").out
    assert "\x1b" not in said
    assert "[red]\\x1b]0;x\\x07[/red]" in said


def test_a_broken_result_is_named_and_the_rest_reported(laboratory: Laboratory) -> None:
    laboratory("run", "stub", "--suite", "tiny", "-n", "2")
    one, _two = sorted(laboratory.root.glob("runs/tiny/stub/*/*/result.json"))
    one.write_text(one.read_text()[:100])
    said = laboratory("report")
    assert said.code == 1
    assert said.err.count("\n") == 1
    assert str(one) in said.err
    assert "0/1" in said.out


def test_only_broken_results(laboratory: Laboratory) -> None:
    laboratory("run", "stub", "--suite", "tiny", "-n", "1")
    (one,) = laboratory.root.glob("runs/tiny/stub/*/*/result.json")
    one.write_text("{")
    assert laboratory("report").code == 2
