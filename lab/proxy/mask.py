"""Keeps keys out of what is recorded and passed back, also where one is spread over two pieces of a stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_KEY_CHARS = 8
"""A shorter "key" is a word such as none or EMPTY, for servers that want some; it is no secret, and it is a word."""
MAX_HELD_PER_CHAR = 16
"""Bytes that one character may take in a stream and still be known: a JSON escape in a text of JSON in another."""
BEGUN = re.compile(rb"\\*|\\+u[0-9A-Fa-f]{0,3}|%[0-9A-Fa-f]?")
"""What may be the beginning of a character in escapes, or of any, at the end of a piece."""

NOT_IN_A_RUN = rb"(?<!\\\\)"
"""After a backslash: it is the first. A long run of them would be read from each of them to its end, otherwise."""


class Mask:
    """Puts stars in place of the given keys, as many as they take bytes: lengths stay what they were.

    A key is known in whatever way its characters are spelled, for whoever reads the text has it in full then: as they
    are, as escapes of JSON (in a text of JSON as well), or with the percents of an address.
    """

    def __init__(self, keys: Iterable[str | None]) -> None:
        secrets = sorted({key for key in keys if key is not None and len(key) >= MIN_KEY_CHARS}, key=len, reverse=True)
        self._needles = [_Needle(secret) for secret in secrets]

    def whole(self, data: bytes) -> bytes:
        """The data without any key."""
        for needle in self._needles:
            data = needle.hidden(data)
        return data

    def text(self, text: str) -> str:
        return self.whole(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def held(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of a key."""
        return max((needle.begun(data) for needle in self._needles), default=0)


class _Needle:
    """One key, of ASCII, in all its spellings."""

    def __init__(self, key: str) -> None:
        chars = [_spellings(key[0], NOT_IN_A_RUN), *(_spellings(char) for char in key[1:])]
        first = re.escape(key[0].encode())
        self._plain = key.encode()
        self._pattern = re.compile(b"".join(chars))
        self._chars = [re.compile(char) for char in chars]
        self._starts = re.compile(rb"%s(?=%s|(?:%s)\Z)|\\%s|%%" % (first, chars[1], BEGUN.pattern, NOT_IN_A_RUN))
        self._longest = MAX_HELD_PER_CHAR * len(key)
        self._marks = [b"u00", *(b"\\" + char.encode() for char in sorted(set(key)) if not char.isalnum())]
        self._percents = re.compile(b"|".join(sorted({_percent(char) for char in key})))

    def hidden(self, data: bytes) -> bytes:
        """The data with stars in place of the key."""
        # most data has no escape of any of its characters, and is looked through much faster then
        if any(mark in data for mark in self._marks) or self._percents.search(data):
            return self._pattern.sub(_stars, data)
        return data.replace(self._plain, b"*" * len(self._plain))

    def begun(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of the key."""
        for start in self._starts.finditer(data, max(0, len(data) - self._longest)):
            if self._reaches_end(data, start.start()):
                return len(data) - start.start()
        return 0

    def _reaches_end(self, data: bytes, at: int) -> bool:
        for char in self._chars:
            if BEGUN.fullmatch(data, at):
                return True
            found = char.match(data, at)
            if found is None:
                return False
            at = found.end()
        return False


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


def _spellings(char: str, condition: bytes = b"") -> bytes:
    """A pattern for one character; `condition` is one of its first backslash, where it is written with some.

    Each way begins with a byte of its own, by which `re` finds its place in much text at once.
    """
    plain = re.escape(char.encode())
    escaped = b"u(?i:%04x)" % ord(char)
    if not char.isalnum():  # JSON escapes a slash and a quote with a backslash alone
        escaped = rb"(?:%s|%s)" % (plain, escaped)
    return rb"(?:\\%s\\*%s|%s|%s)" % (condition, escaped, _percent(char), plain)


def _percent(char: str) -> bytes:
    return b"%%(?i:%02x)" % ord(char)


def _stars(found: re.Match[bytes]) -> bytes:
    return b"*" * len(found[0])
