"""Machine-wide slots: of all the processes of this user, at most one grades per core; the others wait their turn.

A slot is a flock, so the kernel takes it back from a process that was killed. Stdlib only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# fixed, not TMPDIR: processes with different settings have to meet; the later ones serve where somebody else holds
# the name in the earlier, or the disk cannot be written
BASES = (Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"))  # noqa: S108
LOOK_S = 0.003


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def slot(count: int | None = None, *, bases: Sequence[Path] = BASES) -> Iterator[None]:
    """Hold one of `count` slots (default: one a core), in the order of coming, as near as the kernel keeps it.

    Whoever waits first stands at the gate and looks for a free slot; all others sleep in the kernel behind it.
    The descriptor is closed on exec, but a fork without exec would hold the slot on.
    Raises LabError where no folder can be had for the locks.
    """
    folder = _open_folder(bases)
    try:
        gate = _open_lock(folder, "gate")
        try:
            fcntl.flock(gate, fcntl.LOCK_EX)
            taken = _take(folder, count or cores())
        finally:
            os.close(gate)
    finally:
        os.close(folder)
    try:
        yield
    finally:
        os.close(taken)


def claim_core(*, bases: Sequence[Path] = BASES) -> tuple[int, int] | None:
    """A core that nothing else of this user grades on, and the descriptor that holds it; None where there is none.

    Two processes that answer each other in turn do so twenty times as fast on one core, where none has to be woken.
    """
    if not hasattr(os, "sched_getaffinity") or len(allowed := os.sched_getaffinity(0)) == 1:
        return None
    try:
        folder = _open_folder(bases)
    except LabError:
        return None
    try:
        for core in sorted(allowed):
            with contextlib.suppress(LabError, OSError):
                descriptor = _try(folder, f"core-{core}")
                if descriptor is not None:
                    return core, descriptor
    finally:
        os.close(folder)
    return None


def _take(folder: int, count: int) -> int:
    """The descriptor of the first slot that is or becomes free."""
    while True:
        for number in range(count):
            descriptor = _try(folder, f"slot-{number}")
            if descriptor is not None:
                return descriptor
        time.sleep(LOOK_S)


def _try(folder: int, name: str) -> int | None:
    """The descriptor of a lock that was free; None where another process holds it."""
    descriptor = _open_lock(folder, name)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _open_folder(bases: Sequence[Path]) -> int:
    """A descriptor of the first folder that is this user's alone; what others planted under its name is passed by."""
    name = f"lab-slots-{os.geteuid()}"
    for base in bases:
        path = base / name
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            status = os.fstat(descriptor)
            if status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o077:
                return descriptor
            os.close(descriptor)
    places = ", ".join(str(base / name) for base in bases)
    raise LabError(f"no folder for grading slots: {places} are not this user's alone", "Remove one of them")


def _open_lock(folder: int, name: str) -> int:
    try:
        return os.open(
            name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600, dir_fd=folder
        )
    except OSError as error:
        raise LabError(
            f"the grading slot {name} cannot be opened: {error.strerror}", "Remove the slots' folder"
        ) from error
