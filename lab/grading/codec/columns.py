"""From values that hold no others to bytes: all of one kind at once, in a column. Runs beside the candidate."""

from __future__ import annotations

from _struct import pack  # struct itself would cost a tenth of a millisecond of every start

from lab.grading.codec.common import INT_COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from lab.grading.codec.common import Budget

    Writer = Callable[[Sequence[Any], list[bytes], Budget, int], None]


def nones(values: Sequence[Any], out: list[bytes], _budget: Budget, _depth: int) -> None:
    out.append(b"N" if values[0] is None else b".")


def bools(values: Sequence[Any], out: list[bytes], budget: Budget, _depth: int) -> None:
    budget.take(len(values), 0)
    out += b"B", bytes(values)


def ints(values: Sequence[int], out: list[bytes], budget: Budget, _depth: int) -> None:
    low, high = min(values), max(values)
    for width, code, bound in INT_COLUMNS:
        if -bound <= low and high < bound:
            budget.take(width * len(values), 0)
            out += b"i", bytes((width,)), _column(code, values)
            return
    sizes = [value.bit_length() // 8 + 1 for value in values]
    budget.take(sum(sizes), 0)
    out.append(b"I")
    ints(sizes, out, budget, 0)
    out += [value.to_bytes(size, "little", signed=True) for value, size in zip(values, sizes, strict=True)]


def _column(code: str, values: Sequence[Any]) -> bytes:
    return pack(f"<{len(values)}{code}", *values)


def floats(values: Sequence[float], out: list[bytes], budget: Budget, _depth: int) -> None:
    budget.take(8 * len(values), 0)
    out += b"f", _column("d", values)


def complexes(values: Sequence[complex], out: list[bytes], budget: Budget, _depth: int) -> None:
    budget.take(16 * len(values), 0)
    out += b"c", _column("d", [part for value in values for part in (value.real, value.imag)])


def strings(values: Sequence[str], out: list[bytes], budget: Budget, _depth: int) -> None:
    out.append(b"s")
    texts(values, out, budget)


def texts(values: Sequence[str], out: list[bytes], budget: Budget) -> None:
    sizes = list(map(len, values))
    budget.take(sum(sizes), 0)
    text = "".join(values).encode("utf-8", "surrogatepass")
    budget.take(len(text) - sum(sizes), 0)
    ints(sizes, out, budget, 0)
    ints([len(text)], out, budget, 0)
    out.append(text)


def bytes_of(tag: bytes) -> Writer:
    def write(values: Sequence[bytes], out: list[bytes], budget: Budget, _depth: int) -> None:
        sizes = list(map(len, values))
        budget.take(sum(sizes), 0)
        out.append(tag)
        ints(sizes, out, budget, 0)
        out += values

    return write


def ranges(values: Sequence[range], out: list[bytes], budget: Budget, _depth: int) -> None:
    for value in values:
        # a range is three numbers here, but a set of it is as long as it says
        budget.take(0, max(0, (value.stop - value.start) // value.step) + 3)
    out.append(b"r")
    ints([n for value in values for n in (value.start, value.stop, value.step)], out, budget, 0)


def opaque(values: Sequence[Any], out: list[bytes], budget: Budget, _depth: int) -> None:
    out.append(b"o")
    texts([str(type.__dict__["__name__"].__get__(type(value)))[:80] for value in values], out, budget)
