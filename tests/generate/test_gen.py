from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.commands.gen import GenOptions, gen
from lab.errors import ExitCode, LabError
from lab.layout import Root
from tests.generate.tiny import TinySuite, environment, fake_grading, good_row, row, write_rows

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_grading(monkeypatch)
    monkeypatch.setattr("lab.commands.gen.get_suite", lambda _name: TinySuite())


def run(folder: Path, **options: Any) -> ExitCode:
    return gen(Root(folder), environment(folder), GenOptions("tiny", **options))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"limit": 0}, "--limit is 0"),
        ({"limit": -3}, "--limit is -3"),
        ({"limit": 3, "every": True}, "--all and --limit"),
        ({"jobs": 0}, "--jobs is 0"),
        ({"jobs": 100_000}, "--jobs is 100000"),
        ({"langs": ("threes",)}, "tiny has no dataset 'threes'"),
    ],
)
def test_usage(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(LabError, match=message) as caught:
        run(tmp_path, **options)
    assert caught.value.fix
    assert list(tmp_path.iterdir()) == []


def test_what_it_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ones = [good_row(number) for number in range(9)]
    source = write_rows(tmp_path / "rows", ones, [good_row(0, "Two")])
    assert run(tmp_path, source=source) is ExitCode.DONE
    said = capsys.readouterr().out
    assert "tiny: kept 9 of 9 (9 written, 0 unchanged), dropped 0, removed 0; the suite has 9 tasks" in said
    assert "rows of ones: 9, " in said
    assert "not those that this lab was written for" in said
    assert "--all takes all 10" in said
    wrong = row("One/1", "assert f(1) == 5\n", "def f(x):\n    return 4\n")
    write_rows(tmp_path / "rows", [ones[0], wrong])
    assert run(tmp_path, source=source) is ExitCode.PARTLY
    said = capsys.readouterr().out
    assert "dropped ones-1: the reference does not pass: wrong (case 0 disagreed)" in said
    assert "removed ones-2, ones-3, ones-4, ones-5, ones-6, ones-7: their upstream rows are gone" in said
    assert "kept 2 of 3 (0 written, 2 unchanged), dropped 1, removed 6; the suite has 2 tasks" in said


def test_unproven_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_rows(tmp_path / "rows", [good_row(0)], [good_row(0, "Two")])
    assert run(tmp_path, source=source, every=True, validate=False) is ExitCode.DONE
    said = capsys.readouterr().out
    assert "not proven: 2 tasks" in said
    assert "--all takes" not in said
