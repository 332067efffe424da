"""The one way to write a file: whole or not at all. Also the one way to read what others left."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

from lab.errors import LabError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

DISK_ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
}


class NotRegularFile(Exception):
    """A path that holds no regular file within the size allowed; the message says which it is."""


def write_atomic(path: Path, data: bytes | str, *, mode: int = 0o644) -> None:
    """Write `data` (text as UTF-8) to `path` through a temporary file beside it and a rename.

    Parents are made as needed. Raises LabError where the disk refuses.
    """
    payload = data.encode("utf-8") if isinstance(data, str) else data
    with writing(path, mode=mode) as out:
        out.write(payload)


@contextlib.contextmanager
def writing(path: Path, *, mode: int = 0o644) -> Iterator[BinaryIO]:
    """Give a stream whose content becomes `path` as a whole, once the block is left without an error.

    Parents are made as needed. Raises LabError where the disk refuses.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as out:
                yield out
                os.fchmod(out.fileno(), mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise disk_error(path, error) from error


def disk_error(path: Path, error: OSError) -> LabError:
    """Turn an operating-system error at `path` into a line a user can act on."""
    why = DISK_ERRORS.get(error.errno or 0, error.strerror or str(error))
    return LabError(f"cannot write {path}: {why}", "Free space or choose another place, then run the command again")


def replace_folder(new: Path, target: Path) -> None:
    """Put the folder `new` in the place of `target`; both must be on one file system.

    The old folder is moved aside first, so that `target` never holds half of each.
    """
    aside = target.with_name(f".{target.name}.old")
    if aside.exists():
        shutil.rmtree(aside)
    if target.exists():
        target.replace(aside)
    new.replace(target)
    shutil.rmtree(aside, ignore_errors=True)


def read_regular(path: str | Path, max_bytes: int) -> bytes:
    """Read a regular file of at most `max_bytes` that somebody else may have left, opened as by `opened_regular`."""
    with opened_regular(path) as descriptor:
        if os.fstat(descriptor).st_size > max_bytes:
            raise NotRegularFile(f"is larger than {max_bytes} bytes")
        data = bytearray()
        # one byte more than allowed: the file may have grown since fstat
        while len(data) <= max_bytes and (piece := os.read(descriptor, min(1 << 20, max_bytes + 1 - len(data)))):
            data += piece
    if len(data) > max_bytes:
        raise NotRegularFile(f"is larger than {max_bytes} bytes")
    return bytes(data)


@contextlib.contextmanager
def opened_regular(path: str | Path) -> Iterator[int]:
    """Give the descriptor of a regular file that somebody else may have left, for reading.

    No symbolic link is followed at the last step, and nothing is waited for (a FIFO, a device).
    Raises NotRegularFile with the reason, FileNotFoundError where there is nothing.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise NotRegularFile("is a symbolic link") from error
        if error.errno == errno.ENXIO:
            raise NotRegularFile("is not a regular file") from error
        if isinstance(error, FileNotFoundError):
            raise
        raise NotRegularFile(f"cannot be opened: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegularFile("is not a regular file")
        yield descriptor
    finally:
        os.close(descriptor)
