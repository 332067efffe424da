"""Keys never leave: whole, in an escaped form, or spread over the pieces of a stream."""

from __future__ import annotations

import json
import time

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


@pytest.mark.parametrize(
    "spelled",
    [
        rb"sk-\u0061bcabcabd/1",
        rb"\u0073k-abcabcabd\/1",
        rb"sk-abcabcabd\u002F\u0031",
        rb"sk-abcabcabd\\\/1",
        rb"\\u0073k\\u002dabcabcabd/1",
        rb"%73k-abcabcabd%2f1",
        b"".join(rb"\u%04x" % byte for byte in KEY.encode()),
    ],
)
def test_a_key_is_found_however_it_is_escaped(spelled: bytes) -> None:
    """JSON may escape any character, a text of JSON may hold another, and an address has ways of its own."""
    assert Mask([KEY]).whole(b'{"a\\n":"' + spelled + b'"}') == b'{"a\\n":"' + b"*" * len(spelled) + b'"}'
    stream = MaskedStream(Mask([KEY]))
    pieces = [stream.feed(bytes([byte])) for byte in spelled + b"!"]
    assert b"".join([*pieces, stream.rest()]) == b"*" * len(spelled) + b"!"


def test_json_stays_json_around_a_key() -> None:
    for many in range(12):
        for spelled in (KEY, KEY.replace("s", "u0073", 1), "/key-of-lab", "u002fkey-of-lab"):
            text = '{"a":"' + "\\" * many + spelled + '"}'
            if _is_json(text):
                assert _is_json(Mask([KEY, "/key-of-lab"]).whole(text.encode()).decode())


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("filling", [b"\\", b"s", b"%", b"\\u00", b"sk-abcabcabd\\"])
def test_what_is_like_a_key_is_read_in_no_time(filling: bytes) -> None:
    data = filling * (1_000_000 // len(filling))
    started = time.process_time()
    assert Mask([KEY]).whole(data) == data
    stream = MaskedStream(Mask([KEY]))
    assert b"".join([*(stream.feed(data[at : at + 9_999]) for at in range(0, len(data), 9_999)), stream.rest()]) == data
    assert time.process_time() - started < 5


def test_a_word_that_servers_take_for_a_key_stays() -> None:
    assert Mask(["EMPTY", "none"]).whole(b"EMPTY none") == b"EMPTY none"


@given(
    st.lists(
        st.sampled_from([b"sk-abc", b"abc", b"abd/1", rb"\u0061bd/1", rb"\\", b"%73k-abc", KEY.encode(), b"x", b"-"]),
        max_size=12,
    ),
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
