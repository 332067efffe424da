"""The record of a tool: how to start it, and what it needs. Read from TOML by `lab.tools.reading`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from lab.apis import Api


@dataclasses.dataclass(frozen=True)
class ConfigFile:
    """A file that is written before the tool starts. Both texts may hold placeholders."""

    path: str
    text: str


@dataclasses.dataclass(frozen=True)
class Adapter:
    """One tool. The texts of `command`, `environment` and `files` may hold placeholders."""

    name: str
    summary: str
    home: str
    """Its page on the web."""
    install: str
    """The command line that installs it, for a person to read."""
    version: tuple[str, ...]
    """The words that print its version."""
    api: Api | None
    """What it speaks to the model; None: it asks no model, and then nothing of it is infra."""
    command: tuple[str, ...]
    environment: dict[str, str]
    files: tuple[ConfigFile, ...]
    extra_paths: tuple[str, ...]
    """Absolute paths that its sandbox needs beyond what following its executable finds."""
    limits: tuple[str, ...]
    """What is known not to work, a sentence each."""
    sha256: str
    """Of the adapter file."""
    source: Path
