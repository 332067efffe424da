"""Server-sent events, cut out of a stream as its pieces come. See https://html.spec.whatwg.org/#event-stream"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

END = re.compile(rb"\r\n\r\n|\n\r?\n|\r\r")
LINE = re.compile(rb"\r\n|\n|\r")
LONGEST_END = 4
MAX_EVENT_BYTES = 16 << 20
MAX_EVENTS = 500_000
"""Of one stream: several times what the longest answers have. A provider may send millions of blank lines instead."""


@dataclasses.dataclass(frozen=True)
class Event:
    """One event: its bytes as they came, the blank line included, and the text of its data lines."""

    raw: bytes
    data: bytes


class EventStream:
    """Gives the events of a stream as soon as they are whole.

    One that is larger than the cap comes without data, and so does all that follows the last of many.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._taken = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that `piece` completes."""
        self._buffer += piece
        while self._taken < MAX_EVENTS and (found := END.search(self._buffer, max(0, self._searched - LONGEST_END))):
            yield self._take(found.end())
        self._searched = len(self._buffer)
        if len(self._buffer) > MAX_EVENT_BYTES or (self._buffer and self._taken == MAX_EVENTS):
            yield Event(bytes(self._buffer), b"")
            self._buffer.clear()
            self._searched = 0

    def rest(self) -> Iterator[Event]:
        """What stands at the end without a blank line: some servers leave out the last."""
        if self._buffer:
            yield self._take(len(self._buffer))

    def _take(self, end: int) -> Event:
        raw = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._searched = 0
        self._taken += 1
        lines = (line[5:].removeprefix(b" ") for line in LINE.split(raw) if line.startswith(b"data:"))
        return Event(raw, b"\n".join(lines))
