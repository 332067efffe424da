"""Where the keys of a TOML text stand: the standard library reads values and forgets their lines."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]
"""Keys from the outermost on; a number counts the tables of an array of tables from 0."""

# strings and comments whole, so that brackets and line ends in them are not taken for the text's own
TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}\n]', re.DOTALL
)


def lines(text: str) -> dict[Path, int]:
    """The line, from 1, on which the statement stands that first names each key. `text` is valid TOML."""
    found: dict[Path, int] = {}
    header: Path = ()
    tables: dict[Path, int] = {}
    for number, statement in _statements(text):
        keys = _keys(tomllib.loads(statement))
        if statement.startswith("["):
            header = keys[-1]
            if statement.startswith("[["):
                tables[header] = tables.get(header, -1) + 1
                header = (*header, tables[header])
            keys = [()]
        for key in keys:
            found.setdefault((*header, *key), number)
    return found


def line_of(text: str, path: Path) -> int:
    """The line of a key, else of the nearest table around it, else 1."""
    known = lines(text)
    return next((known[path[:end]] for end in range(len(path), 0, -1) if path[:end] in known), 1)


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Each header or assignment with the line on which it begins."""
    depth = start = 0
    for token in TOKEN.finditer(text + "\n"):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if token[0] == "\n" and not depth:
            if (statement := text[start : token.start()].strip()) and not statement.startswith("#"):
                yield text.count("\n", 0, start) + 1, statement
            start = token.end()


def _keys(value: dict[str, Any]) -> list[Path]:
    """The keys of one statement, nested as it nests them, outer ones first. Arrays are values here, save a header's."""
    keys: list[Path] = []
    for name, inner in value.items():
        keys.append((name,))
        table = inner[0] if isinstance(inner, list) and len(inner) == 1 and inner[0] == {} else inner
        if isinstance(table, dict):
            keys += [(name, *key) for key in _keys(table)]
    return keys
