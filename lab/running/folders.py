"""What one attempt has on the disk while it runs: outside the root, and gone afterwards."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SOCKET_BYTES = 107
"""The system's limit on the path of a Unix socket."""


@dataclasses.dataclass(frozen=True)
class Folders:
    """The folders of one attempt, below a temporary one of this user alone."""

    base: Path

    @property
    def work(self) -> Path:
        """The tool works here."""
        return self.base / "work"

    @property
    def home(self) -> Path:
        """Its fresh home, with the settings that its adapter gives it."""
        return self.base / "home"

    @property
    def tmp(self) -> Path:
        """For a tool without a sandbox, so that what it leaves there goes too."""
        return self.base / "tmp"

    @property
    def private(self) -> Path:
        """What lab puts into the sandbox for itself, read-only there."""
        return self.base / "private"

    @property
    def socket(self) -> Path:
        """Of the recording proxy. Raises LabError where its path would be too long for one."""
        path = self.private / "model"
        if len(os.fsencode(path)) > MAX_SOCKET_BYTES:
            raise LabError(f"the temporary folder {self.base} has too long a name for sockets", "Set TMPDIR elsewhere")
        return path

    @property
    def status(self) -> Path:
        """What bubblewrap tells lab; the sandbox does not have it."""
        return self.base / "status"


@contextlib.contextmanager
def temporary_folders(root: Path | None) -> Iterator[Folders]:
    """New folders outside `root` (None where nothing has to be kept from them), removed with whatever was left in them.

    Raises LabError where TMPDIR lies inside the root or cannot be written to.
    """
    folders = Folders(Path(scratch.make()).resolve())
    try:
        if root is not None and folders.base.is_relative_to(root.resolve()):
            raise LabError(f"the temporary folder lies inside the root {root}", "Set TMPDIR elsewhere")
        for folder in (folders.work, folders.home, folders.tmp, folders.private):
            folder.mkdir()
        yield folders
    finally:
        scratch.remove(str(folders.base))
