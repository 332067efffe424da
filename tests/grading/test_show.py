from __future__ import annotations

import collections
import time
from typing import Any

import numpy as np
import pytest

from lab.grading.codec import Opaque
from lab.grading.describe import MAX_LINE_CHARS, one_line
from lab.grading.show import MAX_CHARS, printable, show_call, show_value
from lab.verdict import Status, Verdict

HUGE = 10**100_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (-0.0, "-0.0"),
        ("a", "'a'"),
        ("é🐍", "'é🐍'"),
        ("a\nb\tc", r"'a\nb\tc'"),
        ("\x1b[31m", r"'\x1b[31m'"),
        ("\u202eabc\u2066", r"'\u202eabc\u2066'"),
        ("\x9b31m", r"'\x9b31m'"),
        ("\ud800", r"'\ud800'"),
        ("\u2028", r"'\u2028'"),
        ("\U000e0041", r"'\U000e0041'"),
        (b"\x1b\n", r"b'\x1b\n'"),
        ([1, (2,), {"k": None}], "[1, (2,), {'k': None}]"),
        (HUGE, f"<int of {HUGE.bit_length()} bits>"),
        ([-HUGE], f"[<int of {HUGE.bit_length()} bits>]"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ...]"),
        (np.array([[1, 2], [3, 4]]), "array([1, 2, 3, 4], shape=(2, 2), dtype=int64)"),
        (np.float64(1.5), "np.float64(1.5)"),
        (Opaque("Match"), "<Match>"),
        (iter([1, 2]), "<iterator of 2 more values>"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values(value: Any, text: str) -> None:
    assert show_value(value) == text


class Raises:
    def __repr__(self) -> str:
        raise RuntimeError("\x1b")


def cyclic() -> list[Any]:
    value: list[Any] = [1]
    value.append(value)
    return value


LARGE: list[Any] = [
    "x" * 10**7,
    b"x" * 10**7,
    "\x1b" * 10**7,
    "\U000e0041" * 10**6,
    [["\n" * 100] * 1000] * 1000,
    dict.fromkeys(range(1000), "y" * 1000),
    set(range(10**5)),
    collections.deque("z" * 10**5),
    np.zeros((1000, 1000)),
    np.array(["\x1b" * 500] * 50),
    [[[[[[[[[["deep"]]]]]]]]]],
    [HUGE] * 100,
    bytearray(10**7),
    range(10**30),
    cyclic(),
    Raises(),
    [Raises()],
    Opaque("\x1b]0;title\x07" * 100),
]


@pytest.mark.parametrize("value", LARGE, ids=lambda value: type(value).__name__)
def test_any_value_is_one_short_line_that_steers_nothing(value: Any) -> None:
    started_at = time.perf_counter()
    for text in (show_value(value), show_call("f", (value, value), {"key": value})):
        assert text.isprintable()
        assert 0 < len(text) <= MAX_CHARS
        text.encode()
    assert time.perf_counter() - started_at < 5


def test_a_call_reads_as_in_a_program() -> None:
    assert show_call("f", (1, "a"), {"k": [2]}) == "f(1, 'a', k=[2])"
    assert show_call("f", (), {}) == "f()"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("abc", 10, "abc"),
        ("abcdefghij", 10, "abcdefghij"),
        ("abcdefghijk", 10, "abcdefg..."),
        ("a\nb", 10, "a\\nb"),
        ("\u202e" * 3, 10, "\\u202e\\..."),
        ("", 10, ""),
    ],
)
def test_printable(text: str, limit: int, shown: str) -> None:
    assert printable(text, limit) == shown


def test_the_line_of_a_verdict() -> None:
    verdict = Verdict(
        Status.WRONG, "f(1) returned 2", "t-1", "T/1", "s", "d", cases_total=9, failed_case=3, expected="4"
    )
    assert one_line(verdict) == "wrong t-1: case 4 of 9: f(1) returned 2"
    assert one_line(verdict, oracle=True) == "wrong t-1: case 4 of 9: f(1) returned 2 (expected 4)"
    assert one_line(Verdict(Status.PASS, "fine", "t-1", "T/1", "s", "d")) == "pass t-1: fine"


def test_the_line_of_a_hostile_verdict() -> None:
    verdict = Verdict(Status.ERROR, "\x1b[2J\r\n\u202e" * 500, "t-1", "T/1", "s", "d", expected="\x07" * 900)
    for line in (one_line(verdict), one_line(verdict, oracle=True)):
        assert line.isprintable()
        assert len(line) <= MAX_LINE_CHARS
