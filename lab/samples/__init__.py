"""Samples: solutions that were written elsewhere, as EvalPlus has them: a JSON Lines file, or a folder a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.samples.folder import SampleFolder
from lab.samples.jsonl import SampleFile

if TYPE_CHECKING:
    from pathlib import Path

    from lab.samples.sample import Samples

FIX = "Name a .jsonl or .jsonl.gz file, or a folder with one folder a task"


def open_samples(path: Path) -> Samples:
    """The samples at `path`, a context manager; raises LabError where it cannot be read as a whole."""
    try:
        return SampleFolder(path) if path.is_dir() else SampleFile(path)
    except FileNotFoundError:
        raise LabError(f"there is no samples file {path}", FIX) from None
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror or error}", FIX) from error
