"""What both directions of the codec share: its kinds of value, its errors, its cap."""

from __future__ import annotations

from _struct import Struct  # struct itself would cost a tenth of a millisecond of every start

TYPE_CHECKING = False
if TYPE_CHECKING:
    # this is where both directions take them from
    from collections import OrderedDict as OrderedDict  # noqa: PLC0414
    from collections import deque as deque  # noqa: PLC0414
else:
    # importing the collections module costs a millisecond of every start
    from _collections import OrderedDict, deque  # noqa: F401 - as above

MAX_DEPTH = 100
FLOAT = Struct("<d")
INT64 = range(-(1 << 63), 1 << 63)
INT_COLUMNS = ((1, "b", 1 << 7), (2, "h", 1 << 15), (4, "i", 1 << 31), (8, "q", 1 << 63))
"""Width in bytes, code in the struct module, and the bound, of each width of whole numbers."""
NUMPY_KINDS = "biufcUS"
"""Numbers, truth values and text, by numpy's one-letter kinds."""


class TooLarge(Exception):
    """A value beyond the caps: too many bytes, too many values in it, or too deep."""


class Malformed(Exception):
    """Bytes that no encoder wrote."""


class Opaque:
    """Stands on the host for what cannot cross: not None, equal to nothing but itself."""

    __slots__ = ("type_name",)

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


class Budget:
    """How much one value may still hold: bytes on the wire, and as many values in it."""

    __slots__ = ("bytes", "nodes")

    def __init__(self, cap: int) -> None:
        self.bytes = self.nodes = cap

    def take(self, size: int, nodes: int) -> None:
        """Count `size` bytes and `nodes` values; raises TooLarge over the cap."""
        self.bytes -= size
        self.nodes -= nodes
        if self.bytes < 0 or self.nodes < 0:
            raise TooLarge("the value is too large")
