"""What crosses, as what, and what does not."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import fractions
import itertools
import math
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lab.grading.codec import Malformed, Opaque, TooLarge, decode, encode
from lab.grading.codec.common import MAX_DEPTH
from lab.grading.codec.reading import COLUMNS, CONTAINERS, MAPPINGS
from tests.grading.values import CAP, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

HUGE = 10**5000
ZONE = dt.timezone(dt.timedelta(hours=-3, minutes=7, microseconds=1))
MOMENT = dt.datetime(2024, 2, 29, 23, 59, 59, 999999, tzinfo=ZONE)


def across(value: Any, cap: int = CAP) -> Any:
    return decode(encode(value, cap), cap)


AS_ITSELF: list[Any] = [
    None,
    True,
    False,
    ...,
    *(sign * 2**bits + more for bits in (0, 7, 8, 15, 31, 63, 64, 200) for sign in (1, -1) for more in (-1, 0, 1)),
    HUGE,
    -HUGE,
    0.0,
    -0.0,
    1e-320,
    math.inf,
    -math.inf,
    math.nan,
    complex(-0.0, math.nan),
    "",
    "a\0é\U0001f40d",
    "\ud800",
    "\udcff\ud800",
    b"",
    b"\xff\0",
    bytearray(b"ab"),
    [],
    (),
    {},
    set(),
    frozenset(),
    collections.deque(),
    [[]],
    ((),),
    [{}, {"a": {}}],
    [1, "a", None, True, 2.5, [1, [2]], (3,), {4}, b"5", 6j, {"k": frozenset({7})}, HUGE, -1],
    [True, 1, 1.0, 1 + 0j],
    {True: 1, 2: "b", "c": None, (4, "d"): [5], frozenset({6}): 7, None: 8, 9.5: b"x"},
    {1, "a", None, (2, 3), frozenset({4}), 5.5, b"y"},
    [-0.0, 0.0, math.nan, math.inf],
    ["a", "\ud800", "", "é"],
    [b"", b"a", b"bc"],
    [bytearray(b""), bytearray(b"x")],
    [2**70, -1, 0],
    [range(3), range(0), range(9, 0, -2), range(2**70, 2**70 + 3)],
    collections.deque([1, [2]]),
    range(0, 100, 7),
    fractions.Fraction(-7, 3),
    fractions.Fraction(HUGE, 3),
    [fractions.Fraction(1, 3), 1],
    *(decimal.Decimal(text) for text in ("1.50", "-0", "NaN", "sNaN123", "-Infinity", "1E+999999", "0.1000")),
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
    dt.timedelta(-1, 2, 3),
    dt.timedelta.max,
    dt.time(1, 2, 3, 4, fold=1),
    dt.time(1, 2, tzinfo=ZONE),
    dt.datetime(1, 1, 1),  # noqa: DTZ001 - without a zone is a case of its own
    MOMENT,
    MOMENT.replace(fold=1),
    dt.time(3, fold=1, tzinfo=ZONE),
    MOMENT.replace(fold=1, tzinfo=dt.UTC),
    ZONE,
    dt.UTC,
    ["red"] * 600 + ["green", ""] * 600,
    [f"word {n}" for n in range(700)],
    [("red", n) for n in range(700)],
    [["red", "green"]] * 700,
]


@pytest.mark.parametrize("value", AS_ITSELF, ids=lambda value: f"{type(value).__name__}")
def test_it_crosses_as_itself(value: Any) -> None:
    for wrapped in (value, [value], [value, value], (value, 1, "x"), {"key": value}):
        assert same(across(wrapped), wrapped)


NUMBERS = [np.dtype(code) for code in "?bBhHiIlLefdgFDG"]
ARRAYS = [
    np.array([]),
    np.array(5),
    np.array(math.nan),
    np.array([[1, 2], [3, 4]])[:, ::-1],
    np.array([[1, 2], [3, 4]], order="F"),
    np.array([1, 2], dtype=">i4"),
    np.zeros((0, 3)),
    np.zeros((2, 0, 3), "U5"),
    np.array(["a\ud800", "é", ""]),
    np.array([b"a", b"\xff"]),
    np.broadcast_to(np.float32(1.5), (3, 2)),
    np.array([True, False]),
    np.array([-0.0, math.nan, math.inf]),
    np.arange(12).reshape(3, 4).T,
]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numpy_numbers_of_each_type(kind: np.dtype[Any]) -> None:
    for value in (kind.type(1), np.ones((2, 3), kind), np.zeros((), kind)):
        assert same(across(value), value)
        assert same(across([value, value, 1]), [value, value, 1])


@pytest.mark.parametrize("value", ARRAYS, ids=lambda value: f"{value.dtype.str}{value.shape}")
def test_arrays(value: Any) -> None:
    got = across(value)
    assert same(got, value)
    assert got.flags.writeable
    got[...] = got  # an array over the bytes of the message could not be written to
    assert same(across([value, (value, "x")])[1][0], value)


@pytest.mark.parametrize("value", [np.str_(""), np.str_("a\ud800"), np.bytes_(b"\xff"), np.bool_(True)], ids=repr)
def test_numpy_texts_and_truths(value: Any) -> None:
    assert same(across(value), value)


def lies(*_: object, **__: object) -> Any:
    raise AssertionError("the value's own method was asked")


OVERRIDES = [
    *("__iter__", "__len__", "__getitem__", "__getattribute__", "__eq__", "__ne__", "__lt__", "__repr__", "__str__"),
    *("__int__", "__float__", "__complex__", "__index__", "__bool__", "__bytes__", "__reduce_ex__", "__contains__"),
    *("keys", "values", "items", "copy", "encode", "to_bytes", "bit_length", "__format__", "__array__", "__buffer__"),
    *("__add__", "__abs__", "__neg__", "__copy__", "__deepcopy__", "isoformat", "utcoffset", "numerator"),
]
BASES: list[tuple[Any, tuple[Any, ...]]] = [
    (int, (7,)),
    (int, (HUGE,)),
    (float, (-0.0,)),
    (complex, (1, 2)),
    (str, ("a\ud800",)),
    (bytes, (b"ab",)),
    (bytearray, (b"ab",)),
    (list, ([1, [2]],)),
    (tuple, ((1, "b"),)),
    (dict, ({"a": 1},)),
    (set, ({1, 2},)),
    (frozenset, ({1, 2},)),
    (collections.deque, ([1, 2],)),
    (fractions.Fraction, (1, 3)),
    (decimal.Decimal, ("1.50",)),
    (dt.date, (2024, 2, 29)),
    (dt.datetime, (2024, 2, 29, 1, 2, 3, 4, ZONE)),
    (dt.time, (1, 2, 3, 4, ZONE)),
    (dt.timedelta, (1, 2, 3)),
    (np.float64, (1.5,)),
    (np.int32, (7,)),
    (np.str_, ("ab",)),
]


@pytest.mark.parametrize(("base", "arguments"), BASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_subclass_crosses_as_its_base_whatever_it_overrides(base: Any, arguments: tuple[Any, ...]) -> None:
    plain = base(*arguments)
    overridden = {name: lies for name in OVERRIDES if hasattr(base, name) or not issubclass(base, np.generic)}
    # numpy reads a scalar by what it says it is; there a subclass that lies only hurts itself
    overridden = {} if issubclass(base, np.generic) else overridden
    hostile = type("Hostile", (base,), overridden)(*arguments)
    for wrap in (lambda value: value, lambda value: [value, value], lambda value: {"k": (value, 1)}):
        assert same(across(wrap(hostile)), across(wrap(plain)))
    assert same(across(plain), plain)


def test_a_subclass_of_an_array_crosses_as_an_array() -> None:
    hostile = type(
        "Hostile", (np.ndarray,), dict.fromkeys(("tobytes", "__array__", "__len__", "__iter__", "view"), lies)
    )
    value: Any = np.arange(4).view(hostile)
    assert same(across(value), np.arange(4))
    assert same(across(np.ma.array([1, 2])), np.array([1, 2]))


def moved_to_end() -> dict[str, int]:
    value = collections.OrderedDict(a=2, b=1)
    value.move_to_end("a")
    return value


Point = collections.namedtuple("Point", "x y")  # noqa: PYI024 - the untyped one is what samples use
Colour = enum.IntEnum("Colour", "RED")
Word = enum.StrEnum("Word", {"A": "a"})


@pytest.mark.parametrize(
    ("value", "crosses_as"),
    [
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (collections.OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (moved_to_end(), {"b": 1, "a": 2}),
        (collections.defaultdict(list, {1: [2]}), {1: [2]}),
        (collections.ChainMap, None),
        (Point(1, 2), (1, 2)),
        (Colour.RED, 1),
        (Word.A, "a"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_kinds_of_the_standard_library(value: Any, crosses_as: Any) -> None:
    if crosses_as is None:
        assert isinstance(across(value), Opaque)
    else:
        assert same(across(value), crosses_as)


def generator() -> Iterator[int]:
    yield from (1, 2, 1)


@pytest.mark.parametrize(
    "make",
    [
        generator,
        lambda: map(abs, (1, -2, 1)),
        lambda: filter(None, (1, 2, 0, 1)),
        lambda: reversed([1, 2, 1]),
        lambda: iter((1, 2, 1)),
        lambda: itertools.islice(itertools.cycle((1, 2)), 3),
        lambda: (n for n in (1, 2, 1)),
    ],
)
def test_iterators_cross_as_iterators(make: Callable[[], Iterator[int]]) -> None:
    got = across(make())
    assert iter(got) is got
    assert got != [1, 2, 1]
    assert list(got) == [1, 2, 1]
    assert list(got) == []
    assert [list(each) for each in across([make(), make()])] == [[1, 2, 1]] * 2
    assert set(across(make())) == {1, 2}


def test_zip_and_enumerate() -> None:
    assert list(across(zip("ab", (1, 2), strict=True))) == [("a", 1), ("b", 2)]
    assert list(across(enumerate("ab"))) == [(0, "a"), (1, "b")]


@pytest.mark.parametrize("kind", [dict, collections.OrderedDict, collections.Counter])
def test_views_cross_as_the_kind_that_compares_alike(kind: Any) -> None:
    value = kind({"a": 1, "b": 2})
    assert across(value.keys()) == value.keys() == {"a", "b"}
    assert across(value.items()) == value.items() == {("a", 1), ("b", 2)}
    got = across(value.values())
    assert got != value.values()  # as any two such views
    assert list(got) == [1, 2]
    assert across(value.keys()) != ["a", "b"]
    assert across(value.items()) != [("a", 1), ("b", 2)]
    assert list(across([value.keys(), value.keys()])[1]) == ["a", "b"]
    assert list(across({1: [2]}.items())) == [(1, [2])]


class Always:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


@pytest.mark.parametrize(
    "value",
    [object(), int, Always(), lambda: 1, print, math, memoryview(b"a"), NotImplemented, Always, ValueError()],
    ids=lambda value: type(value).__name__,
)
def test_anything_else_is_opaque(value: Any) -> None:
    got = across(value)
    assert isinstance(got, Opaque)
    assert got is not None
    assert got == got  # noqa: PLR0124
    others: list[Any] = [None, True, 0, 1, "", [], across(value)]
    assert got not in others
    assert type(value).__name__ in repr(got)
    assert isinstance(across([value, 1])[0], Opaque)
    assert [type(item) for item in across({value})] == [Opaque]


@pytest.mark.parametrize(
    "value",
    [
        np.array([object()]),
        np.array([(1, 2.0)], dtype="i4,f8"),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "D"),
        np.void(b"abc"),
        np.dtype("i4"),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_numpy_of_other_types_is_opaque(value: Any) -> None:
    assert isinstance(across(value), Opaque)
    assert [type(each) for each in across([value, 1])] == [Opaque, int]


def test_the_name_of_a_type_is_not_believed() -> None:
    class Named:
        __name__ = 7
        __qualname__ = "x" * 500

    Named.__name__ = "n" * 500
    assert len(repr(across(Named()))) < 100


def test_sharing_ends_at_the_boundary() -> None:
    inner: list[int] = []
    got = across([inner, inner, (inner,)])
    assert got == [[], [], ([],)]
    got[0].append(1)
    assert got == [[1], [], ([],)]


def round_and_round(kind: type) -> Any:
    value: Any = [] if kind is tuple else kind()
    if kind is dict:
        value["again"] = value
    else:
        value.append((value,) if kind is tuple else value)
    return value


def grows() -> list[Any]:
    value: list[Any] = []
    value += [value] * 10
    return value


def nested(depth: int, wrap: Callable[[Any], Any] = lambda value: [value]) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    return value


TOO_MUCH: dict[str, Callable[[], Any]] = {
    "endless iterator": itertools.count,
    "endless iterator inside": lambda: [1, {"a": itertools.repeat("x")}],
    "a range": lambda: range(10**12),
    "a range backwards": lambda: [range(10**12, 0, -1)],
    "a list in itself": lambda: round_and_round(list),
    "a tuple in itself": lambda: round_and_round(tuple),
    "a dict in itself": lambda: round_and_round(dict),
    "a deque in itself": lambda: round_and_round(collections.deque),
    "a list ten times in itself": grows,
    "too deep": lambda: nested(MAX_DEPTH + 1),
    "too deep in dicts": lambda: nested(MAX_DEPTH + 1, lambda value: {1: value}),
    "far too deep": lambda: nested(100_000),
    "an array without strides": lambda: np.broadcast_to(np.float64(1), (10**5, 10**5)),
    "an array of one byte without strides": lambda: np.broadcast_to(np.int8(1), (10**10,)),
    "text": lambda: "x" * (CAP + 1),
    "wide text": lambda: "\U0001f40d" * (CAP // 2),
    "bytes": lambda: bytes(CAP + 1),
    "one number": lambda: 1 << (8 * CAP + 8),
    "numbers": lambda: [2**60] * (CAP // 4),
    "floats": lambda: [1.5] * (CAP // 4),
    "nothing, often": lambda: [None] * (CAP + 1),
    "the same text, often": lambda: ["x"] * (CAP + 1),
    "one list, often": lambda: [[None] * 3000] * 3000,
    "types": lambda: [type(f"T{n}", (), {})() for n in range(300)],
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_too_much_does_not_cross(name: str) -> None:
    with pytest.raises(TooLarge):
        encode(TOO_MUCH[name](), CAP)


def test_what_just_fits_crosses() -> None:
    cap = 1 << 16
    for value in (nested(MAX_DEPTH - 1), [None] * (cap - 10), "x" * (cap - 20), [1] * (cap - 20)):
        assert same(across(value, cap), value)


@pytest.mark.parametrize("value", ["abc" * 10, [1] * 100, [[]] * 40, {n: n for n in range(50)}, range(1000)], ids=repr)
def test_the_cap_holds_on_both_sides(value: Any) -> None:
    data = encode(value, CAP)
    with pytest.raises(TooLarge):
        encode(value, 20)
    with pytest.raises(TooLarge):
        decode(data, 20)


# ---- forms that no encoder writes


def block(value: Any) -> bytes:
    """A block of the one value, to be put behind another tag."""
    data = encode((value,), CAP)
    head = b"*ti\x01\x01"
    assert data.startswith(head)
    return data[len(head) :]


def sizes(*numbers: int) -> bytes:
    return b"i\x08" + pack(f"<{len(numbers)}q", *numbers)


MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "an unknown form": b"?",
    "an unknown tag": b"*?",
    "None and more": b"NN",
    "True and more": b"T\0",
    "a short number": b"i\1\2\3",
    "a long number": b"i" + bytes(9),
    "a short float": b"f\0",
    "a long float": b"f" + bytes(9),
    "a block of nothing": b"*",
    "bytes after the value": b"*NN",
    "an unknown width": b"*i\x03" + bytes(9),
    "a width of none": b"*i\x00",
    "numbers that end early": b"*i\x04\0",
    "floats that end early": b"*f\0",
    "a complex that ends early": b"*c" + bytes(15),
    "a truth of two": b"*B\x02",
    "a truth that is missing": b"*B",
    "big: no sizes": b"*I",
    "big: sizes of another kind": b"*Is",
    "big: a negative size": b"*I" + sizes(-1),
    "big: ends early": b"*I" + sizes(9) + b"\1",
    "text: a negative size": b"*s" + sizes(-1) + sizes(0),
    "text: a negative length": b"*s" + sizes(0) + sizes(-1),
    "text: ends early": b"*s" + sizes(3) + sizes(3) + b"ab",
    "text: sizes that do not add up": b"*s" + sizes(2) + sizes(3) + b"abc",
    "text: not UTF-8": b"*s" + sizes(1) + sizes(1) + b"\xff",
    "text: no length": b"*s" + sizes(1),
    "bytes: a negative size": b"*b" + sizes(-1),
    "bytes: end early": b"*b" + sizes(5) + b"ab",
    "bytearray: ends early": b"*y" + sizes(5) + b"ab",
    "opaque: ends early": b"*o" + sizes(5) + sizes(5) + b"ab",
    "range: no numbers": b"*rN",
    "range: two numbers": b"*r" + sizes(1, 2),
    "range: a step of zero": b"*r" + sizes(0, 5, 0),
    "range: floats": b"*rf" + bytes(24),
    "mixed: no kinds": b"*M\x00\x00",
    "mixed: ends early": b"*M\x01",
    "mixed: a kind too many": b"*M\x02\x00NN",
    "mixed: a kind missing": b"*M\x01\x01N",
    "mixed: in mixed": b"*M\x01\x00M\x01\x00N",
    "table: empty": b"*R\x00\x00",
    "table: ends early": b"*R\x01",
    "table: no such place": b"*R\x01" + block("a") + b"\x05",
    "Fraction: of text": b"*Q" + block(("1e999999999",)),
    "Fraction: over zero": b"*Q" + block((1, 0)),
    "Fraction: of three": b"*Q" + block((1, 2, 3)),
    "Fraction: of a truth": b"*Q" + block((True, 2)),
    "Fraction: of a list": b"*Q" + block([1, 2]),
    "Fraction: of no tuple": b"*Q" + block(1),
    "Decimal: of a number": b"*D" + block((5,)),
    "Decimal: of words": b"*D" + block(("five",)),
    "Decimal: of two": b"*D" + block(("1", "2")),
    "Decimal: of nothing": b"*D" + block(()),
    "date: of bytes": b"*1" + block((b"\x07\xe4\x01\x01",)),
    "date: the 30th of February": b"*1" + block((2024, 2, 30)),
    "date: of two": b"*1" + block((2024, 2)),
    "datetime: of bytes": b"*2" + block((bytes(10), None)),
    "datetime: short": b"*2" + block((2024, 2, 1)),
    "datetime: with another zone": b"*2" + block((2024, 2, 1, 0, 0, 0, 0, 0, "UTC")),
    "datetime: with a zone too far": b"*2" + block((2024, 2, 1, 0, 0, 0, 0, 0, (5, 0, 0))),
    "datetime: with a fold of two": b"*2" + block((2024, 2, 1, 0, 0, 0, 0, 2, None)),
    "timedelta: beyond": b"*3" + block((10**12, 0, 0)),
    "timedelta: of floats": b"*3" + block((1.5, 0, 0)),
    "time: at 25": b"*4" + block((25, 0, 0, 0, 0, None)),
    "time: of bytes": b"*4" + block((bytes(6), None, 0, 0, 0, None)),
    "timezone: too far": b"*5" + block((5, 0, 0)),
    "timezone: of text": b"*5" + block(("UTC",)),
    "array: of objects": b"*u" + block(("O", (1,), bytes(8))),
    "array: of dates": b"*u" + block(("<M8[D]", (1,), bytes(8))),
    "array: of no type": b"*u" + block(("nonsense", (1,), bytes(8))),
    "array: of a long name": b"*u" + block(("i4," * 9, (1,), bytes(8))),
    "array: of several": b"*u" + block(("i4,i4", (1,), bytes(8))),
    "array: the type no text": b"*u" + block((4, (1,), bytes(4))),
    "array: bytes of another size": b"*u" + block(("<i4", (1,), bytes(8))),
    "array: of no bytes": b"*u" + block(("<i4", (1,), b"")),
    "array: a guessed shape": b"*u" + block(("<i4", (-1,), bytes(8))),
    "array: a shape of two negatives": b"*u" + block(("<i4", (-1, -2), bytes(8))),
    "array: a shape of truths": b"*u" + block(("<i4", (True,), bytes(4))),
    "array: a shape that is none": b"*u" + block(("<i4", 2, bytes(8))),
    "array: a shape of text": b"*u" + block(("<i4", "2", bytes(8))),
    "array: no shape": b"*u" + block(("<i4", bytes(4))),
    "array: text for bytes": b"*u" + block(("<i4", (1,), "abcd")),
    "array: too many dimensions": b"*u" + block(("<i1", (1,) * 100, b"a")),
    "scalar: of many": b"*U" + block(("<i4", bytes(8))),
    "scalar: of nothing, and large": b"*U" + block(("<U100000000", b"")),
    "scalar: no character": b"*U" + block(("<U1", b"\xff" * 4)),
    "scalar: of one": b"*U" + block(("<i4",)),
    "scalar: of objects": b"*U" + block(("O", bytes(8))),
    "dict: no values": b"*d" + sizes(1) + block("a"),
} | {
    f"{tag!r}: {what}": b"*" + tag + data
    for tag in (*CONTAINERS, *MAPPINGS)
    for what, data in (
        ("no sizes", b""),
        ("sizes of another kind", b"f" + bytes(8)),
        ("a negative size", sizes(-1)),
        ("no items", sizes(2)),
        ("ends early", sizes(2) + b"i\x01\x01"),
    )
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    with pytest.raises(Malformed):
        decode(MALFORMED[name], CAP)


def test_a_truncated_value_is_malformed() -> None:
    """Every proper beginning of a right encoding is refused, and so is one byte more."""
    values: list[Any] = [
        *(None, ..., True, 7, 2**80, 1.5, 1j, "ab", b"c", bytearray(b"d"), range(3), object()),
        *([1], (1,), {1}, frozenset({1}), collections.deque([1]), iter([1]), {1: 2}.keys(), {1: 2}.values()),
        *({1: 2}, {1: 2}.items(), [1, "a", (2,)], ["x"] * 600, fractions.Fraction(1, 2), np.arange(3), np.float64(1)),
    ]
    encoded = [encode([value], CAP) for value in values]
    assert all(any(b"*li\x01\x01" + tag in data for data in encoded) for tag in (*COLUMNS, *CONTAINERS, *MAPPINGS))
    for data in encoded:
        for end in range(len(data)):
            with pytest.raises(Malformed):
                decode(data[:end], CAP)
        with pytest.raises(Malformed):
            decode(data + b"\0", CAP)


class Hashed(list):  # type: ignore[type-arg]
    """A list that can be held in a set where it was made."""

    def __hash__(self) -> int:  # type: ignore[override]
        return 7


UNHASHABLE_HERE: dict[str, tuple[Any, Callable[[Any], Iterable[Any]]]] = {
    "a set": ({Hashed([1]), 2}, iter),
    "a frozenset": (frozenset({Hashed([1]), 2}), iter),
    "keys": ({Hashed([1]): 0, 2: 0}.keys(), iter),
    "the keys of a dict": ({Hashed([1]): [0], 2: [0]}, iter),
    "the keys of items": ({Hashed([1]): [0], 2: [0]}.items(), lambda items: (key for key, _ in items)),
    "deep in a tuple": ({("a", (Hashed([1]),)), 2}, iter),
    "among others": ([{1}, {Hashed([1]), 2}][1:], lambda sets: iter(sets[0])),
}


@pytest.mark.parametrize("name", UNHASHABLE_HERE)
def test_what_only_its_subclass_lets_into_a_set_is_opaque_there(name: str) -> None:
    value, held = UNHASHABLE_HERE[name]
    got = across(value)
    assert type(got) is type(value)
    assert sorted(type(each).__name__ for each in held(got)) == ["Opaque", "int"]
    assert got != value


CLAIMS: dict[str, bytes] = {
    "a list of very many": b"*l" + sizes(2**62) + b"N",
    "lists that add up": b"*l" + sizes(2) + b"l" + sizes(2**61, 2**61) + b"N",
    "a text of very many": b"*s" + sizes(2**62) + sizes(2**62),
    "a number of very many": b"*I" + sizes(2**62),
    "nothings over the cap": b"*l" + sizes(CAP + 1) + b"N",
    "ranges over the cap": b"*r" + sizes(0, 2**62, 1),
    "ranges that add up": b"*li\x01\x03r" + sizes(*(0, CAP // 2, 1) * 3),
    "too deep": b"*" + b"li\x01\x01" * 200 + b"N",
    "too deep in tables": b"*" + b"R\x01" * 200 + b"N",
    "an array of texts without length": b"*u" + block(("<U0", (2**40,), b"")),
    "deques that are empty": b"*l" + sizes(CAP // 4) + b"qi\x01" + bytes(CAP // 4),
    "sets that are empty": b"*l" + sizes(CAP // 2) + b"ei\x01" + bytes(CAP // 2),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_length_is_not_believed(name: str) -> None:
    with pytest.raises(TooLarge):
        decode(CLAIMS[name], CAP)
