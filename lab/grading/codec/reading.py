"""From bytes to values, on the host. Executes nothing, and makes no more than the cap allows."""

from __future__ import annotations

from _struct import unpack  # struct itself would cost a tenth of a millisecond of every start
from itertools import accumulate, islice

from lab.grading.codec.common import FLOAT, INT_COLUMNS, MAX_DEPTH, NUMPY_KINDS, Malformed, Opaque, TooLarge, deque
from lab.grading.codec.constructed import BUILDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SINGLES = {b"T": True, b"F": False, b"N": None}
INT64_BYTES = 8
LAID_OUT_ITEMS = 1 << 14
"""How many items of containers are made at a time: their list stays in the processor's cache."""
INT_TYPECODES = {width: code for width, code, _ in INT_COLUMNS}


def decode(data: bytes | memoryview, cap: int) -> Any:
    """The value in `data`. Raises Malformed for bytes no encoder wrote, TooLarge over the cap; executes nothing.

    At most `cap` bytes are read and at most `cap` values made from them, whatever lengths the bytes claim.
    """
    if len(data) > cap:
        raise TooLarge("the value is too large")
    try:
        return _decode(data, cap)
    except (TooLarge, Malformed):
        raise
    except RecursionError as error:
        raise TooLarge("the value is nested too deep") from error
    except MemoryError as error:
        raise TooLarge("the value is too large") from error
    except Exception as error:
        # a constructor that refused its arguments, an unhashable key, text that is not UTF-8
        raise Malformed(f"{type(error).__name__}: {error}"[:200]) from error


def _decode(data: bytes | memoryview, cap: int) -> Any:
    """A single plain value has a form of its own: most calls return one, and a block would take ten times as long."""
    tag = bytes(data[:1])
    if tag == b"*":
        reader = _Reader(data, cap)
        (value,) = reader.block(1, MAX_DEPTH)
        if reader.at != len(data):
            raise Malformed("bytes after the value")
        return value
    if len(data) == 1 and tag in SINGLES:
        return SINGLES[tag]
    if tag == b"i" and len(data) == 1 + INT64_BYTES:
        return int.from_bytes(data[1:], "little", signed=True)
    if tag == b"f":
        return FLOAT.unpack(data[1:])[0]
    raise Malformed("an unknown kind of value")


class _Reader:
    """Reads blocks from front to back; every length is checked before anything is made from it."""

    __slots__ = ("at", "data", "nodes")

    def __init__(self, data: bytes | memoryview, nodes: int) -> None:
        self.data = memoryview(data)
        self.at = 1
        self.nodes = nodes

    def take(self, size: int) -> memoryview:
        piece = self.data[self.at : self.at + size]
        if size < 0 or len(piece) != size:
            raise Malformed("the bytes end early")
        self.at += size
        return piece

    def spend(self, nodes: int) -> None:
        """Count values that are about to be made; raises TooLarge over the cap."""
        self.nodes -= nodes
        if self.nodes < 0:
            raise TooLarge("the value is too large")

    def block(self, count: int, depth: int) -> list[Any]:
        """The next `count` values."""
        if count == 0:
            return []
        if depth == 0:
            raise TooLarge(f"the value is nested more than {MAX_DEPTH} deep")
        self.spend(count)
        tag = bytes(self.take(1))
        if tag == b"M":
            return self.mixed(count, depth)
        if tag == b"R":
            return self.repeated(count, depth)
        return self.kind(tag, count, depth)

    def mixed(self, count: int, depth: int) -> list[Any]:
        kinds = self.take(1)[0]
        index = bytes(self.take(count))
        columns = []
        for kind in range(kinds):
            size = index.count(kind)
            if size == 0:
                raise Malformed("a kind without values")
            columns.append(iter(self.kind(bytes(self.take(1)), size, depth)))
        if max(index) >= kinds:
            raise Malformed("a value without a kind")
        return [next(columns[kind]) for kind in index]

    def repeated(self, count: int, depth: int) -> list[Any]:
        """Few values, many times: which of them each is, then the values."""
        table = self.block(self.take(1)[0], depth - 1)
        return list(map(table.__getitem__, self.take(count)))

    def repeated_in(self, make: Callable[[Any], Any], sizes: list[int], depth: int) -> list[Any]:
        """Containers of few values, many times; these are laid out some at a time, for one list of them all is slow."""
        if depth <= 0:
            raise TooLarge(f"the value is nested more than {MAX_DEPTH} deep")
        total = sum(sizes)
        self.spend(total)
        self.take(1)
        table = self.block(self.take(1)[0], depth - 1)
        index = self.take(total)
        step = max(1, LAID_OUT_ITEMS * len(sizes) // total)
        made, at = [], 0
        for start in range(0, len(sizes), step):
            some = sizes[start : start + step]
            end = at + sum(some)
            made += _hold(make, some, list(map(table.__getitem__, index[at:end])))
            at = end
        return made

    def kind(self, tag: bytes, count: int, depth: int) -> list[Any]:
        """`count` values of the kind `tag`."""
        if tag in COLUMNS:
            return COLUMNS[tag](self, count)
        if tag in CONTAINERS:
            self.spend(count * WEIGHTS.get(tag, 0))
            sizes = self.sizes(count)
            if sum(sizes) >= LAID_OUT_ITEMS and bytes(self.data[self.at : self.at + 1]) == b"R":
                return self.repeated_in(CONTAINERS[tag], sizes, depth - 1)
            items = self.block(sum(sizes), depth - 1)
            return _hashing(lambda items: _hold(CONTAINERS[tag], sizes, items), items)
        if tag in MAPPINGS:
            sizes = self.sizes(count)
            keys, values = self.block(sum(sizes), depth - 1), self.block(sum(sizes), depth - 1)
            return _hashing(lambda keys: _map(MAPPINGS[tag], sizes, keys, values), keys)
        if tag in BUILDERS:
            name, build = BUILDERS[tag]
            module = __import__(name)
            return [build(module, arguments) for arguments in self.block(count, depth - 1)]
        if tag in {b"u", b"U"}:
            return self.arrays(count, depth, scalars=tag == b"U")
        raise Malformed(f"an unknown kind of value: {tag!r}")

    def sizes(self, count: int) -> list[int]:
        """Lengths of `count` containers, none negative and all together within the cap."""
        if bytes(self.take(1)) != b"i":
            raise Malformed("a length that is not a number")
        sizes = self.ints(count)
        if min(sizes) < 0:
            raise Malformed("a negative length")
        if sum(sizes) > self.nodes and sum(sizes) > len(self.data):
            raise TooLarge("the value is too large")
        return sizes

    def ints(self, count: int) -> list[int]:
        width = self.take(1)[0]
        if width not in INT_TYPECODES:
            raise Malformed("an unknown width of numbers")
        return self.column(INT_TYPECODES[width], width, count)

    def column(self, code: str, width: int, count: int) -> list[Any]:
        return list(unpack(f"<{count}{code}", self.take(width * count)))

    def floats(self, count: int) -> list[float]:
        return self.column("d", 8, count)

    def complexes(self, count: int) -> list[complex]:
        parts = iter(self.column("d", 8, 2 * count))
        return [complex(real, next(parts)) for real in parts]

    def big_ints(self, count: int) -> list[int]:
        return [int.from_bytes(self.take(size), "little", signed=True) for size in self.sizes(count)]

    def bools(self, count: int) -> list[bool]:
        flags = bytes(self.take(count))
        if max(flags) > 1:
            raise Malformed("a truth value that is neither")
        return list(map(bool, flags))

    def strings(self, count: int) -> list[str]:
        sizes = self.sizes(count)
        (length,) = self.sizes(1)
        text = str(self.take(length), "utf-8", "surrogatepass")
        ends = list(accumulate(sizes))
        if ends[-1] != len(text):
            raise Malformed("texts of another length")
        return [text[end - size : end] for size, end in zip(sizes, ends, strict=True)]

    def blobs(self, count: int) -> list[bytes]:
        return [bytes(self.take(size)) for size in self.sizes(count)]

    def ranges(self, count: int) -> list[range]:
        tag = bytes(self.take(1))
        numbers = self.ints(3 * count) if tag == b"i" else self.big_ints(3 * count) if tag == b"I" else []
        values = [range(*numbers[at : at + 3]) for at in range(0, len(numbers), 3)]
        if len(values) != count:
            raise Malformed("a range of other numbers")
        for value in values:
            self.spend(max(0, (value.stop - value.start) // value.step))
        return values

    def arrays(self, count: int, depth: int, *, scalars: bool) -> list[Any]:
        import numpy as np  # noqa: PLC0415 - only where a candidate returned such a value

        values = []
        for dtype, *shape, data in self.block(count, depth - 1):
            kind = np.dtype(dtype) if isinstance(dtype, str) and len(dtype) < 16 else None  # noqa: PLR2004
            if kind is None or kind.kind not in NUMPY_KINDS or not isinstance(data, bytes):
                raise Malformed("an array of another type")
            (extents,) = ((1,),) if scalars else shape
            size = _size(extents)
            self.spend(size)
            if len(data) != size * kind.itemsize:
                raise Malformed("an array of another size")
            # a copy: what lies over the bytes cannot be written to, and the original could
            array = np.ndarray(extents, kind, buffer=data).copy()
            values.append(array[0] if scalars else array)
        return values


def _hold(make: Callable[[Any], Any], sizes: list[int], items: list[Any]) -> list[Any]:
    """Containers of the given sizes, around the items in their order."""
    # slices: six times as fast as islice, which cannot tell the container its length
    return [make(items[end - size : end]) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def _map(make: Callable[[Any], Any], sizes: list[int], keys: list[Any], values: list[Any]) -> list[Any]:
    """Mappings of the given sizes, around the keys and values in their order."""
    pairs = zip(keys, values, strict=True)
    return [make(dict(islice(pairs, size))) for size in sizes]


def _hashing(make: Callable[[list[Any]], list[Any]], items: list[Any]) -> list[Any]:
    """What `make` makes of items, or of what they can be in a set: a subclass of list with a hash is a list here."""
    try:
        return make(items)
    except TypeError:
        return make(list(map(_hashable, items)))


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return Opaque(type(value).__name__)
    return value


def _size(extents: Any) -> int:
    if type(extents) is not tuple or any(type(extent) is not int or extent < 0 for extent in extents):
        raise Malformed("an array of no shape")
    size = 1
    for extent in extents:
        size *= extent
    return size


COLUMNS: dict[bytes, Callable[[_Reader, int], list[Any]]] = {
    b"N": lambda _reader, count: [None] * count,
    b".": lambda _reader, count: [...] * count,
    b"B": _Reader.bools,
    b"i": _Reader.ints,
    b"I": _Reader.big_ints,
    b"f": _Reader.floats,
    b"c": _Reader.complexes,
    b"s": _Reader.strings,
    b"b": _Reader.blobs,
    b"y": lambda reader, count: list(map(bytearray, reader.blobs(count))),
    b"r": _Reader.ranges,
    b"o": lambda reader, count: list(map(Opaque, reader.strings(count))),
}
CONTAINERS: dict[bytes, Callable[[Any], Any]] = {
    b"l": lambda items: items,
    b"t": tuple,
    b"e": set,
    b"z": frozenset,
    b"q": deque,
    b"g": iter,
    b"k": lambda items: dict.fromkeys(items).keys(),
    b"v": lambda items: dict(enumerate(items)).values(),
}
WEIGHTS = {b"e": 3, b"z": 3, b"q": 9, b"g": 1, b"k": 1, b"v": 1}
"""How many values more a container counts as, by what an empty one takes: a deque 640 bytes, a set 216, a list 56."""
MAPPINGS: dict[bytes, Callable[[dict[Any, Any]], Any]] = {b"d": dict, b"m": lambda mapping: mapping.items()}
