"""The judge's process as the supervisor holds it: started, spoken to, listened to, ended."""

from __future__ import annotations

import marshal
import os
import socket
from mmap import mmap
from struct import Struct
from typing import TYPE_CHECKING, Any

from lab.grading import codec
from lab.grading.codec.common import INT64
from lab.grading.control import MAX_MESSAGE_BYTES, PROGRESS, PROGRESS_BYTES, SIZE
from lab.grading.sandbox import start_judge
from lab.grading.supervise import scratch_file

if TYPE_CHECKING:
    from lab.grading.isolation import Isolation
    from lab.grading.site import Venv

SEND_TIMEOUT_S = 30
TIMEVAL = Struct("ll")


class JudgeLost(Exception):
    """The judge's process ended, or said what no judge says; the message says which."""


class Line:
    """The supervisor's end of a socket to a judge: orders out by marshal, words in by the codec, and checked."""

    def __init__(self) -> None:
        self._socket, self.inner = socket.socketpair()
        # the kernel's own timeout: with Python's, a read that is not to wait would wait as well
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, TIMEVAL.pack(SEND_TIMEOUT_S, 0))
        self._heard = bytearray()

    def fileno(self) -> int:
        """For the selector."""
        return self._socket.fileno()

    def send(self, message: dict[str, Any], *descriptors: int) -> None:
        """Say something, and hand over descriptors with it; raises JudgeLost where nobody takes it."""
        body = marshal.dumps(message)
        head = SIZE.pack(len(body))
        try:
            if descriptors:
                socket.send_fds(self._socket, [head], descriptors)
            else:
                self._socket.sendall(head)
            self._socket.sendall(body)
        except OSError as error:
            raise JudgeLost("the judge does not answer") from error

    def hear(self) -> list[dict[str, str | int]] | None:
        """What was said since, whole messages only; None at the end. Never waits. Raises JudgeLost.

        Every byte is checked: a hostile test has this socket too.
        """
        try:
            data = self._socket.recv(MAX_MESSAGE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            return None
        self._heard += data
        messages = []
        while len(self._heard) >= SIZE.size:
            (size,) = SIZE.unpack_from(self._heard)
            if size > MAX_MESSAGE_BYTES:
                raise JudgeLost("the judge spoke in another form")
            if len(self._heard) < SIZE.size + size:
                break
            messages.append(_message(bytes(self._heard[SIZE.size : SIZE.size + size])))
            del self._heard[: SIZE.size + size]
        return messages

    def close(self) -> None:
        self._socket.close()
        self.inner.close()


class JudgeProcess:
    """A judge, with the line it is given tasks on and the word in which it tells whose turn it is.

    The test of a task runs in a fork that has a line of its own: were it to hold this one, a hostile test could take
    the next task, with its candidate, and speak for its judge.
    """

    def __init__(self, isolation: Isolation, venv: Venv, *, warm: bool) -> None:
        progress = scratch_file("progress")
        self.control = Line()
        try:
            os.ftruncate(progress, PROGRESS_BYTES)
            self._progress = mmap(progress, PROGRESS_BYTES)
            self._held = start_judge(isolation, venv, self.control.inner.fileno(), progress, warm=warm)
        except BaseException:
            self.control.close()
            raise
        finally:
            os.close(progress)
            self.control.inner.close()

    def begin(self, task: dict[str, Any]) -> Line:
        """Give it a task; the line on which it is told of the task's samples. Raises JudgeLost."""
        line = Line()
        try:
            self.control.send(task, line.inner.fileno())
        except JudgeLost:
            line.close()
            raise
        line.inner.close()
        return line

    @property
    def pid(self) -> int:
        """Of the process that all others of the judge descend from."""
        return self._held.process.pid

    @property
    def word(self) -> int:
        """Twice the number of calls made, and one more while the candidate is at work on one."""
        (word,) = PROGRESS.unpack_from(self._progress)
        return int(word)

    @word.setter
    def word(self, word: int) -> None:
        self._progress[: PROGRESS.size] = PROGRESS.pack(word)

    def end(self) -> None:
        """Kill it and close what it was spoken to on."""
        self._held.end()
        self.control.close()
        self._progress.close()


def _message(body: bytes) -> dict[str, str | int]:
    """One message: the texts and whole numbers in it, for a judge that is one says nothing else."""
    try:
        message = codec.decode(body, MAX_MESSAGE_BYTES)
    except (codec.Malformed, codec.TooLarge) as error:
        raise JudgeLost("the judge spoke in another form") from error
    if type(message) is not dict:
        raise JudgeLost("the judge spoke in another form")
    return {
        key: value
        for key, value in message.items()
        if type(key) is str and (type(value) is str or (type(value) is int and value in INT64))
    }
