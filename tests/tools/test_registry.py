from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.errors import LabError
from lab.layout import Root
from lab.tools.placeholders import PLACEHOLDERS, fill
from lab.tools.registry import SHIPPED, get_adapter, survey
from tests.tools.adapters import SMALLEST, adapter

if TYPE_CHECKING:
    from pathlib import Path

APIS = {
    "aider": Api.OPENAI_CHAT,
    "claude-code": Api.ANTHROPIC,
    "codex": Api.OPENAI_RESPONSES,
    "gemini-cli": Api.GEMINI,
    "mini-swe-agent": Api.OPENAI_CHAT,
    "opencode": Api.OPENAI_CHAT,
    "pi": Api.OPENAI_CHAT,
    "qwen-code": Api.OPENAI_CHAT,
    "tomo": Api.OPENAI_CHAT,
}
VALUES = {name: f"a/{name}:1" for name in PLACEHOLDERS}


def test_nine_are_shipped(tmp_path: Path) -> None:
    assert {name: get_adapter(Root(tmp_path), name).api for name in survey(Root(tmp_path))} == APIS


@pytest.mark.parametrize("name", APIS)
def test_a_shipped_adapter_says_all_that_a_user_needs(tmp_path: Path, name: str) -> None:
    shipped = get_adapter(Root(tmp_path), name)
    assert shipped.source == SHIPPED / f"{name}.toml"
    assert shipped.summary
    assert shipped.home.startswith("https://")
    assert shipped.install
    assert shipped.limits
    assert shipped.version
    texts = (*shipped.command, *shipped.environment.values(), *(file.text for file in shipped.files))
    for needed in ("{prompt}", "{model}", "{key}", "{base_url}"):
        assert any(needed in text for text in texts), needed


@pytest.mark.parametrize("name", APIS)
def test_its_files_are_what_they_are_called(tmp_path: Path, name: str) -> None:
    for file in get_adapter(Root(tmp_path), name).files:
        text = fill(file.text, VALUES)
        match file.path.rpartition(".")[2]:
            case "json":
                assert isinstance(json.loads(text), dict)
            case "toml":
                assert tomllib.loads(text)["model"] == VALUES["model"]
            case other:
                assert other == "yaml"


def test_the_users_own_come_beside_the_shipped_ones_and_over_them(tmp_path: Path) -> None:
    root = Root(tmp_path)
    own = adapter(root.tools)
    codex = adapter(root.tools, SMALLEST.replace('"mine"', '"codex"', 1), name="codex")
    (root.tools / ".swap.toml").write_text("not an adapter")
    (root.tools / "notes.txt").write_text("not an adapter")
    adapters = survey(root)
    assert list(adapters) == sorted([*APIS, "mine"])
    assert (adapters["mine"], adapters["codex"]) == (own, codex)


def test_one_that_cannot_be_read_is_in_nobodys_way(tmp_path: Path) -> None:
    root = Root(tmp_path)
    root.tools.mkdir()
    (root.tools / "pi.toml").write_text("name = 1\n")
    assert isinstance(survey(root)["pi"], LabError)
    assert get_adapter(root, "codex").name == "codex"
    # the shipped one does not step in for the user's own
    with pytest.raises(LabError, match=r"pi\.toml:1: "):
        get_adapter(root, "pi")


@pytest.mark.parametrize(
    ("name", "advice"), [("codx", "codex?"), ("refrence", "reference?"), ("modell", "model?"), ("../codex", "codex?")]
)
def test_a_tool_that_there_is_not(tmp_path: Path, name: str, advice: str) -> None:
    with pytest.raises(LabError, match="there is no tool") as raised:
        get_adapter(Root(tmp_path), name)
    assert advice in raised.value.fix
