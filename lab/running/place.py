"""The folder of one run: claimed while it is done, and what it held before kept until something took its place."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from typing import TYPE_CHECKING

from lab.files import disk_error, write_atomic
from lab.results import FILE_NAME, Result, read_result, write_result

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ATTEMPT = re.compile(r"attempt-(\d+)(?:-repeated-\d+)?")
REPLACED = "replaced"
"""Holds the result that is being replaced, with its attempts, until the run has a verdict again."""


class Place:
    """`runs/<suite>/<tool>/<task-id>/<run-id>/`."""

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        self._identity = identity

    @property
    def result(self) -> Result | None:
        """The record of this run, where there is one."""
        return self._read(self.folder)

    @property
    def replaced(self) -> Result | None:
        """The record that a run which was interrupted was to replace."""
        return self._read(self.folder / REPLACED)

    @contextlib.contextmanager
    def claim(self) -> Iterator[bool]:
        """Hold the folder, which is made; False where another lab is at work in it. A kill lets go of it.

        Raises LabError where it cannot be made.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise disk_error(self.folder, error) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def begin(self, result: Result, kept: int) -> None:
        """Record that the run has begun. The first `kept` attempts stay; the rest makes room.

        What had a verdict is put aside, whole; what was interrupted is removed.
        """
        before = self.result
        aside = self.folder / REPLACED
        if before is not None and before.verdict is not None and not kept and not aside.exists():
            write_atomic(aside / FILE_NAME, (self.folder / FILE_NAME).read_bytes())
        if (self.folder / FILE_NAME).is_dir():  # whoever put it there
            shutil.rmtree(self.folder / FILE_NAME)
        # over the earlier record, whose unknown keys stay
        write_result(self.folder / FILE_NAME, result)
        for entry in list(self.folder.iterdir()):
            match = ATTEMPT.fullmatch(entry.name)
            if entry.name in {FILE_NAME, REPLACED} or (match and int(match[1]) <= kept):
                continue
            if match and before is not None and before.verdict is not None and (aside / FILE_NAME).exists():
                entry.rename(aside / entry.name)
            elif entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)

    def record(self, result: Result) -> None:
        """Write the record; with a verdict it has taken the earlier one's place."""
        write_result(self.folder / FILE_NAME, result)
        if result.verdict is not None:
            shutil.rmtree(self.folder / REPLACED, ignore_errors=True)

    def _read(self, folder: Path) -> Result | None:
        found = read_result(folder / FILE_NAME)
        return found if isinstance(found, Result) and found.identity == self._identity else None
