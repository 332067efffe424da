"""Keeping what an agent left, as it left it, without following or trusting any of it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from lab.files import NotRegularFile, disk_error, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 64 << 20
MAX_ENTRIES = 5000
MAX_DEPTH = 20
MAX_NOTES = 20
MAX_NAME_CHARS = 200
DISK_IS_OVER = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
"""What a disk says that takes nothing more from anybody."""


def keep_work(left: Path, target: Path) -> tuple[str, ...]:
    """Copy the folder `left` to `target` and say what was not copied: one note each, at most MAX_NOTES.

    Only folders and regular files within the caps are copied. Symbolic links are not followed; they, pipes,
    sockets and devices are noted, and so is what the disk refuses: a path may be too long in `target` that was not
    in `left`. Nothing of mode or owner is kept but the executable bit. Raises LabError where the disk takes nothing
    more.
    """
    notes: list[str] = []
    lost: set[str] = set()
    total = 0
    try:
        target.mkdir(parents=True)
    except OSError as error:
        _raise_if_over(error, target)
        return (f"the work was not kept: {error.strerror}",)
    for number, entry in enumerate(_walk(left, 0, notes, lost)):
        if number == MAX_ENTRIES:
            notes.append(f"more than {MAX_ENTRIES} files: the rest was not kept")
            break
        relative = Path(entry.path).relative_to(left)
        try:
            if entry.is_dir(follow_symlinks=False):
                (target / relative).mkdir()
            else:
                data = read_regular(entry.path, min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - total))
                executable = entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR
                _write(target / relative, data, 0o755 if executable else 0o644)
                total += len(data)
        except NotRegularFile as error:
            notes.append(f"{_short(str(relative))} was not kept: it {error}")
        except OSError as error:
            _raise_if_over(error, target / relative)
            lost.add(entry.path)
            notes.append(f"{_short(str(relative))} was not kept: {error.strerror}")
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} more"]
    return tuple(note.encode("utf-8", "backslashreplace").decode() for note in notes)


def is_over(error: BaseException | None) -> bool:
    """Whether an error is the system's that the disk takes nothing more."""
    return isinstance(error, OSError) and error.errno in DISK_IS_OVER


def _walk(folder: Path, depth: int, notes: list[str], lost: set[str]) -> Iterator[os.DirEntry[str]]:
    """Every entry below `folder`, parents first, but nothing below those that are `lost` by then."""
    try:
        folder.chmod(0o700)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        notes.append(f"{_short(folder.name)} was not kept: {error.strerror}")
        return
    for entry in entries:
        yield entry
        if entry.path in lost or not entry.is_dir(follow_symlinks=False):
            continue
        if depth == MAX_DEPTH:
            notes.append(f"{_short(entry.name)} is too deep: its content was not kept")
        else:
            yield from _walk(Path(entry.path), depth + 1, notes, lost)


def _write(path: Path, data: bytes, mode: int) -> None:
    """Write a new file whole or not at all. Raises OSError."""
    # never over another: names that differ in case alone are one on some disks
    with path.open("xb") as file:
        try:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
        except OSError:
            path.unlink()
            raise


def _raise_if_over(error: OSError, path: Path) -> None:
    if is_over(error):
        raise disk_error(path, error) from error


def _short(name: str) -> str:
    half = MAX_NAME_CHARS // 2
    return name if len(name) <= MAX_NAME_CHARS else f"{name[:half]}...{name[-half:]}"
