"""Samples files: solutions that were written elsewhere, one JSON object a line, as EvalPlus has them."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import zlib
from typing import TYPE_CHECKING, BinaryIO, cast

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class Sample:
    """One recorded solution. `text` is a whole file, or, with `continues`, what follows the stub."""

    line: int
    task: str
    """lab's id or upstream's."""
    text: str
    continues: bool = False
    model: str | None = None


@dataclasses.dataclass(frozen=True)
class BadLine:
    """A line that holds no sample, and why."""

    line: int
    reason: str


def read_samples(path: Path) -> Iterator[Sample | BadLine]:
    """Every sample of a .jsonl file, gzipped or not, in order; blank lines are passed over.

    A line that cannot be read is given as such and does not stop the rest. Raises LabError where the file itself
    cannot be read.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            if not zipped:
                yield from _lines(raw)
                return
            with gzip.open(raw) as text:
                yield from _lines(cast("BinaryIO", text))
    except FileNotFoundError:
        raise LabError(f"there is no samples file {path}", "Name a .jsonl or .jsonl.gz file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise LabError(
            f"the samples file {path} cannot be read: {error}", "Name a whole .jsonl or .jsonl.gz file"
        ) from error


def file_sha256(path: Path) -> str:
    """The sha256 of a samples file's bytes; raises LabError where it cannot be read."""
    try:
        with path.open("rb") as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
    except OSError as error:
        raise LabError(
            f"the samples file {path} cannot be read: {error.strerror}", "Name a .jsonl or .jsonl.gz file"
        ) from error


def _lines(stream: BinaryIO) -> Iterator[Sample | BadLine]:
    number = 0
    while data := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(data) > MAX_LINE_BYTES:
            yield BadLine(number, f"is longer than {MAX_LINE_BYTES} bytes")
            while data and not data.endswith(b"\n"):
                data = stream.readline(MAX_LINE_BYTES)
        elif data.strip():
            yield _sample(number, data)


def _sample(number: int, data: bytes) -> Sample | BadLine:
    try:
        row = json.loads(data)
    except (ValueError, RecursionError) as error:
        return BadLine(number, f"is not JSON: {error}")
    if not isinstance(row, dict):
        return BadLine(number, "is not a JSON object")
    task, model = row.get("task_id"), row.get("model")
    if not isinstance(task, str) or not task:
        return BadLine(number, "has no task_id")
    for key in ("solution", "completion"):
        if key in row:
            if not isinstance(row[key], str):
                return BadLine(number, f"has a {key} that is not text")
            named = model if isinstance(model, str) and model else None
            return Sample(number, task, row[key], continues=key == "completion", model=named)
    return BadLine(number, "has neither a solution nor a completion")
