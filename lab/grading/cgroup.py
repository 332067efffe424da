"""Limits that the kernel keeps over all processes of one candidate together, by control groups of version 1 or 2.

They count what watching cannot: the pages of scratch folders, shared memory and files that have no name, and what is
forked between two looks. A group is made below lab's own, or beside it, where memory and pids are counted already
and this user may; nothing is mounted and no controller is switched on. Elsewhere `take` gives None, and what
`usage.tree_usage` sees must do. The numbers are the kernel's cgroup-v1/memory.rst, cgroup-v1/pids.rst, cgroup-v2.rst.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import os
import re
import signal
import time

from lab.grading.owner import OWNER, is_left_behind, owner

MOUNT = "/sys/fs/cgroup"
NAME = re.compile(rf"lab-{OWNER}-\d+")
GONE_LIMIT_S = 2.0
LOOK_S = 0.005
_serial = itertools.count()
_released: list[Group] = []


@dataclasses.dataclass(frozen=True)
class Place:
    """Where groups can be made: a folder for each of two controllers (version 1), or one folder for both (2)."""

    memory: str
    pids: str

    @property
    def unified(self) -> bool:
        """Whether it is version 2."""
        return self.memory == self.pids

    @property
    def folders(self) -> tuple[str, ...]:
        return (self.memory,) if self.unified else (self.memory, self.pids)


class Group:
    """The group of one candidate. Every method is free of errors: what the kernel refuses is left to watching."""

    def __init__(self, place: Place) -> None:
        """Make it; raises OSError where that is not allowed."""
        name = f"lab-{owner()}-{next(_serial)}"
        self._unified = place.unified
        self._folders = [f"{folder}/{name}" for folder in place.folders]
        self.memory, self.pids = self._folders[0], self._folders[-1]
        for folder in self._folders:
            os.mkdir(folder)

    def entrances(self) -> list[int]:
        """Descriptors through which a process enters, by writing `0`; the caller closes them.

        A process that enters by itself waits for nobody, while to be moved by another takes the kernel 10 ms; so
        the candidate's interpreter enters before it is given anything of others.
        """
        # of version 1 only `tasks` is free of that wait
        name = "cgroup.procs" if self._unified else "tasks"
        found: list[int] = []
        with contextlib.suppress(OSError):
            found += [os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CLOEXEC) for folder in self._folders]
        return found

    def limit(self, memory_bytes: int, tasks: int) -> None:
        """Set what all of it may hold: bytes of memory, without swap, and processes with their threads."""
        if self._unified:
            _write(f"{self.memory}/memory.max", memory_bytes)
            _write(f"{self.memory}/memory.swap.max", 0)
            _write(f"{self.memory}/memory.oom.group", 1)
        else:
            _write(f"{self.memory}/memory.limit_in_bytes", memory_bytes)
            _write(f"{self.memory}/memory.memsw.limit_in_bytes", memory_bytes)
        _write(f"{self.pids}/pids.max", tasks)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of it for its memory limit."""
        name = "memory.events" if self._unified else "memory.oom_control"
        return _number(f"{self.memory}/{name}", "oom_kill") > 0

    def ran_out_of_tasks(self) -> bool:
        """Whether the kernel has refused it a process or a thread."""
        return _number(f"{self.pids}/pids.events", "max") > 0

    def release(self) -> None:
        """Kill what is left in it, and remove it now or, where the kernel is not done with it, at a later call."""
        _released.append(self)
        _remove_released()

    def remove(self) -> bool:
        """Kill and remove; whether it is gone."""
        _kill_all(self.pids)
        for folder in self._folders:
            with contextlib.suppress(FileNotFoundError):
                try:
                    os.rmdir(folder)
                except OSError:
                    return False
        return True


def take() -> Group | None:
    """A group for one candidate; None where none can be had."""
    where = place()
    with contextlib.suppress(OSError):
        return Group(where) if where is not None else None
    return None


def remove_all() -> None:
    """Remove what was released, waiting a moment for the kernel to take the last processes apart."""
    until = time.monotonic() + GONE_LIMIT_S
    while not _remove_released() and time.monotonic() < until:
        time.sleep(LOOK_S)


@functools.cache
def place() -> Place | None:
    """Where this process may make groups, found by making one; None where it may not.

    What a lab that was killed left there is removed.
    """
    with contextlib.suppress(OSError):
        found = find_place()
        if found is not None:
            for folder in found.folders:
                _remove_stale(folder)
            Group(found).remove()
            return found
    return None


def find_place(mount: str = MOUNT, own: str = "/proc/self/cgroup") -> Place | None:
    """The folders where groups would be made, whether or not this user may. Raises OSError without control groups."""
    paths: dict[str, str] = {}
    with open(own, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            paths |= dict.fromkeys(controllers.split(","), path)
    if "memory" in paths and "pids" in paths:
        memory, pids = (_own_folder(f"{mount}/{name}", paths[name]) for name in ("memory", "pids"))
        return Place(memory, pids) if memory and pids else None
    folder = _own_folder(mount, paths.get("", "/"))
    if folder is None:
        return None
    # a group with processes of its own has no limited groups below it, unless it is the root; beside it there may be
    for parent in [folder, *([os.path.dirname(folder)] if _is_unlimited(folder, mount) else [])]:
        if {"memory", "pids"} <= set(_read(f"{parent}/cgroup.subtree_control").split()):
            return Place(parent, parent)
    return None


def _own_folder(mount: str, path: str) -> str | None:
    """The folder of the group that this process is in; in a container the path may be the host's."""
    for folder in (f"{mount}{path}".rstrip("/"), mount):
        if str(os.getpid()) in _read(f"{folder}/cgroup.procs").split():
            return folder
    return None


def _is_unlimited(folder: str, mount: str) -> bool:
    """Whether a group beside this one, instead of below, would escape no limit that somebody set for lab."""
    return folder != mount and _read(f"{folder}/memory.max").strip() == "max"


def _remove_released() -> bool:
    for group in tuple(_released):
        if group.remove():
            with contextlib.suppress(ValueError):  # another thread's pool was quicker
                _released.remove(group)
    return not _released


def _remove_stale(folder: str) -> None:
    """Remove groups whose lab is gone; one of another process namespace cannot be told from here, and stays."""
    for name in os.listdir(folder):
        if is_left_behind(NAME, name):
            _kill_all(f"{folder}/{name}")
            until = time.monotonic() + GONE_LIMIT_S
            while os.path.isdir(f"{folder}/{name}") and time.monotonic() < until:
                with contextlib.suppress(OSError):
                    os.rmdir(f"{folder}/{name}")
                    break
                time.sleep(LOOK_S)


def _kill_all(folder: str) -> None:
    """Kill every process of a group, whatever session it moved to."""
    if not _read(f"{folder}/cgroup.procs").strip():
        return
    _write(f"{folder}/pids.max", 0)  # nothing forks from here on, so two looks see all
    for _ in range(2):
        for pid in _read(f"{folder}/cgroup.procs").split():
            with contextlib.suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _number(path: str, key: str) -> int:
    """A number of a file of `key number` lines; 0 where it is not there."""
    for line in _read(path).splitlines():
        name, _, number = line.partition(" ")
        if name == key and number.isdigit():
            return int(number)
    return 0


def _write(path: str, value: int) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, str(value).encode())
        finally:
            os.close(descriptor)
