"""What a tree of processes uses, read from /proc. CPU time decides verdicts, so it is read here, not believed.

Linux only; elsewhere nothing is seen and the limits that the candidate's process set itself must do.
"""

from __future__ import annotations

import dataclasses
import os

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
MIB = 1 << 20
STAT_BLOCK_BYTES = 512
"""The unit of st_blocks, whatever the file system's own blocks are."""
MAX_SEEN = 2000
ACTIVE_STATES = (b"R", b"D")


@dataclasses.dataclass(frozen=True)
class Usage:
    """CPU seconds (of the dead that were waited for, too), resident MiB, and how many processes and threads live.

    `active` are the processes that run, would run if a core were free, or wait for a disk.
    """

    cpu_s: float = 0.0
    resident_mb: float = 0.0
    processes: int = 0
    threads: int = 0
    active: int = 0


def tree_usage(pid: int) -> Usage:
    """Sum over a process and all its descendants; what has ended meanwhile counts as nothing."""
    ticks, resident, count, threads, active = 0, 0, 0, 0, 0
    waiting = [pid]
    while waiting and count < MAX_SEEN:
        current = waiting.pop()
        try:
            with open(f"/proc/{current}/stat", "rb") as stat:
                # the name in brackets may hold anything, spaces and brackets too
                fields = stat.read().rpartition(b")")[2].split()
            # each thread has a list of the children that it made
            tasks = os.listdir(f"/proc/{current}/task") if int(fields[17]) > 1 else [str(current)]
            for task in tasks[:MAX_SEEN]:
                with open(f"/proc/{current}/task/{task}/children", "rb") as children:
                    waiting += map(int, children.read().split())
        except OSError:
            continue
        active += fields[0] in ACTIVE_STATES
        # utime, stime, cutime, cstime; num_threads; rss: fields 14 to 17, 20 and 24 of proc(5), counted from 1
        ticks += sum(map(int, fields[11:15]))
        threads += int(fields[17])
        resident += int(fields[21])
        count += 1
    return Usage(ticks / TICKS_PER_S, resident * PAGE_BYTES / MIB, count, threads, active)


def folder_bytes(folder: str, enough: int) -> int:
    """What the files below a folder take on the disk, each at least a page; no link is followed.

    Counting ends at `enough`, so however many files there are, it takes no longer than for those.
    """
    total = 0
    waiting = [folder]
    while waiting and total < enough:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    total += max(PAGE_BYTES, status.st_blocks * STAT_BLOCK_BYTES)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    if total >= enough:
                        break
        except OSError:  # gone, or closed to us too
            continue
    return total


def user_tasks(user: int) -> int:
    """How many processes and threads a user has on this machine: what RLIMIT_NPROC counts."""
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == user:
                    with open(f"{entry.path}/stat", "rb") as stat:
                        count += int(stat.read().rpartition(b")")[2].split()[17])
            except OSError:
                continue
    return count


def peak_mb(pid: int) -> float:
    """The most resident memory that one process ever had, MiB; 0 where it is gone."""
    try:
        with open(f"/proc/{pid}/status", "rb") as status:
            for line in status:
                if line.startswith(b"VmHWM:"):
                    return int(line.split()[1]) / 1024
    except (OSError, ValueError, IndexError):
        return 0.0
    return 0.0


def first_child(pid: int) -> int | None:
    """The only child of bubblewrap's outer process: the first process of the sandbox."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as children:
            return int(children.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None
