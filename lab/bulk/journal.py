"""Results as they come, in `<out>.partial`: what a kill cannot take back, and the next go does not grade again.

A results file and a journal are of one form: a header, then records on its terms. In a journal the records stand in
the order in which they came, and a go on other terms adds a header of its own. What a go did not select goes over from
the results file that it replaces, and stays in the journal until a go selects it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import stat
from typing import TYPE_CHECKING, Any, BinaryIO, Self

from lab.errors import LabError
from lab.files import disk_error, writing
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from lab.bulk.contents import Unit
    from lab.bulk.terms import Terms

START = b'{"lab": '
"""How a header starts, and no record does."""
REUSABLE = frozenset(Status) - {Status.INFRA}
PARTIAL = ".partial"
FIX = "Name another file with --out"


@dataclasses.dataclass(frozen=True)
class _Result:
    """A result that may be used again, and where it stands."""

    terms: bytes
    """The header that it stands below, as a line."""
    header: dict[str, Any]
    place: int
    line: bytes
    record: dict[str, Any]

    @property
    def task(self) -> str:
        return str(self.record.get("task"))

    @property
    def unit(self) -> Unit:
        return self.task, str(self.record.get("solution_sha256"))


class Journal:
    """The results of a file's units, from before and from now. Use as a context manager; one process at a time.

    `fresh` uses none again. `unselected` are the tasks whose results are kept all the same, for another go.
    Raises LabError where the journal cannot be written, or it or the results file is somebody else's file.
    """

    def __init__(
        self, out: Path, terms: Terms, header: dict[str, Any], *, fresh: bool, unselected: Collection[str]
    ) -> None:
        self._path = out.with_name(f"{out.name}{PARTIAL}")
        self._unselected = unselected
        self._results: dict[Unit, tuple[BinaryIO, int]] = {}
        self._kept: set[tuple[bytes, Unit]] = set()
        with contextlib.ExitStack() as stack:
            self._file = stack.enter_context(_open_journal(self._path))
            self._terms = _cut(self._file)
            earlier = [stack.enter_context(_open_results(out))] if out.exists() else []
            # what the journal has is the newer
            for stream in () if fresh else (*earlier, self._file):
                self._results |= {r.unit: (stream, r.place) for r in _results(stream) if terms.hold(r.header, r.record)}
            for stream in (self._file, *earlier) if unselected else ():
                self._keep(stream)
            self._say(_line(header))
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __contains__(self, unit: Unit) -> bool:
        return unit in self._results

    def add(self, unit: Unit, record: dict[str, Any]) -> None:
        """Keep a result: once this returns, a kill does not lose it."""
        self._results[unit] = self._file, self._append(_line(record))

    def __getitem__(self, unit: Unit) -> dict[str, Any]:
        """The record of a unit that has one."""
        stream, place = self._results[unit]
        stream.seek(place)
        record: dict[str, Any] = json.loads(stream.readline())
        return record

    def finish(self) -> None:
        """Forget what stands in the results file now: all of the journal, but for what was not selected."""
        if not self._kept:
            self._path.unlink()
            return
        with writing(self._path) as stream:
            terms = b""
            for result in _results(self._file):
                if result.task in self._unselected:
                    stream.write(result.line if result.terms == terms else result.terms + result.line)
                    terms = result.terms

    def _keep(self, stream: BinaryIO) -> None:
        """Have in the journal what a stream has of tasks that are not selected, once."""
        for result in _results(stream):
            if result.task in self._unselected and (key := (result.terms, result.unit)) not in self._kept:
                self._kept.add(key)
                if stream is not self._file:
                    self._say(result.terms)
                    self._append(result.line)

    def _say(self, terms: bytes) -> None:
        """Write the header that the next lines stand below, where they do not stand there already."""
        if terms != self._terms:
            self._append(terms)
            self._terms = terms

    def _append(self, line: bytes) -> int:
        """Write one line, and give its place."""
        try:
            place = self._file.seek(0, os.SEEK_END)
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise disk_error(self._path, error) from error
        return place


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def _cut(stream: BinaryIO) -> bytes:
    """Cut off what a kill left half-written at the end; gives the last header, as a line."""
    terms, end = b"", 0
    for place, line in _whole_lines(stream):
        end = place + len(line)
        terms = line if line.startswith(START) else terms
    stream.truncate(end)
    return terms


def _results(stream: BinaryIO) -> Iterator[_Result]:
    """Every result that stands below a header; what is damaged is passed over."""
    terms: bytes = b""
    header: dict[str, Any] | None = None
    for place, line in _whole_lines(stream):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            header = None if line.startswith(START) else header
        elif line.startswith(START):
            terms, header = line, record
        elif header is not None and str(record.get("status")) in REUSABLE:
            yield _Result(terms, header, place, line, record)


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
