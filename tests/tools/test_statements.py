from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from lab.tools import registry
from lab.tools.statements import line_of, lines

if TYPE_CHECKING:
    from pathlib import Path

TEXT = '''# name = "in a comment"

name = "x"  # ["
words = [
  "a ] # [[files]]",
  "b",
]
text = """
summary = "in a text"
[environment]
\\"""
"""
environment.A = "1"
raw = \'\'\'
it's [ ''\'\'\'
last = { inner = 1 }

[other]
# [not]
"quoted key" = 1

[[files]]
path = "p"

[[files]]
text = "t"
'''


def test_each_key_has_the_line_of_its_statement() -> None:
    tomllib.loads(TEXT)
    assert lines(TEXT) == {
        ("name",): 3,
        ("words",): 4,
        ("text",): 8,
        ("environment",): 13,
        ("environment", "A"): 13,
        ("raw",): 14,
        ("last",): 16,
        ("last", "inner"): 16,
        ("other",): 18,
        ("other", "quoted key"): 20,
        ("files", 0): 22,
        ("files", 0, "path"): 23,
        ("files", 1): 25,
        ("files", 1, "text"): 26,
    }


@pytest.mark.parametrize(
    ("path", "line"), [(("words", 1), 4), (("files", 1, "path"), 25), (("nowhere",), 1), ((), 1), (("last", "x"), 16)]
)
def test_the_nearest_line_is_given(path: tuple[str | int, ...], line: int) -> None:
    assert line_of(TEXT, path) == line


@pytest.mark.parametrize("file", sorted(registry.SHIPPED.glob("*.toml")), ids=lambda file: file.stem)
def test_every_key_of_a_real_file_is_found(file: Path) -> None:
    text = file.read_text()
    found = lines(text)
    for path in _paths(tomllib.loads(text)):
        assert path in found
        key = next(part for part in reversed(path) if isinstance(part, str))
        assert key in text.splitlines()[found[path] - 1]


def _paths(value: Any) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        pairs: list[tuple[str | int, Any]] = list(value.items())
    elif isinstance(value, list) and all(isinstance(item, dict) for item in value):
        pairs = list(enumerate(value))
    else:
        return []
    deeper = [(key, *path) for key, inner in pairs for path in _paths(inner)]
    return [(key,) for key, inner in pairs if not (isinstance(inner, list) and isinstance(inner[0], dict))] + deeper
