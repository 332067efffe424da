"""From values to bytes. Runs beside the candidate: all that it sees may be hostile, and all it can do is fail."""

from __future__ import annotations

import sys
from itertools import chain, islice

from lab.grading.codec import columns
from lab.grading.codec.common import FLOAT, INT64, MAX_DEPTH, NUMPY_KINDS, Budget, OrderedDict, TooLarge, deque
from lab.grading.codec.constructed import CONSTRUCTED, MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from lab.grading.codec.columns import Writer

REPEAT_FROM = 512
MAX_REPEATED = 64


def encode(value: Any, cap: int) -> bytes:
    """The bytes of one value; raises TooLarge over the cap. Runs the value's own code only for iterators."""
    kind = type(value)
    if kind is bool:
        return b"T" if value else b"F"
    if kind is int and value in INT64:
        return b"i" + int.to_bytes(value, 8, "little", signed=True)
    if kind is float:
        return b"f" + FLOAT.pack(value)
    if value is None:
        return b"N"
    out: list[bytes] = [b"*"]
    _write_block([value], out, Budget(cap), MAX_DEPTH)
    return b"".join(out)


def _write_block(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
    if not values:
        return
    if depth == 0:
        raise TooLarge(f"the value is nested more than {MAX_DEPTH} deep")
    if type(values[0]) is str and _write_repeated(values, len(values), out, budget, depth):
        return
    budget.take(0, len(values))
    kinds = set(map(type, values))
    if len(kinds) == 1:
        _write_kind(kinds.pop(), values, out, budget, depth)
        return
    if len(kinds) > 255:  # noqa: PLR2004 - one byte names the kind
        raise TooLarge("the value holds more than 255 types")
    order = {kind: index for index, kind in enumerate(kinds)}
    index = bytes(map(order.__getitem__, map(type, values)))
    budget.take(len(index) + 2, 0)
    out += b"M", bytes((len(order),)), index
    for kind in order:
        _write_kind(kind, [value for value in values if type(value) is kind], out, budget, depth)


class _Table(dict):  # type: ignore[type-arg]
    """Numbers texts as they come; raises KeyError at the first that is none, or is one too many."""

    def __missing__(self, value: Any) -> int:
        if type(value) is not str or len(self) == MAX_REPEATED:
            raise KeyError
        self[value] = len(self)
        return len(self) - 1


def _write_repeated(values: Iterable[Any], count: int, out: list[bytes], budget: Budget, depth: int) -> bool:
    """Few texts, many times: a table and which of them each is. False where they are not so few, or not so many.

    The host then makes each text once, as the candidate did: Mbpp/255 returns 128 million words, of five. What
    claims to be equal to a text, and is none, crosses as that text.
    """
    if count < REPEAT_FROM or depth == 0:
        return False
    table = _Table()
    try:
        index = bytes(map(table.__getitem__, values))
    except (KeyError, TypeError):
        return False
    budget.take(len(index) + 2, count)
    out += b"R", bytes((len(table),))
    _write_block(list(table), out, budget, depth - 1)
    out.append(index)
    return True


def _write_kind(kind: type, values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
    """One block of values that are all exactly of the type `kind`."""
    writer = WRITERS.get(kind)
    if writer is None:
        writer, values = _nearest(kind, values, budget)
    writer(values, out, budget, depth)


def _nearest(kind: type, values: Sequence[Any], budget: Budget) -> tuple[Writer, Sequence[Any]]:
    """The writer for a type that is none of the plain ones, and the values as it wants them."""
    numpy = sys.modules.get("numpy")
    found = None if numpy is None else _from_numpy(numpy, kind, values)
    if found is not None:
        return found
    for base in type.mro(kind):
        if base in PLAIN:
            return WRITERS[base], [PLAIN[base](value) for value in values]
        if base in WRITERS:
            return WRITERS[base], values
        special = _from_module(base)
        if special is not None:
            return special, values
    if callable(getattr(kind, "__next__", None)):
        # one more than may cross, so that an endless iterator is seen as too large
        return WRITERS[Iterator], [list(islice(value, budget.nodes + 1)) for value in values]
    return columns.opaque, values


def _from_numpy(numpy: Any, kind: type, values: Sequence[Any]) -> tuple[Writer, Sequence[Any]] | None:
    """Arrays and scalars of number, truth and text types; another array is opaque, whatever it holds."""
    if issubclass(kind, numpy.ndarray):
        arrays = [numpy.ndarray.view(value, numpy.ndarray) for value in values]
        plain = all(array.dtype.kind in NUMPY_KINDS for array in arrays)
        return (_write_arrays, arrays) if plain else (columns.opaque, values)
    if issubclass(kind, numpy.generic):
        return (
            _write_scalars if set(numpy.sctypeDict.values()).intersection(type.mro(kind)) else columns.opaque
        ), values
    return None


def _from_module(base: type) -> Writer | None:
    """Fraction, Decimal and the date types, once somebody has imported their modules."""
    if base.__module__ not in MODULES or sys.modules.get(base.__module__) is None:
        return None
    entry = CONSTRUCTED.get((base.__module__, base.__name__))
    if entry is None or getattr(sys.modules[base.__module__], base.__name__, None) is not base:
        return None
    tag, _, arguments = entry

    def write(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
        out.append(tag)
        _write_block([arguments(value) for value in values], out, budget, depth - 1)

    return write


def _container_writer(tag: bytes) -> Writer:
    def write(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
        sizes = list(map(len, values))
        _fits(sizes, budget)
        out.append(tag)
        columns.ints(sizes, out, budget, 0)
        items = chain.from_iterable(values)
        # what is few texts is never laid out: a list of 128 million takes longer to get its memory than to fill
        is_text = type(next(items, None)) is str
        if not (is_text and _write_repeated(chain.from_iterable(values), sum(sizes), out, budget, depth - 1)):
            _write_block(list(chain.from_iterable(values)), out, budget, depth - 1)

    return write


def _mapping_writer(tag: bytes) -> Writer:
    def write(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
        sizes = list(map(len, values))
        _fits(sizes, budget)
        out.append(tag)
        columns.ints(sizes, out, budget, 0)
        pairs = [pair for value in values for pair in (value.items() if isinstance(value, dict) else value)]
        _write_block([key for key, _ in pairs], out, budget, depth - 1)
        _write_block([item for _, item in pairs], out, budget, depth - 1)

    return write


def _fits(sizes: Sequence[int], budget: Budget) -> None:
    """Refuse before the items are laid out: a list that holds itself ten times grows tenfold a level."""
    if sum(sizes) > budget.nodes:
        raise TooLarge("the value is too large")


def _write_arrays(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
    for value in values:
        budget.take(value.nbytes, value.size)
    out.append(b"u")
    _write_block([(value.dtype.str, value.shape, value.tobytes()) for value in values], out, budget, depth - 1)


def _write_scalars(values: Sequence[Any], out: list[bytes], budget: Budget, depth: int) -> None:
    numpy = sys.modules["numpy"]
    cells = [numpy.asarray(value) for value in values]
    if not all(cell.dtype.kind in NUMPY_KINDS for cell in cells):
        columns.opaque(values, out, budget, depth)
        return
    out.append(b"U")
    _write_block([(cell.dtype.str, cell.tobytes()) for cell in cells], out, budget, depth - 1)


class Iterator:
    """Names the writer of iterators; no value is of this type."""


PLAIN: dict[type, Callable[[Any], Any]] = {
    # a subclass's base content, by the base's own methods: what the subclass overrides is never asked
    int: int.__int__,
    float: float.__float__,
    complex: lambda value: complex(complex.real.__get__(value), complex.imag.__get__(value)),
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    bytearray: lambda value: bytearray.__getitem__(value, slice(None)),
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    set: lambda value: list(set.__iter__(value)),
    frozenset: lambda value: list(frozenset.__iter__(value)),
    deque: lambda value: list(deque.__iter__(value)),
    OrderedDict: lambda value: dict(OrderedDict.items(value)),
    dict: lambda value: dict(dict.items(value)),
}

WRITERS: dict[Any, Writer] = {
    type(None): columns.nones,
    type(...): columns.nones,
    bool: columns.bools,
    int: columns.ints,
    float: columns.floats,
    complex: columns.complexes,
    str: columns.strings,
    bytes: columns.bytes_of(b"b"),
    bytearray: columns.bytes_of(b"y"),
    list: _container_writer(b"l"),
    tuple: _container_writer(b"t"),
    set: _container_writer(b"e"),
    frozenset: _container_writer(b"z"),
    deque: _container_writer(b"q"),
    Iterator: _container_writer(b"g"),
    dict: _mapping_writer(b"d"),
    OrderedDict: _mapping_writer(b"d"),
    type({}.keys()): _container_writer(b"k"),
    type({}.values()): _container_writer(b"v"),
    type({}.items()): _mapping_writer(b"m"),
    range: columns.ranges,
}
