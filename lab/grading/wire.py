"""Frames on the pipes between judge and candidate: a kind, a length, a body. Stdlib only: it runs on both sides."""

from __future__ import annotations

import os
from _struct import Struct  # struct itself would cost a tenth of a millisecond of every start

HEADER = Struct("<cQ")
CPU = Struct("<Q")
READ_BYTES = 1 << 16

# judge to candidate
CALL = b"m"
"""Arguments as marshal wrote them: the host speaks, so the candidate may trust the form."""
CALL_CODED = b"c"
"""Arguments that marshal would not write as what they are, by the codec."""
NEXT = b"n"
"""Load the next of lab's own trusted texts."""

# candidate to judge
BOOTED = b"B"
"""One byte alone, before anything of the candidate's own has run: what fails before it is lab's fault."""
READY = b"R"
VALUE = b"V"
RAISED = b"E"
NO_MEMORY = b"M"
OVER_CAPS = b"X"
UNLOADABLE = b"L"


def stay_on(core: int | None) -> None:
    """Run on this core from now on, as the other side does: they take turns, and to wake another core takes longer."""
    if core is not None:
        try:
            os.sched_setaffinity(0, (core,))
        except (OSError, AttributeError):  # taken from lab meanwhile, or no Linux
            return


class Ended(Exception):
    """The other side closed the pipe, or spoke out of turn."""


class TooLong(Exception):
    """The other side says that it will send more than may cross."""


def send(descriptor: int, kind: bytes, *pieces: bytes) -> None:
    """Write one frame; raises OSError where the other side is gone."""
    data = b"".join((HEADER.pack(kind, sum(map(len, pieces))), *pieces))
    written = os.write(descriptor, data)
    if written < len(data):
        rest = memoryview(data)[written:]
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def receive(descriptor: int, max_bytes: int) -> tuple[bytes, memoryview]:
    """Read one frame: its kind and body. Raises TooLong for a body over `max_bytes`, and Ended.

    Each side waits for the other's answer, so a frame is never followed by another: that is Ended too.
    """
    data = os.read(descriptor, READ_BYTES)
    while len(data) < HEADER.size:
        more = os.read(descriptor, READ_BYTES)
        if not more:
            raise Ended("it ended without an answer")
        data += more
    kind, length = HEADER.unpack_from(data)
    if length > max_bytes:
        raise TooLong("it sent more than may cross")
    missing = HEADER.size + length - len(data)
    if missing < 0:
        raise Ended("it spoke out of turn")
    if missing == 0:
        return kind, memoryview(data)[HEADER.size :]
    pieces = [data[HEADER.size :]]
    while missing:
        more = os.read(descriptor, min(missing, 1 << 20))
        if not more:
            raise Ended("it ended in the middle of an answer")
        missing -= len(more)
        pieces.append(more)
    return kind, memoryview(b"".join(pieces))
