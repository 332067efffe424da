"""One generation of a suite at a time."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from lab.errors import LabError
from lab.files import disk_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.layout import SuitePaths

WAIT_S = 3.0


@contextlib.contextmanager
def exclusive(paths: SuitePaths) -> Iterator[None]:
    """Hold the suite for this generation, making its folder; a folder that stays empty is taken away again.

    Raises LabError where another generation holds it, or where it cannot be written to.
    """
    try:
        paths.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(paths.generation_lock, timeout=WAIT_S)
        lock.acquire()
    except Timeout:
        raise LabError(f"another lab gen is working on {paths.name}", "Wait until it has ended") from None
    except OSError as error:
        raise disk_error(paths.folder, error) from error
    try:
        yield
    finally:
        if list(paths.folder.iterdir()) == [paths.generation_lock]:
            # under the lock: whoever waits for it sees that the file is gone and makes a new one
            with contextlib.suppress(OSError):
                paths.generation_lock.unlink()
                paths.folder.rmdir()
                paths.folder.parent.rmdir()
        lock.release()
