"""A samples file: one JSON object a line, plain or gzip."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import stat
import tempfile
import zlib
from typing import TYPE_CHECKING, BinaryIO, Self, cast

from lab.errors import LabError
from lab.samples.sample import MAX_SAMPLE_BYTES, BadLine, Sample

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE_BYTES = 1 << 20
MAX_TEXT_BYTES = 16 << 30


class SampleFile:
    """The samples of a file. A gzipped one is unpacked into a temporary file that no folder holds."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._raw = _open_regular(path)
        self._text: BinaryIO = self._raw
        if self._raw.peek(len(GZIP_MAGIC)).startswith(GZIP_MAGIC):
            with contextlib.ExitStack() as stack:
                stack.callback(self._raw.close)
                self._text = _unpacked(self._raw, path)
                stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._text.close()
        self._raw.close()

    def __iter__(self) -> Iterator[Sample | BadLine]:
        place, number = 0, 0
        while data := self._line(place):
            number += 1
            if len(data) > MAX_SAMPLE_BYTES:
                yield BadLine(number, f"line {number}", f"is longer than {MAX_SAMPLE_BYTES} bytes")
                while data and not data.endswith(b"\n"):
                    place += len(data)
                    data = self._line(place)
            elif text := (data.removeprefix(BYTE_ORDER_MARK) if number == 1 else data).strip():
                yield _sample(place, number, text)
            place += len(data)

    def again(self, place: int) -> Sample | BadLine:
        data = self._line(place)
        return _sample(place, None, data.removeprefix(BYTE_ORDER_MARK) if place == 0 else data)

    def sha256(self) -> str:
        self._raw.seek(0)
        try:
            return hashlib.file_digest(self._raw, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(self._path, error) from error

    def _line(self, place: int) -> bytes:
        """The line at `place`, or the first bytes of one that is too long; nothing at the end."""
        try:
            self._text.seek(place)
            return self._text.readline(MAX_SAMPLE_BYTES + 1)
        except OSError as error:
            raise _unreadable(self._path, error) from error


def _open_regular(path: Path) -> io.BufferedReader:
    """A regular file, opened without waiting where a FIFO has no writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise LabError(f"{path} is not a regular file", "Write the samples to a file first")
    return os.fdopen(descriptor, "rb")


def _unpacked(packed: BinaryIO, path: Path) -> BinaryIO:
    """A temporary file that no folder holds, with the text of a gzip file."""
    with contextlib.ExitStack() as stack:
        spool = cast("BinaryIO", stack.enter_context(tempfile.TemporaryFile(prefix="lab-samples-")))
        for piece in _pieces(packed, path):
            try:
                spool.write(piece)
                spool.flush()
            except OSError as error:
                why = f"{path} cannot be unpacked into {tempfile.gettempdir()}: {error.strerror}"
                raise LabError(why, "Free space there, or set TMPDIR") from error
        stack.pop_all()
        return spool


def _pieces(packed: BinaryIO, path: Path) -> Iterator[bytes]:
    left = MAX_TEXT_BYTES
    with gzip.GzipFile(fileobj=packed) as text:
        try:
            while piece := text.read(PIECE_BYTES):
                left -= len(piece)
                if left < 0:
                    raise LabError(f"{path} unpacks to more than {MAX_TEXT_BYTES >> 30} GiB", "Split it")
                yield piece
        except (OSError, EOFError, zlib.error) as error:
            raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> LabError:
    return LabError(f"the samples file {path} cannot be read: {error}", "Name a whole .jsonl or .jsonl.gz file")


def _sample(place: int, number: int | None, data: bytes) -> Sample | BadLine:
    where = f"line {number}"

    def bad(reason: str) -> BadLine:
        return BadLine(number, where, reason)

    try:
        # decoded first: json would take bytes with NULs for UTF-16
        row = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        return bad(f"is not JSON: {error}")
    if not isinstance(row, dict):
        return bad("is not a JSON object")
    task, model = row.get("task_id"), row.get("model")
    if not isinstance(task, str) or not task:
        return bad("has no task_id")
    for key in ("solution", "completion"):
        if key in row:
            if not isinstance(row[key], str):
                return bad(f"has a {key} that is not text")
            # a lone surrogate is given as the bytes it would be, for the grader to refuse
            source = row[key].encode("utf-8", "surrogatepass")
            named = model if isinstance(model, str) and model else None
            return Sample(place, number, task, source, where, continues=key == "completion", model=named)
    return bad("has neither a solution nor a completion")
