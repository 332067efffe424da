"""Keys never leave: whole, in an escaped form, or spread over the pieces of a stream."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.proxy.mask import Mask, MaskedStream

KEY = "sk-abcabcabd/1"
STARS = b"*" * len(KEY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"a {KEY} b {KEY}".encode(), b"a " + STARS + b" b " + STARS),
        (b"?key=sk-abcabcabd%2F1&x", b"?key=" + b"*" * (len(KEY) + 2) + b"&x"),
        (b"sk-abcabcabd/2", b"sk-abcabcabd/2"),
        (b"\xff\x00" + KEY.encode() * 2, b"\xff\x00" + STARS * 2),
        (b"", b""),
    ],
)
def test_a_key_becomes_stars(text: bytes, expected: bytes) -> None:
    assert Mask([KEY, None]).whole(text) == expected


def test_a_key_with_a_quote_is_found_inside_json() -> None:
    assert b"secret" not in Mask(['x"secret\\y']).whole(b'{"a":"x\\"secret\\\\y"}')


def test_a_word_that_servers_take_for_a_key_stays() -> None:
    assert Mask(["EMPTY", "none"]).whole(b"EMPTY none") == b"EMPTY none"


@given(
    st.lists(st.sampled_from([b"sk-abc", b"abc", b"abd/1", KEY.encode(), b"x", b"-"]), max_size=12),
    st.data(),
)
def test_a_stream_has_no_key_however_it_is_cut(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    mask = Mask([KEY])
    stream = MaskedStream(mask)
    pieces = [stream.feed(text[a:b]) for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert b"".join([*pieces, stream.rest()]) == mask.whole(text)


def test_what_begins_no_key_goes_on_at_once() -> None:
    stream = MaskedStream(Mask([KEY]))
    assert stream.feed(b"hello") == b"hello"
    assert stream.feed(b"skip") == b"skip"
    assert stream.feed(b"x sk-abc") == b"x "
    assert stream.feed(b"d") == b"sk-abcd"
