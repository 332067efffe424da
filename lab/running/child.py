"""One agent's process: listened to within caps, and stopped when its time or lab's is over."""

from __future__ import annotations

import dataclasses
import os
import selectors
import subprocess
import time
from typing import TYPE_CHECKING

from lab.process import end, has_ended, spawn

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from lab.results import Stop

MAX_OUTPUT_BYTES = 4 << 20
READ_BYTES = 1 << 16
LOOK_S = 0.02
DRAIN_GRACE_S = 0.5


@dataclasses.dataclass(frozen=True)
class Ended:
    """How a process ended. `exit_code` is None where lab stopped it, negative where a signal did."""

    stop: Stop
    exit_code: int | None
    wall_s: float
    stdout: bytes
    stderr: bytes
    dropped_bytes: int
    """What it printed beyond the first MAX_OUTPUT_BYTES of each stream."""
    excess: str | None = None
    """Why `look` had it stopped; None where it did not."""


def run_child(
    argv: Sequence[str],
    *,
    folder: Path,
    env: Mapping[str, str],
    timeout_s: float,
    stopping: threading.Event,
    look: Callable[[int], str | None] | None = None,
    pass_fds: Collection[int] = (),
) -> Ended:
    """Run `argv` in `folder` until it ends, `timeout_s` is over, or `stopping` is set; then kill its whole group.

    `look` is asked over and over, with the process's id, for a reason to stop it. Standard input is empty.
    Raises LabError where the program cannot be started.
    """
    started = time.monotonic()
    process = spawn(argv, env=env, cwd=folder, pass_fds=pass_fds, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stop: Stop = "done"
    excess = None
    with process:  # closes the pipes
        listener = _Listener(process)
        try:
            while not has_ended(process):
                if stopping.is_set():
                    stop = "interrupted"
                elif time.monotonic() - started > timeout_s:
                    stop = "timeout"
                elif look is not None:
                    excess = look(process.pid)
                if stop != "done" or excess is not None:
                    break
                listener.listen(LOOK_S)
            wall_s = time.monotonic() - started
        finally:
            code = end(process)
        listener.drain(DRAIN_GRACE_S)
    return Ended(
        stop=stop,
        exit_code=code if stop == "done" and excess is None else None,
        wall_s=wall_s,
        stdout=bytes(listener.kept[0]),
        stderr=bytes(listener.kept[1]),
        dropped_bytes=listener.dropped_bytes,
        excess=excess,
    )


class _Listener:
    """Reads both streams as they come, keeps the first MAX_OUTPUT_BYTES of each and counts the rest."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.kept = (bytearray(), bytearray())
        self.dropped_bytes = 0
        self._selector = selectors.DefaultSelector()
        for pipe, kept in zip((process.stdout, process.stderr), self.kept, strict=True):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ, kept)

    def listen(self, seconds: float) -> None:
        """Read once from each stream that has something, waiting at most `seconds` for it."""
        if not self._selector.get_map():
            time.sleep(seconds)  # both closed, and the process is still there
            return
        for key, _events in self._selector.select(seconds):
            data = os.read(key.fd, READ_BYTES)
            if not data:
                self._selector.unregister(key.fileobj)
            room = MAX_OUTPUT_BYTES - len(key.data)
            key.data.extend(data[:room])
            self.dropped_bytes += max(0, len(data) - room)

    def drain(self, seconds: float) -> None:
        """Read on until both streams end, at most for `seconds`: one that left the group may hold a pipe open."""
        deadline = time.monotonic() + seconds
        while self._selector.get_map() and (left := deadline - time.monotonic()) > 0:
            self.listen(left)
        self._selector.close()
