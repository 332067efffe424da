from __future__ import annotations

import hashlib
import os
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.apis import Api
from lab.errors import LabError
from lab.tools.adapter import Adapter, ConfigFile
from lab.tools.built_in import TAKEN
from lab.tools.reading import MAX_ADAPTER_BYTES, read_adapter
from tests.tools.adapters import SMALLEST, adapter

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """\
name = "mine"
summary = "what it is"
home = "https://example.org/mine"
install = "pipx install mine"
version = ["mine", "--version"]
api = "anthropic"
command = ["mine", "--model", "{model}", "{prompt}"]
extra_paths = ["/opt/mine"]
limits = ["Nothing works."]

[environment]
URL = "{base_url}/v1"
TASK = "{prompt}"

[[files]]
path = "{home}/.mine/config.json"
text = '{"key": "{key}", "read": "{prompt_file}", "as": "{{key}}"}'

[[files]]
path = "{work}/AGENTS.md"
text = ""
"""


def test_every_key(tmp_path: Path) -> None:
    assert adapter(tmp_path, WHOLE) == Adapter(
        name="mine",
        summary="what it is",
        home="https://example.org/mine",
        install="pipx install mine",
        version=("mine", "--version"),
        api=Api.ANTHROPIC,
        command=("mine", "--model", "{model}", "{prompt}"),
        environment={"URL": "{base_url}/v1", "TASK": "{prompt}"},
        files=(
            ConfigFile("{home}/.mine/config.json", '{"key": "{key}", "read": "{prompt_file}", "as": "{{key}}"}'),
            ConfigFile("{work}/AGENTS.md", ""),
        ),
        extra_paths=("/opt/mine",),
        limits=("Nothing works.",),
        sha256=hashlib.sha256(WHOLE.encode()).hexdigest(),
        source=tmp_path / "mine.toml",
    )


def test_three_keys_are_enough(tmp_path: Path) -> None:
    read = adapter(tmp_path)
    assert (read.name, read.api, read.command, read.version, read.environment) == ("mine", None, ("mine",), (), {})


def more(*lines: str) -> str:
    """The smallest adapter, which is three lines long, with a model and these lines after it."""
    return SMALLEST.replace('"none"', '"openai-chat"') + "".join(line + "\n" for line in lines)


FILE = "[[files]]"
WRONG = [
    (more('sumary = "x"'), 4, "no key 'sumary'", "summary?"),
    (more("", "# c", "[Environment]", 'A = "1"'), 6, "no key 'Environment'", "environment?"),
    (more(FILE, 'path = "{home}/a"', 'text = ""', 'mode = "x"'), 7, "no key 'mode'", "There are: path, text"),
    (more("summary = 3"), 4, "summary: expected `str`", "docs/agents.md"),
    (more('version = "mine --version"'), 4, "version: expected `array`", "docs/agents.md"),
    (more("version = [", '"mine",', "3", "]"), 4, "version: expected `str`", "docs/agents.md"),
    (more("[environment]", 'A = "1"', "B = 2"), 4, "environment: expected `str`", "docs/agents.md"),
    (more(FILE, 'path = "{home}/a"', "text = 1"), 6, "files: expected `str`", "docs/agents.md"),
    (more(FILE, 'path = "{home}/a"'), 4, "files: object missing required field `text`", "docs/agents.md"),
    (more("files = 3"), 4, "files: expected `array`", "docs/agents.md"),
    ('name = "mine"\napi = "none"\n', 1, "object missing required field `command`", "docs/agents.md"),
    (SMALLEST.replace('"none"', '"openai"'), 2, "api: invalid enum value 'openai'", "docs/agents.md"),
    (SMALLEST.replace('"mine"', '"other"', 1), 1, "the name is 'other', the file's is 'mine'", "the same"),
    (SMALLEST.replace('["mine"]', "[]"), 3, "names no program", "agent"),
    (SMALLEST.replace('["mine"]', '[" "]'), 3, "names no program", "agent"),
    (SMALLEST.replace('["mine"]', '["bin/mine"]'), 3, "relative path", "PATH"),
    (SMALLEST.replace('["mine"]', '["{work}/mine"]'), 3, "{work} cannot stand here", "in full"),
    (SMALLEST.replace('["mine"]', '["mine", "{promt}"]'), 3, "no placeholder {promt}", "Did you mean prompt or"),
    (SMALLEST.replace('["mine"]', '["mine", "{model}"]'), 3, "{model} has no value: api is none", "API"),
    (SMALLEST.replace('["mine"]', '["mine", "\\u0000"]'), 3, "NUL", "Remove"),
    (more('version = ["mine", "{home}"]'), 4, "{home} cannot stand here", "in full"),
    (more("[environment]", '"A B" = "1"'), 5, "'A B' is not the name of a variable", "letters"),
    (more("[environment]", '"" = "1"'), 5, "'' is not the name of a variable", "letters"),
    (more("[environment]", '"{home}" = "1"'), 5, "'{home}' is not the name of a variable", "letters"),
    (more("[environment]", 'LAB_API_KEY = "1"'), 5, "LAB_API_KEY cannot be set", "LD_*"),
    (more('environment.LD_PRELOAD = "/x"'), 4, "LD_PRELOAD cannot be set", "LAB_*"),
    (more("[environment]", 'A = "{modell}"'), 5, "no placeholder {modell}", "model?"),
    (more(FILE, 'path = "/etc/x"', 'text = ""'), 5, "neither in the home nor in the work folder", "{home}/"),
    (more(FILE, 'path = "{home}x/y"', 'text = ""'), 5, "neither in the home nor in the work folder", "{home}/"),
    (more(FILE, 'path = "{home}"', 'text = ""'), 5, "not the plain path of a file", "//"),
    (more(FILE, 'path = "{home}/../x"', 'text = ""'), 5, "not the plain path of a file", ".."),
    (more(FILE, 'path = "{work}/./solution.py"', 'text = ""'), 5, "not the plain path of a file", ".."),
    (more(FILE, 'path = "{home}/a/"', 'text = ""'), 5, "not the plain path of a file", "//"),
    (more(FILE, 'path = "{work}/solution.py"', 'text = ""'), 5, "is the task's own", "another"),
    (more(FILE, 'path = "{home}/{model}"', 'text = ""'), 5, "{model} cannot stand here", "in full"),
    (more(FILE, 'path = "{home}/\\u0000"', 'text = ""'), 5, "NUL", "Remove"),
    (more(FILE, 'path = "{home}/a"', 'text = "{prompt}"'), 6, "{prompt} cannot stand here", "{prompt_file}"),
    (more(FILE, 'path = "{home}/a"', 'text = "{nope}"'), 6, "no placeholder {nope}", "{{nope}}"),
    (more('extra_paths = ["opt/x"]'), 4, "'opt/x' is not an absolute path", "/"),
    (more("summary = x"), 4, "not TOML: Invalid value", "line"),
    (more('summary = "'), 4, "not TOML: ", "line"),
    (more('summary = """', "", ""), 7, "not TOML: ", "line"),
    (more('name = "mine"'), 4, "not TOML: Cannot overwrite a value", "line"),
    (more(f"a = {'9' * 5000}"), 5, "not TOML: ", "line"),
    (more(f'extra_paths = ["/{"a" * 5000}"]'), 4, "is longer than a path can be", "shorter"),
    (more('extra_paths = ["/opt", "/proc"]'), 4, "/proc is the sandbox's own", "below"),
    (more('extra_paths = ["/proc/self/root/etc"]'), 4, "is the sandbox's own", "below"),
    (more('extra_paths = ["/opt/../dev/shm"]'), 4, "is the sandbox's own", "below"),
    (more(f"a = {'[' * 20_000}"), 1, "nested too deeply", "flat"),
]


@pytest.mark.parametrize(("text", "line", "what", "fix"), WRONG)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, line: int, what: str, fix: str) -> None:
    with pytest.raises(LabError) as raised:
        adapter(tmp_path, text)
    assert raised.value.what.startswith(f"{tmp_path / 'mine.toml'}:{line}: ")
    assert what in raised.value.what
    assert fix in raised.value.fix
    assert re.search(r"[\x00-\x1f]", str(raised.value)) is None


@pytest.mark.parametrize("name", TAKEN)
def test_a_built_in_tool_is_not_overridden(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match=f":1: {name} is built in"):
        adapter(tmp_path, SMALLEST.replace('"mine"', f'"{name}"', 1), name=name)


def test_a_name_is_fit_to_be_a_folder(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=":1: '-x y' is not a name"):
        adapter(tmp_path, SMALLEST.replace('"mine"', '"-x y"', 1), name="-x y")


def test_a_file_that_is_none(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    with pytest.raises(LabError, match="is not there"):
        read_adapter(file)
    os.mkfifo(file)
    with pytest.raises(LabError, match="is not a regular file"):
        read_adapter(file)
    file.unlink()
    file.write_text("#" * (MAX_ADAPTER_BYTES + 1))
    with pytest.raises(LabError, match="is larger than"):
        read_adapter(file)
    file.write_bytes(b"# one\n# \xff\n")
    with pytest.raises(LabError, match=r"mine\.toml:2: not UTF-8"):
        read_adapter(file)


PIECES = [
    "[",
    "]",
    "[[files]]",
    '"',
    "'''",
    '"""',
    "\n",
    "=",
    ".",
    "{",
    "}",
    "{nope}",
    "#",
    "\\",
    "a",
    "\r\n",
    "é",
    "\0",
    "1e9",
]


@given(st.lists(st.tuples(st.integers(0, len(WHOLE)), st.integers(0, 9), st.sampled_from(PIECES)), max_size=4))
def test_whatever_was_done_to_a_file_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, int, str]]
) -> None:
    text = WHOLE
    for place, removed, piece in edits:
        text = text[:place] + piece + text[place + removed :]
    file = tmp_path_factory.mktemp("edited") / "mine.toml"
    file.write_bytes(text.encode())
    try:
        said = f"{file}:1: {read_adapter(file).name}"
    except LabError as error:
        said = error.what
    line = re.match(rf"{re.escape(str(file))}:(\d+): ", said)
    assert line is not None, said
    assert 1 <= int(line[1]) <= text.count("\n") + 1
