"""One candidate's process as the supervisor holds it: started ahead of need, given a payload, watched, ended."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import marshal
import os
import signal
import tempfile
import time
from typing import TYPE_CHECKING

from lab.grading import cgroup
from lab.grading.isolation import Isolation
from lab.grading.limits import Measured
from lab.grading.sandbox import SCRATCH_BYTES, start_candidate
from lab.grading.usage import Usage, first_child, folder_bytes, peak_mb, tree_usage, user_tasks
from lab.process import ending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.grading.site import Venv
    from lab.grading.work import Work
    from lab.tasks import Limits

MAX_PROCESSES = 128
MAX_TASKS = 512
"""Processes with their threads: as many as fit with usual stacks into the address space of most tasks."""
USER_TASKS = 4096
"""What a user may start beside what ran before: a stop for storms, so far off that no innocent runs into it."""
SCRATCH_LOOK_S = 0.5
F_SETPIPE_SZ = 1031
PIPE_BYTES = 1 << 20
GRACE_S = 0.1
GRACE_LOOKS = 20


class Candidate:
    """A process that will run one work (or several of lab's own, one after the other)."""

    def __init__(self, isolation: Isolation, venv: Venv) -> None:
        self.isolation = isolation
        self.to_candidate, self.from_candidate, self.payload = -1, -1, -1
        read, self.to_candidate = os.pipe2(os.O_CLOEXEC)
        self.from_candidate, write = os.pipe2(os.O_CLOEXEC)
        with contextlib.suppress(OSError):  # a user has only so many large pipes
            fcntl.fcntl(write, F_SETPIPE_SZ, PIPE_BYTES)
        self.payload = scratch_file("work")
        self.group = cgroup.take()
        entrances = self.group.entrances() if self.group else []
        try:
            self.held = start_candidate(isolation, venv, (read, write, self.payload, *entrances))
        except BaseException:
            self.close_pipes()
            self._leave_group()
            raise
        finally:
            for descriptor in (read, write, *entrances):
                os.close(descriptor)
        self.started_at = 0.0
        self.usage = Usage()
        self.case_marker = -1
        self.case_start_cpu_s = 0.0
        self.waited_s = 0.0
        self.seen_at = 0.0
        self.scratch_bytes = 0
        self.scratch_seen_at = 0.0

    def _first_process(self) -> int | None:
        """The process that all others of the candidate descend from, as the host numbers it.

        Asked anew each time: once it is gone, its number may be somebody else's.
        """
        if self.held.process.returncode is not None:
            return None
        outer = self.held.process.pid
        return first_child(outer) if self.isolation is Isolation.BWRAP else outer

    def go(
        self, works: Sequence[Work], entry_point: str, limits: Limits, paths: Sequence[str], core: int | None
    ) -> None:
        """Hand over the payload and let it run; it answers calls on `core`, where the judge makes them."""
        payload = {
            "works": [dict(work.files) for work in works],
            "entry_point": entry_point,
            "paths": list(paths),
            "cpu_s": limits.cpu_s,
            "memory_bytes": limits.memory_mb << 20,
            "file_bytes": SCRATCH_BYTES,
            "tasks": _user_task_limit(),
            "value_bytes": limits.value_bytes,
            "core": core,
        }
        if self.group is not None:
            self.group.limit(limits.memory_mb << 20, MAX_TASKS)
        data = memoryview(marshal.dumps(payload))
        while data:
            data = data[os.write(self.payload, data) :]
        self.started_at = self.seen_at = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it died before it was asked: the judge will see its end
            os.write(self.to_candidate, b"g")

    def look(self, progress: int) -> None:
        """Read its clocks. `progress` is the judge's word: odd while the candidate is at work, and which case."""
        now = time.monotonic()
        busy = progress % 2 == 1
        if busy:
            self.waited_s += now - self.seen_at
        self.seen_at = now
        first = self._first_process()
        if first is not None:
            seen = tree_usage(first)
            # what has ended has used its time all the same
            self.usage = dataclasses.replace(seen, cpu_s=max(seen.cpu_s, self.usage.cpu_s))
        if self.held.scratch is not None and now - self.scratch_seen_at > SCRATCH_LOOK_S:
            # in a sandbox the file system itself has that size
            self.scratch_bytes = folder_bytes(self.held.scratch, SCRATCH_BYTES + 1)
            self.scratch_seen_at = now
        if progress != self.case_marker:
            self.case_marker, self.case_start_cpu_s = progress, self.usage.cpu_s

    def excess(self, limits: Limits) -> tuple[str, str] | None:
        """The limit it is over, as status and reason; None while it keeps within all of them."""
        held = self.excess_of_size(limits)
        if held is not None:
            return held
        if self.usage.cpu_s > limits.cpu_s:
            return "timeout", f"over its CPU limit of {limits.cpu_s:g} s"
        if self.case_marker % 2 == 1 and self.usage.cpu_s - self.case_start_cpu_s > limits.case_cpu_s:
            what = "one case" if self.case_marker > 1 else "its import"
            return "timeout", f"over its CPU limit of {limits.case_cpu_s:g} s for {what}"
        if self.waited_s > limits.wall_s:
            return "wall", f"over its wall limit of {limits.wall_s:g} s"
        return None

    def excess_of_size(self, limits: Limits) -> tuple[str, str] | None:
        """The same, without the clocks: what it was caught at, or what the kernel has had to hold it from."""
        if self.usage.processes > MAX_PROCESSES:
            return "error", f"ran more than {MAX_PROCESSES} processes at once"
        if self.usage.threads > MAX_TASKS or (self.group and self.group.ran_out_of_tasks()):
            return "error", f"ran more than {MAX_TASKS} threads and processes at once"
        if self.usage.resident_mb > limits.memory_mb or (self.group and self.group.ran_out_of_memory()):
            return "memory", f"over its memory limit of {limits.memory_mb} MiB"
        if self.scratch_bytes > SCRATCH_BYTES:
            return "error", f"wrote more than {SCRATCH_BYTES >> 20} MiB of files"
        return None

    def measured(self, seen: dict[str, int]) -> Measured:
        """What it used until now. `seen` is the judge's word, which has each case's CPU time from the candidate."""
        first = self._first_process()
        interpreter = first_child(first) if first is not None and self.isolation is Isolation.BWRAP else first
        peak = 0.0 if interpreter is None else peak_mb(interpreter)
        return Measured(
            cases=seen.get("calls", 0),
            cpu_s=self.usage.cpu_s,
            case_cpu_s=seen.get("case_cpu_ns", 0) / 1e9,
            wall_s=time.monotonic() - self.started_at,
            peak_mb=max(peak, self.usage.resident_mb),
            value_bytes=seen.get("largest_bytes", 0),
        )

    def how_it_ended(self) -> str:
        """How a candidate that hung up has ended; it is given a moment to do so."""
        for _ in range(GRACE_LOOKS):
            code = ending(self.held.process)
            if code is not None:
                number = -code if code < 0 else code - 128 if code > 128 else 0  # noqa: PLR2004 - bwrap adds 128
                return f"its process ended by signal {number}" if number else f"its process ended with exit code {code}"
            time.sleep(GRACE_S / GRACE_LOOKS)
        return "its process closed the channel"

    def close_pipes(self) -> None:
        for name in ("to_candidate", "from_candidate", "payload"):
            descriptor = getattr(self, name)
            if descriptor >= 0:
                os.close(descriptor)
                setattr(self, name, -1)

    def end(self) -> None:
        """Kill all of it. Twice is once."""
        first = self._first_process()
        if self.isolation is Isolation.BWRAP and first is not None:
            # the first process of the namespace takes all others with it, whatever session they moved to
            with contextlib.suppress(ProcessLookupError):
                os.kill(first, signal.SIGKILL)
        self.close_pipes()
        self.held.end()
        self._leave_group()

    def _leave_group(self) -> None:
        if self.group is not None:
            self.group.release()
            self.group = None


@functools.cache
def _user_task_limit() -> int:
    return user_tasks(os.getuid()) + USER_TASKS


def scratch_file(name: str) -> int:
    """The descriptor of a file that no folder holds."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create(name, os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
