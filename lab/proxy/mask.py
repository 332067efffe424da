"""Keeps keys out of what is recorded and passed back, also where one is spread over two pieces of a stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_KEY_CHARS = 8
"""A shorter "key" is a word such as none or EMPTY, for servers that want some; it is no secret, and it is a word."""


class Mask:
    """Puts stars in place of the given keys, as many as the key has characters: lengths stay what they were."""

    def __init__(self, keys: Iterable[str | None]) -> None:
        needles = {
            form.encode()
            for key in keys
            if key is not None and len(key) >= MIN_KEY_CHARS
            for form in (key, json.dumps(key)[1:-1], quote(key, safe=""))
        }
        self._needles = sorted(needles, key=len, reverse=True)

    def whole(self, data: bytes) -> bytes:
        """The data without any key."""
        for needle in self._needles:
            data = data.replace(needle, b"*" * len(needle))
        return data

    def text(self, text: str) -> str:
        return self.whole(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def held(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of a key."""
        return max((_overlap(data, needle) for needle in self._needles), default=0)


class MaskedStream:
    """A stream without keys: a piece goes on at once, but for an end that may be the beginning of a key."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        data = self._mask.whole(self._held + piece)
        keep = self._mask.held(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def rest(self) -> bytes:
        """What was held back, at the end of the stream."""
        held, self._held = self._held, b""
        return held


def _overlap(data: bytes, needle: bytes) -> int:
    end = data[-(len(needle) - 1) :]
    start = end.find(needle[:1])
    while start >= 0:
        if needle.startswith(end[start:]):
            return len(end) - start
        start = end.find(needle[:1], start + 1)
    return 0
