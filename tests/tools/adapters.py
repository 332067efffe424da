"""Adapter files for the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.tools.reading import read_adapter

if TYPE_CHECKING:
    from pathlib import Path

    from lab.tools.adapter import Adapter

SMALLEST = 'name = "mine"\napi = "none"\ncommand = ["mine"]\n'


def adapter(folder: Path, text: str = SMALLEST, *, name: str = "mine") -> Adapter:
    """An adapter as it is read from a file of that text."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.toml"
    file.write_text(text)
    return read_adapter(file)


def program(path: Path, text: str = "#!/bin/sh\necho 1.2.3\n") -> Path:
    """A program of that text, its folders made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path
