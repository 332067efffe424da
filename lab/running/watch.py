"""What an agent uses while it runs, and the limits that no kernel keeps for lab on every machine."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from lab.grading import cgroup
from lab.grading.usage import folder_bytes, tree_usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

MAX_MEMORY_MB = 8 << 10
MAX_PROCESSES = 1000
MAX_TASKS = 4000
"""Processes and threads: what a control group counts."""
MAX_LEFT_BYTES = 1 << 30
LOOK_S = 0.05
DISK_LOOK_S = 0.5
SHARE = 20
"""A look takes at most one part in so many of the time: more files are counted more seldom."""
ENTER = 'for group in "$1" "$2"; do echo 0 >"$group"; done 2>/dev/null; shift 2; exec "$@"'


class Watch:
    """Looks at one attempt's process tree and folders; a context, in whose control group the tool runs where one
    can be had. Processes that left the tree are seen by the control group alone.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        """`folders` are what the tool can fill on the host's disk."""
        self.peak_mb: float | None = None
        """The most resident memory, in MiB, that the processes of the tree were seen to have at once, in sum."""
        self._folders = folders
        self._group = cgroup.take()
        self._next = self._next_disk = 0.0

    def __enter__(self) -> Self:
        if self._group is not None:
            self._group.limit(MAX_MEMORY_MB << 20, MAX_TASKS)
        return self

    def __exit__(self, *_: object) -> None:
        if self._group is not None:
            self._group.release()

    def enter(self, argv: Sequence[str]) -> list[str]:
        """The command line that starts `argv` in the control group; `argv` itself where there is none."""
        if self._group is None:
            return list(argv)
        groups = [f"{folder}/cgroup.procs" for folder in (self._group.memory, self._group.pids)]
        return ["/bin/sh", "-c", ENTER, "sh", *groups, *argv]

    def look(self, pid: int) -> str | None:
        """Look at the tree of `pid`, where it is time to; why it has to be stopped, or None."""
        now = time.monotonic()
        if now < self._next:
            return None
        why = self._over(pid)
        if why is None and now >= self._next_disk:
            began = time.monotonic()
            why = self._overfull()
            self._next_disk = time.monotonic() + max(DISK_LOOK_S, SHARE * (time.monotonic() - began))
        self._next = time.monotonic() + max(LOOK_S, SHARE * (time.monotonic() - now))
        return why

    def at_end(self) -> str | None:
        """What is known at the end only: a limit that it reached between two looks."""
        if self._group is not None and self._group.ran_out_of_memory():
            return _too_much_memory()
        return self._overfull()

    def _over(self, pid: int) -> str | None:
        usage = tree_usage(pid)
        if usage.resident_mb:
            self.peak_mb = max(self.peak_mb or 0.0, usage.resident_mb)
        # first, for what forks share is counted for each of them
        if usage.processes > MAX_PROCESSES or (self._group is not None and self._group.ran_out_of_tasks()):
            return f"it had more than {MAX_PROCESSES} processes at once"
        return _too_much_memory() if usage.resident_mb > MAX_MEMORY_MB else None

    def _overfull(self) -> str | None:
        left = MAX_LEFT_BYTES
        for folder in self._folders:
            left -= folder_bytes(str(folder), left)
            if left <= 0:
                return f"it left more than {MAX_LEFT_BYTES >> 20} MiB in its folders"
        return None


def _too_much_memory() -> str:
    return f"it used more than {MAX_MEMORY_MB} MiB of memory"
