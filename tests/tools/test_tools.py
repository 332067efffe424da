"""`lab tools`, over a PATH of the test's own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from lab import cli
from tests.tools.adapters import program

if TYPE_CHECKING:
    from pathlib import Path

OWN = """\
name = "mine"
summary = "[b]mine[/b] \\u001b[31m"
api = "none"
install = "pipx install mine"
command = ["mine", "{prompt}"]
version = ["mine", "--version"]
limits = ["None."]
"""


@pytest.fixture(autouse=True)
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))


def own(root: Path, text: str = OWN) -> Path:
    file = root / "tools" / "mine.toml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


def listed(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["tools", "--root", str(root)]) == 0
    return capsys.readouterr().out


def rows(root: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert cli.main(["tools", "--json", "--root", str(root)]) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_json_says_all_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path)
    mine = program(tmp_path / "bin/mine", f"#!{os.path.realpath('/bin/sh')}\necho 1.0\n")
    said = rows(tmp_path, capsys)
    assert said["reference"]["kind"] == "built-in"
    assert said["mine"] | {"adapter_sha256": ""} == {
        "name": "mine",
        "kind": "adapter",
        "summary": "[b]mine[/b] \x1b[31m",
        "api": None,
        "version": "1.0",
        "runs_here": True,
        "why_not": None,
        "executable": str(mine),
        "paths": [str(mine)],
        "install": "pipx install mine",
        "home": "",
        "limits": ["None."],
        "adapter_sha256": "",
        "source": str(file),
    }
    assert len(said["mine"]["adapter_sha256"]) == 64
    codex = said["codex"]
    assert (codex["api"], codex["runs_here"], codex["why_not"]) == ("openai-responses", False, "codex is not on PATH")


def test_the_table_says_what_is_missing_and_how_to_get_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own(tmp_path)
    said = listed(tmp_path, capsys)
    assert "  mine: pipx install mine\n" in said
    assert "  codex: npm install --global @openai/codex\n" in said
    assert "no: mine is not on PATH" in said
    assert "[b]mine[/b] \\x1b[31m" in said
    assert "\x1b" not in said
    program(tmp_path / "bin/mine")
    assert "pipx install mine" not in listed(tmp_path, capsys)


def test_an_adapter_that_cannot_be_read_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path, OWN.replace("summary", "sumary"))
    said = listed(tmp_path, capsys)
    assert f"  mine: {file}:2: there is no key 'sumary' in an adapter. Did you mean summary?" in said
    assert "openai-responses" in said
    row = rows(tmp_path, capsys)["mine"]
    assert (row["runs_here"], row["adapter_sha256"]) == (False, None)
    assert row["why_not"].startswith(f"{file}:2: ")
