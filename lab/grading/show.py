"""Values as short text, for the line that says which case failed. Never longer than a line, whatever the value."""

from __future__ import annotations

import reprlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_CHARS = 200
MAX_INT_BITS = 4000


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = self.maxarray = 12
        self.maxdict = 8
        self.maxlevel = 5
        self.maxstring = 120
        self.maxother = 120

    def repr_int(self, x: int, level: int) -> str:
        # digits of a huge number take quadratic time, and Python refuses past 4,300 of them
        return f"<int of {x.bit_length()} bits>" if x.bit_length() > MAX_INT_BITS else super().repr_int(x, level)

    def repr_str(self, x: str, level: int) -> str:
        return super().repr_str(x[: 2 * self.maxstring], level)

    def repr_bytes(self, x: bytes, level: int) -> str:
        return self.repr_instance(x[: 2 * self.maxother], level)

    def repr_ndarray(self, x: Any, level: int) -> str:
        return f"array({self.repr1(x.ravel()[: self.maxlist].tolist(), level - 1)}, shape={x.shape}, dtype={x.dtype})"

    def repr_list_iterator(self, x: Any, _level: int) -> str:
        return f"<iterator of {x.__length_hint__()} more values>"


_SHORT = _Short()


def show_value(value: Any) -> str:
    """The value as Python would write it, shortened, escaped where it cannot be printed, on one line."""
    try:
        text = _SHORT.repr(value)
    except Exception as error:  # noqa: BLE001 - a value that cannot be shown must not lose the verdict
        text = f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
    return printable(text, MAX_CHARS)


def show_call(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """A call as it would stand in a program."""
    parts = [show_value(argument) for argument in arguments]
    parts += [f"{keyword}={show_value(value)}" for keyword, value in keywords.items()]
    return printable(f"{name}({', '.join(parts)})", MAX_CHARS)


def printable(text: str, max_chars: int) -> str:
    """One line that no terminal obeys: what cannot be printed is escaped, what is too long is cut."""
    if not text.isprintable():
        # what is escaped grows; what is cut off anyway need not be looked at
        pieces = (c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text[: max_chars + 1])
        text = "".join(pieces)
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."
