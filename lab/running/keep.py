"""Keeping what an agent left, as it left it, without following or trusting any of it."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from lab.files import NotRegularFile, read_regular

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FILE_BYTES = 16 << 20
MAX_TOTAL_BYTES = 64 << 20
MAX_ENTRIES = 5000
MAX_DEPTH = 20
MAX_NOTES = 20


def keep_work(left: Path, target: Path) -> tuple[str, ...]:
    """Copy the folder `left` to `target` and say what was not copied: one note each, at most MAX_NOTES.

    Only folders and regular files within the caps are copied. Symbolic links are not followed; they, pipes,
    sockets and devices are noted. Nothing of mode or owner is kept but the executable bit.
    """
    notes: list[str] = []
    target.mkdir(parents=True)
    entries, total = 0, 0
    for entry in _walk(left, 0, notes):
        entries += 1
        relative = Path(entry.path).relative_to(left)
        if entries > MAX_ENTRIES:
            notes.append(f"more than {MAX_ENTRIES} files: the rest was not kept")
            break
        if entry.is_dir(follow_symlinks=False):
            (target / relative).mkdir()
            continue
        try:
            data = read_regular(entry.path, min(MAX_FILE_BYTES, MAX_TOTAL_BYTES - total))
            executable = entry.stat(follow_symlinks=False).st_mode & stat.S_IXUSR
        except (NotRegularFile, OSError) as error:
            notes.append(f"{relative} was not kept: it {error}")
            continue
        total += len(data)
        kept = target / relative
        kept.write_bytes(data)
        kept.chmod(0o755 if executable else 0o644)
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"and {len(notes) - MAX_NOTES} more"]
    return tuple(note.encode("utf-8", "backslashreplace").decode() for note in notes)


def _walk(folder: Path, depth: int, notes: list[str]) -> Iterator[os.DirEntry[str]]:
    """Every entry below `folder`, parents first."""
    try:
        folder.chmod(0o700)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        notes.append(f"{folder.name} was not kept: {error.strerror}")
        return
    for entry in entries:
        yield entry
        if entry.is_dir(follow_symlinks=False):
            if depth == MAX_DEPTH:
                notes.append(f"{entry.name} is too deep: its content was not kept")
            else:
                yield from _walk(Path(entry.path), depth + 1, notes)
