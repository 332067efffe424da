from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from lab.grading import wire

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = os.urandom(3 << 20)


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = list(os.pipe())
    yield ends[0], ends[1]
    for end in ends:
        with contextlib.suppress(OSError):
            os.close(end)


def in_thread(write: int, *pieces: bytes) -> threading.Thread:
    """Write pieces one after the other, then close: a pipe holds less than a large frame."""

    def run() -> None:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(write, rest) :]
        os.close(write)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize("body", [b"", b"x", bytes(wire.READ_BYTES), LARGE], ids=len)
def test_a_frame_arrives_as_it_was_sent(pipe: tuple[int, int], body: bytes) -> None:
    read, write = pipe
    half = len(body) // 2
    thread = threading.Thread(target=wire.send, args=(write, wire.VALUE, body[:half], body[half:]))
    thread.start()
    kind, got = wire.receive(read, len(body))
    thread.join()
    assert (kind, bytes(got)) == (wire.VALUE, body)


def test_a_frame_may_come_byte_by_byte(pipe: tuple[int, int]) -> None:
    read, write = pipe
    frame = wire.HEADER.pack(wire.RAISED, 3) + b"abc"
    thread = in_thread(write, *(frame[at : at + 1] for at in range(len(frame))))
    kind, got = wire.receive(read, 3)
    thread.join()
    assert (kind, bytes(got)) == (wire.RAISED, b"abc")


HEADER = wire.HEADER.pack(wire.VALUE, 5)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "without an answer"),
        (HEADER[:4], "without an answer"),
        (HEADER, "in the middle"),
        (HEADER + b"1234", "in the middle"),
        (HEADER + b"123456", "out of turn"),
        (HEADER + b"12345" + HEADER, "out of turn"),
    ],
)
def test_what_is_no_frame_ends_it(pipe: tuple[int, int], said: bytes, why: str) -> None:
    read, write = pipe
    os.write(write, said)
    os.close(write)
    with pytest.raises(wire.Ended, match=why):
        wire.receive(read, 10)


@pytest.mark.parametrize("length", [11, 2**64 - 1])
def test_a_frame_over_the_cap_is_not_read(pipe: tuple[int, int], length: int) -> None:
    os.write(pipe[1], wire.HEADER.pack(wire.VALUE, length) + bytes(11))
    with pytest.raises(wire.TooLong):
        wire.receive(pipe[0], 10)


def test_no_room_is_made_for_a_length_that_is_not_sent(pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = os.read

    def read(descriptor: int, size: int) -> bytes:
        asked.append(size)
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    os.write(pipe[1], wire.HEADER.pack(wire.VALUE, 2**40) + b"12345")
    os.close(pipe[1])
    with pytest.raises(wire.Ended):
        wire.receive(pipe[0], 2**41)
    assert max(asked) <= 1 << 20


def test_a_reader_that_is_gone_is_an_os_error(pipe: tuple[int, int]) -> None:
    os.close(pipe[0])
    with pytest.raises(BrokenPipeError):
        wire.send(pipe[1], wire.VALUE, b"x")


def test_kinds_are_single_letters_all_different() -> None:
    names = [name for name, value in vars(wire).items() if name.isupper() and isinstance(value, bytes)]
    values: list[Any] = [getattr(wire, name) for name in names]
    assert len(names) > 8
    assert {len(value) for value in values} == {1}
    assert len(set(values)) == len(values)
