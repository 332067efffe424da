"""Writes the trace of an attempt: whole lines, whole answers, no keys, and no more than the disk is meant to bear."""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, Self

import msgspec

from lab.files import disk_error
from lab.proxy.mask import MaskedStream

if TYPE_CHECKING:
    from pathlib import Path

    from lab.errors import LabError
    from lab.proxy.mask import Mask
    from lab.proxy.records import LatencyLine, RequestLine, UsageLine

MAX_RESPONSE_BYTES = 64 << 20
MAX_TRACE_BYTES = 1 << 30
"""Of bodies and answers in one attempt: an agent may send the same 60 MiB again and again."""
MAX_LINES = 50_000
"""Of requests in one attempt; what comes after is counted and refused, and leaves no line."""
SUFFIXES = {"application/json": "json", "text/event-stream": "sse"}
ENDLESS_NUMBER = re.compile(rb"[0-9]{4000}")
"""Python reads none of more than 4,300 digits, so a line with one could not be read."""
TOO_MUCH = f"the trace holds {MAX_TRACE_BYTES >> 20} MiB already"


class Recorder:
    """The files of one attempt, below `folder`. A disk that refuses stops the recording, not the attempt."""

    def __init__(self, folder: Path, mask: Mask) -> None:
        self._responses = folder / "responses"
        self._mask = mask
        self._room = MAX_TRACE_BYTES
        self.error: LabError | None = None
        """Why the trace is not whole."""
        try:
            self._responses.mkdir()
        except OSError as error:
            raise disk_error(self._responses, error) from error
        with contextlib.ExitStack() as opened:
            self._requests = opened.enter_context(_Lines(folder / "requests.jsonl"))
            self._usage = opened.enter_context(_Lines(folder / "usage.jsonl"))
            self._latency = opened.enter_context(_Lines(folder / "latency.jsonl"))
            self._files = opened.pop_all()

    def request(self, line: RequestLine, body: bytes) -> None:
        """Add a request with its body, which is JSON or text."""
        if line.left_out is None and len(body) > self._room:
            line = msgspec.structs.replace(line, left_out=TOO_MUCH)
        elif body:
            self._room -= len(body)
            line = msgspec.structs.replace(line, body=_as_json(body))
        self._add(self._requests, line)

    def usage(self, line: UsageLine) -> None:
        self._add(self._usage, line)

    def latency(self, line: LatencyLine) -> None:
        self._add(self._latency, line)

    def response(self, n: int, content_type: str) -> Recording:
        """A file for answer number `n`, to be filled as it comes."""
        suffix = SUFFIXES.get(content_type, "txt")
        return Recording(self, self._responses / f"{n:03d}.{suffix}", self._mask)

    def close(self) -> None:
        self._files.close()

    def take_room(self, size: int) -> bool:
        """Whether so many bytes more may be recorded."""
        if size > self._room:
            return False
        self._room -= size
        return True

    def refuse(self, path: Path, error: OSError) -> None:
        """Remember the first refusal of the disk."""
        self.error = self.error or disk_error(path, error)

    def _add(self, lines: _Lines, line: msgspec.Struct) -> None:
        try:
            lines.add(self._mask.whole(_encoded(line)))
        except OSError as error:
            self.refuse(lines.path, error)


class Recording:
    """One answer's file, made with its first byte."""

    def __init__(self, recorder: Recorder, path: Path, mask: Mask) -> None:
        self._recorder = recorder
        self._path = path
        self._stream = MaskedStream(mask)
        self._descriptor: int | None = None
        self._size = 0
        self.name: str | None = None
        """The file's name; None as long as there is none."""
        self.left_out: str | None = None
        """Why the file does not hold all of the answer."""

    def write(self, piece: bytes) -> None:
        self._write(self._stream.feed(piece))

    def close(self) -> None:
        self._write(self._stream.rest())
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, data: bytes) -> None:
        if not data or self.left_out is not None:
            return
        if self._size + len(data) > MAX_RESPONSE_BYTES:
            self.left_out = f"only the first {self._size} bytes of the answer are here: more than lab keeps of one"
        elif not self._recorder.take_room(len(data)):
            self.left_out = TOO_MUCH
        if self.left_out is not None:
            return
        try:
            if self._descriptor is None:
                self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
                self.name = self._path.name
            _write_all(self._descriptor, data)
        except OSError as error:
            self._recorder.refuse(self._path, error)
            self.left_out = "the disk refused it"
        else:
            self._size += len(data)


class _Lines:
    """A file of lines that only grows. Each goes in with one write, so a kill leaves whole lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise disk_error(path, error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
        self._descriptor = -1  # its number may soon be another file's

    def add(self, line: bytes) -> None:
        end = os.fstat(self._descriptor).st_size
        try:
            _write_all(self._descriptor, line + b"\n")
        except OSError:
            os.ftruncate(self._descriptor, end)  # a full disk takes a part of a line
            raise


def _encoded(line: msgspec.Struct) -> bytes:
    """The line as JSON; half characters in its texts, which tools and providers send, are escaped."""
    fields = {name: _whole_text(getattr(line, name)) for name in line.__struct_fields__}
    return msgspec.json.encode(type(line)(**fields))


def _whole_text(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {name: _whole_text(inner) for name, inner in value.items()}
    return value


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _as_json(body: bytes) -> msgspec.Raw:
    """The body as it may stand in a line: its own JSON without line breaks, else its text as a JSON string."""
    text = body.decode("utf-8", "replace")
    if text.encode() == body and not ENDLESS_NUMBER.search(body):
        try:
            return msgspec.Raw(msgspec.json.format(body, indent=-1))
        except (msgspec.DecodeError, RecursionError):
            pass
        try:  # msgspec does not take half an emoji, which an agent makes where it cuts a text
            return msgspec.Raw(json.dumps(json.loads(text), allow_nan=False).encode())
        except (ValueError, RecursionError):
            pass
    return msgspec.Raw(msgspec.json.encode(text))
