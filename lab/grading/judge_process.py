"""The judge's process as the supervisor holds it: started, spoken to, listened to, ended."""

from __future__ import annotations

import marshal
import os
import socket
from mmap import mmap
from typing import TYPE_CHECKING, Any

from lab.grading import codec
from lab.grading.judge import MAX_MESSAGE_BYTES, PROGRESS, PROGRESS_BYTES, SIZE
from lab.grading.sandbox import start_judge
from lab.grading.supervise import scratch_file

if TYPE_CHECKING:
    from lab.grading.isolation import Isolation
    from lab.grading.site import Venv

SEND_TIMEOUT_S = 30.0


class JudgeLost(Exception):
    """The judge's process ended, or said what no judge says; the message says which."""


class JudgeProcess:
    """A judge, with the socket it is spoken to on and the word in which it tells whose turn it is."""

    def __init__(self, isolation: Isolation, venv: Venv, *, warm: bool) -> None:
        progress = scratch_file("progress")
        self.control, inner = socket.socketpair()
        try:
            os.ftruncate(progress, PROGRESS_BYTES)
            self._progress = mmap(progress, PROGRESS_BYTES)
            self._held = start_judge(isolation, venv, inner.fileno(), progress, warm=warm)
        finally:
            os.close(progress)
            inner.close()
        self.control.settimeout(SEND_TIMEOUT_S)
        self._heard = bytearray()

    def send(self, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
        """Say something, and hand over descriptors with it; raises JudgeLost where nobody takes it."""
        body = marshal.dumps(message)
        head = SIZE.pack(len(body))
        try:
            if descriptors:
                socket.send_fds(self.control, [head], descriptors)
            else:
                self.control.sendall(head)
            self.control.sendall(body)
        except OSError as error:
            raise JudgeLost("the judge does not answer") from error

    def hear(self) -> list[dict[Any, Any]]:
        """What it has said since, whole messages only; never waits. Raises JudgeLost.

        Every byte is checked: a hostile test has this socket too.
        """
        try:
            data = self.control.recv(MAX_MESSAGE_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        if not data:
            raise JudgeLost("the judge ended")
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


def _message(body: bytes) -> dict[Any, Any]:
    try:
        message = codec.decode(body, MAX_MESSAGE_BYTES)
    except (codec.Malformed, codec.TooLarge) as error:
        raise JudgeLost("the judge spoke in another form") from error
    if not isinstance(message, dict):
        raise JudgeLost("the judge spoke in another form")
    return message
