"""The one way to start a process: in a session of its own, with an environment that was chosen, killed as a group.

Stdlib only: the grader that a suite's venv carries uses it too.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import selectors
import signal
import subprocess
import tempfile
import time
from typing import IO, TYPE_CHECKING, Self

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    StrPath = str | os.PathLike[str]

MAX_OUTPUT_BYTES = 1 << 20
READ_BYTES = 1 << 16
# how often a process is looked at that has closed its output, or left it open to a descendant, and may have ended
LOOK_S = 0.02
_running: set[subprocess.Popen[bytes]] = set()
"""What `spawn` started and `end` did not end."""


@dataclasses.dataclass(frozen=True)
class Completed:
    """A process that has ended, and its group with it.

    `code` is the exit code, or the signal's number negated. Of each output the last bytes are kept.
    """

    code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool = False


def run(
    argv: Sequence[StrPath],
    *,
    env: Mapping[str, str],
    cwd: StrPath,
    timeout_s: float | None,
    stdin: bytes = b"",
    pass_fds: Collection[int] = (),
    max_output_bytes: int = MAX_OUTPUT_BYTES,
) -> Completed:
    """Run a command to its end, at most `timeout_s` seconds (None: as long as it takes), and return what it said.

    Nothing of its process group outlives the call, however that ends: exit, timeout, or an exception such as
    KeyboardInterrupt. Raises LabError where the command cannot be started.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    with _source(stdin) as source:
        process = spawn(
            argv, env=env, cwd=cwd, pass_fds=pass_fds, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    with process:  # closes the pipes
        try:
            with _Outputs(process, max_output_bytes) as outputs:
                in_time = outputs.follow(process, deadline)
                end(process)
                outputs.read_rest()
        finally:
            end(process)
    return Completed(process.returncode, outputs.text(process.stdout), outputs.text(process.stderr), not in_time)


def spawn(
    argv: Sequence[StrPath],
    *,
    env: Mapping[str, str],
    cwd: StrPath,
    pass_fds: Collection[int] = (),
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.DEVNULL,
    stderr: int | IO[bytes] = subprocess.DEVNULL,
) -> subprocess.Popen[bytes]:
    """Start a command as leader of its own session and group, with no descriptor but those in `pass_fds` and 0 to 2.

    The caller ends it with `end`, and does not poll or wait before that: once reaped, its group has no sure name.
    Raises LabError where the command cannot be started.
    """
    try:
        process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=env,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        why = f"{error.strerror} ({error.filename})" if error.filename else error.strerror
        fix = "Give it shorter arguments" if error.errno == errno.E2BIG else "Install it, or correct its path"
        raise LabError(f"{os.fspath(argv[0])} could not be started: {why}", fix) from error
    except ValueError as error:  # a NUL byte, or text that the file system's encoding does not have
        raise LabError(f"{os.fspath(argv[0])!r} could not be started: {error}", "Correct the command") from error
    _running.add(process)
    return process


def has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the process has ended; it is not reaped, so its group can still be named."""
    return ending(process) is not None


def ending(process: subprocess.Popen[bytes]) -> int | None:
    """The exit code, or the signal's number negated, of a process that has ended; it is not reaped. None otherwise."""
    if process.returncode is not None:
        return process.returncode
    try:
        state = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # whoever started lab ignores SIGCHLD: the kernel reaps, and nobody learns the code
        return 0
    if state is None:
        return None
    return state.si_status if state.si_code == os.CLD_EXITED else -state.si_status


def end(process: subprocess.Popen[bytes]) -> int:
    """Kill what is left of the process's group, reap the process, return its code. A second call does nothing."""
    if process.returncode is None:
        _kill_group(process)
    _running.discard(process)
    return process.wait()


def end_all() -> None:
    """Kill the groups of all that `spawn` started and nobody ended, without waiting: for who leaves at once."""
    for process in tuple(_running):
        if process.returncode is None:
            _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def _source(stdin: bytes) -> Iterator[int | IO[bytes]]:
    if not stdin:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as source:  # a file, for a pipe would have to be fed while the outputs are read
        source.write(stdin)
        source.seek(0)
        yield source


class _Outputs:
    """Reads a process's two pipes as they fill, and keeps the last `limit` bytes of each."""

    def __init__(self, process: subprocess.Popen[bytes], limit: int) -> None:
        self._limit = limit
        self._selector = selectors.DefaultSelector()
        self._kept: dict[IO[bytes] | None, bytearray] = {}
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ)
                self._kept[pipe] = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()

    def follow(self, process: subprocess.Popen[bytes], deadline: float | None) -> bool:
        """Read until the process itself ends (True), or the deadline comes (False).

        The end of the outputs is not waited for: a descendant may hold them open.
        """
        while not has_ended(process):
            remaining_s = LOOK_S if deadline is None else deadline - time.monotonic()
            if remaining_s <= 0:
                return False
            self._read(min(LOOK_S, remaining_s))
        return True

    def read_rest(self) -> None:
        """Read what stands in the pipes after the group is gone."""
        while self._read(0):
            pass

    def text(self, pipe: IO[bytes] | None) -> bytes:
        return bytes(self._kept[pipe][-self._limit :])

    def _read(self, timeout_s: float) -> bool:
        """Read once from each pipe that has something; whether there was anything."""
        if not self._selector.get_map():
            time.sleep(min(timeout_s, LOOK_S / 10))  # both closed: the end is near
            return False
        anything = False
        for key, _ in self._selector.select(timeout_s):
            piece = os.read(key.fd, READ_BYTES)
            kept = self._kept[key.fileobj]  # type: ignore[index]
            kept += piece
            if len(kept) > 2 * self._limit + READ_BYTES:
                del kept[: -self._limit]
            if not piece:
                self._selector.unregister(key.fileobj)
            anything = True
        return anything
