"""What the fuzz tests draw: plain values, bytes that look like encodings, and programs that speak on the pipe."""

from __future__ import annotations

import datetime as dt
from collections import deque
from struct import pack
from typing import Any

import hypothesis.extra.numpy as np_st
from hypothesis import strategies as st

from lab.grading import wire
from lab.grading.codec import encode
from lab.grading.codec.constructed import BUILDERS
from lab.grading.codec.reading import COLUMNS, CONTAINERS, MAPPINGS
from tests.grading.values import CAP

ZONES = st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23)).map(dt.timezone)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
HASHABLE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.complex_numbers()
    | TEXTS
    | st.binary(max_size=12)
    | st.fractions()
    | st.decimals(allow_nan=False)
    | st.dates()
    | st.timedeltas()
    | st.times(timezones=st.none() | ZONES)
    | st.datetimes(timezones=st.none() | ZONES)
    | ZONES
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 5)),
    lambda items: st.lists(items, max_size=4).map(tuple) | st.frozensets(items, max_size=4),
    max_leaves=8,
)
NUMPY = (
    st.one_of(np_st.boolean_dtypes(), np_st.integer_dtypes(), np_st.floating_dtypes(sizes=(16, 32, 64)))
    | np_st.complex_number_dtypes(sizes=(64, 128))
    | np_st.unicode_string_dtypes(max_len=5)
    | np_st.byte_string_dtypes(max_len=5)
).flatmap(lambda kind: np_st.arrays(kind, np_st.array_shapes(min_dims=0, min_side=0, max_side=3)))
# few texts, many times, have a form of their own
MANY_TEXTS = st.tuples(st.lists(TEXTS, min_size=1, max_size=3), st.integers(500, 600)).map(
    lambda pair: pair[0] * pair[1]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    HASHABLE | NUMPY | st.binary(max_size=9).map(bytearray) | MANY_TEXTS,
    lambda items: (
        st.lists(items, max_size=6)
        | st.lists(items, max_size=4).map(tuple)
        | st.lists(items, max_size=4).map(deque)
        | st.dictionaries(HASHABLE, items, max_size=4)
        | st.sets(HASHABLE, max_size=4)
    ),
    max_leaves=12,
)

TAGS = [b"*", b"M", b"R", b"u", b"U", *COLUMNS, *CONTAINERS, *MAPPINGS, *BUILDERS]
SIZES = st.integers(-2, 300) | st.sampled_from([2**31 - 1, 2**62, 2**63 - 1, -(2**63)])
PIECES = (
    st.sampled_from(TAGS)
    | st.sampled_from([b"i\x01\x00", b"i\x01\x01", b"i\x01\x02", b"i\x01\xff", b"\x00", b"\x01"])
    | SIZES.map(lambda size: b"i\x08" + pack("<q", size))
    | st.binary(max_size=20)
    # what stands behind the first byte of a value: a list of it, cut open
    | VALUES.map(lambda value: encode((value,), CAP)[1:])
)
LIKE_ENCODINGS = st.lists(PIECES, max_size=12).map(lambda pieces: b"*" + b"".join(pieces))


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """The encoding of a value, with a few bytes put, changed, repeated or taken away."""
    data = bytearray(encode(draw(VALUES), CAP))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        span = draw(st.integers(0, 8))
        change = draw(st.sampled_from(["put", "change", "repeat", "take"]))
        if change == "put":
            data[at:at] = draw(PIECES)
        elif change == "change":
            data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
        elif change == "repeat":
            data[at:at] = data[at : at + span]
        else:
            del data[at : at + span]
    return bytes(data)


ANY_BYTES = st.binary(max_size=300) | LIKE_ENCODINGS | mutated()

KINDS = [wire.BOOTED, wire.READY, wire.VALUE, wire.RAISED, wire.NO_MEMORY, wire.OVER_CAPS, wire.UNLOADABLE, b"?"]
LENGTHS = st.sampled_from([0, 1, 100, 2**20 + 9, 2**32, 2**63, 2**64 - 1])


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """A frame on the pipe, right or wrong in its length; what a value begins with, the CPU time, is there mostly."""
    body = draw(st.binary(min_size=8, max_size=8)) + draw(ANY_BYTES)
    length = draw(st.just(len(body)) | LENGTHS)
    return wire.HEADER.pack(draw(st.sampled_from(KINDS)), length) + body


SPEECHES = st.binary(max_size=80) | st.lists(frames(), max_size=3).map(b"".join)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A solution.py that writes on the candidate's pipe itself, when imported or called, and then ends or goes on."""
    speech = draw(SPEECHES)
    then = draw(st.sampled_from(["pass", "os._exit(0)", "os.close(pipe)", "os.kill(os.getpid(), 9)"]))
    speak = f"os.write(pipe, {speech!r}); {then}"
    at_import = draw(st.booleans())
    return (
        "import os, sys\n"
        "pipe = sys._getframe(1).f_locals['self'].write\n"
        f"{speak if at_import else ''}\n"
        f"def f(x):\n    {'' if at_import else speak}\n    return x\n"
    )
