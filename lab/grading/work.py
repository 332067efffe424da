"""What an agent left, taken in with suspicion: solution.py and the helper modules beside it."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from typing import TYPE_CHECKING

from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SOLUTION = "solution.py"
MAX_SOLUTION_BYTES = 1 << 20
MAX_HELPERS = 200
MAX_HELPER_BYTES = 8 << 20
MAX_ENTRIES_SEEN = 2000
MAX_FOLDERS_DEEP = 4


class Missing(Exception):
    """There is no solution.py that can be graded; the message says why. The verdict is `missing`."""


@dataclasses.dataclass(frozen=True)
class Work:
    """The files that go beside the candidate, by relative path; `solution.py` is always one of them."""

    files: Mapping[str, bytes]

    @classmethod
    def of(cls, source: str | bytes) -> Work:
        """A work of one text; raises Missing where it is too large or not UTF-8."""
        try:
            data = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
            return cls({SOLUTION: _checked(data)})
        except NotRegularFile as error:
            raise Missing(f"the solution {error}") from error

    @property
    def sha256(self) -> str:
        """Of solution.py as it was left; with helper modules, of all of them."""
        digest = hashlib.sha256(self.files[SOLUTION])
        for name in sorted(self.files):
            if name != SOLUTION:
                digest.update(b"\0" + os.fsencode(name) + b"\0" + hashlib.sha256(self.files[name]).digest())
        return digest.hexdigest()


def read_solution(path: Path) -> Work:
    """One file as a solution; raises Missing."""
    try:
        return Work({SOLUTION: _checked(read_regular(path, MAX_SOLUTION_BYTES))})
    except FileNotFoundError:
        raise Missing("there is no solution.py") from None
    except NotRegularFile as error:
        raise Missing(f"solution.py {error}") from error


def read_work(folder: Path) -> Work:
    """solution.py and the helper modules beside it; raises Missing where solution.py cannot be graded.

    Helpers are regular `.py` files, also in subfolders; links and all else are left behind, and what is over the
    caps is not taken in: it cannot be needed by a solution of one function.
    """
    files = dict(read_solution(folder / SOLUTION).files)
    room = MAX_HELPER_BYTES
    for path, name in _helpers(os.fspath(folder)):
        if len(files) > MAX_HELPERS:
            break
        try:
            data = read_regular(path, room)
        except (NotRegularFile, FileNotFoundError):
            continue
        room -= len(data)
        files[name] = data
    return Work(files)


def _helpers(folder: str) -> Iterator[tuple[str, str]]:
    """Path and relative name of every `.py` file below `folder`, in order of name, no link followed."""
    seen = 0
    waiting = [("", 0)]
    while waiting:
        prefix, depth = waiting.pop()
        try:
            with os.scandir(os.path.join(folder, prefix)) as found:
                entries = []
                for entry in found:
                    seen += 1
                    if seen > MAX_ENTRIES_SEEN:
                        break
                    entries.append(entry)
        except OSError:
            continue
        for entry in sorted(entries, key=lambda entry: entry.name):
            name = os.path.join(prefix, entry.name)
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_FOLDERS_DEEP and entry.name != "__pycache__":
                    waiting.append((name, depth + 1))
            elif entry.name.endswith(".py") and name != SOLUTION and entry.is_file(follow_symlinks=False):
                yield entry.path, name


def _checked(data: bytes) -> bytes:
    if len(data) > MAX_SOLUTION_BYTES:
        raise NotRegularFile(f"is larger than {MAX_SOLUTION_BYTES} bytes")
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotRegularFile(f"is not UTF-8 text (byte {error.start})") from error
    return data
