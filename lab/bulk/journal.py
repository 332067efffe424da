"""Results as they come, in `<out>.partial`: what a kill cannot take back, and the next go does not grade again.

A results file and a journal are of one form: a header, then records on its terms. In a journal the records stand in
the order in which they came, and a go on other terms adds a header of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from lab.errors import LabError
from lab.files import disk_error
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.bulk.contents import Unit
    from lab.bulk.terms import Terms

START = b'{"lab": '
"""How a header starts, and no record does."""
REUSABLE = frozenset(Status) - {Status.INFRA}
PARTIAL = ".partial"
FIX = "Name another file with --out"


class Journal:
    """The results of a file's units, from before and from now. Use as a context manager; one process at a time.

    Raises LabError where the journal cannot be written, or it or the results file is somebody else's file.
    """

    def __init__(self, out: Path, terms: Terms, header: dict[str, Any], *, fresh: bool) -> None:
        self._path = out.with_name(f"{out.name}{PARTIAL}")
        self._terms = terms
        self._results: dict[Unit, tuple[BinaryIO, int]] = {}
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(_open_journal(self._path))
            before = stack.enter_context(_open_results(out)) if out.exists() else None
            if fresh:
                self._file.truncate(0)
            elif before is not None:
                self._take(before)
            self._continue(header)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __contains__(self, unit: Unit) -> bool:
        return unit in self._results

    def add(self, unit: Unit, record: dict[str, Any]) -> None:
        """Keep a result: once this returns, a kill does not lose it."""
        self._results[unit] = self._file, self._append(record)

    def __getitem__(self, unit: Unit) -> dict[str, Any]:
        """The record of a unit that has one."""
        stream, place = self._results[unit]
        stream.seek(place)
        record: dict[str, Any] = json.loads(stream.readline())
        return record

    def remove(self) -> None:
        """Delete the file: the results stand elsewhere now."""
        self._path.unlink()

    def _continue(self, header: dict[str, Any]) -> None:
        """Take in the results that an earlier go left here, cut off what it did not finish, and say the terms."""
        end, last = self._take(self._file)
        self._file.truncate(end)
        if last != header:
            self._append(header)

    def _take(self, stream: BinaryIO) -> tuple[int, dict[str, Any] | None]:
        """Note every result that can be reused; gives the end of the last whole line, and the last header."""
        header: dict[str, Any] | None = None
        end = 0
        for place, line in _whole_lines(stream):
            end = place + len(line)
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(record, dict):
                continue
            if line.startswith(START):
                header = record
            elif header is not None and str(record.get("status")) in REUSABLE and self._terms.hold(header, record):
                self._results[str(record["task"]), str(record.get("solution_sha256"))] = stream, place
        return end, header

    def _append(self, record: dict[str, Any]) -> int:
        """Write one line, and give its place."""
        try:
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(json.dumps(record).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise disk_error(self._path, error) from error
        return place


def _open_journal(path: Path) -> BinaryIO:
    """Open or make it, and lock it: a lock ends with the process that holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            stream = os.fdopen(os.open(path, flags, 0o644), "r+b")
            with contextlib.ExitStack() as stack:
                stack.enter_context(stream)
                _check_ours(path, stream)
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(stream.fileno()).st_nlink:
                    stack.pop_all()
                    return stream
                # whoever held the lock before has finished, and deleted the file under it
    except BlockingIOError:
        raise LabError(f"another lab grade is writing {path}", "Wait for it, or name another file with --out") from None
    except OSError as error:
        raise LabError(f"cannot write {path}: {error.strerror}", FIX) from error


def _open_results(path: Path) -> BinaryIO:
    try:
        stream = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror}", FIX) from error
    with contextlib.ExitStack() as stack:
        stack.enter_context(stream)
        _check_ours(path, stream)
        stack.pop_all()
        return stream


def _check_ours(path: Path, stream: BinaryIO) -> None:
    """Raise LabError where it is not a file that lab grade wrote, or began to write."""
    head = stream.read(len(START)) if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else None
    if head is None or not START.startswith(head):
        raise LabError(f"{path} is there already, and lab grade did not write it", FIX)


def _whole_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Each line with its place; what a kill cut off at the end is left out."""
    place = stream.seek(0)
    for line in stream:
        if line.endswith(b"\n"):
            yield place, line
        place += len(line)
