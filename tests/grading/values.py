"""Values for the codec's tests: what it is to be the same, down to types and signs."""

from __future__ import annotations

import datetime as dt
from collections import deque
from decimal import Decimal
from typing import Any

import numpy as np

CAP = 1 << 22


def same(left: Any, right: Any) -> bool:
    """Equal in type and content all the way down; NaN is itself, -0.0 is not 0.0, and a fold counts."""
    return bool(form(left) == form(right))


def form(value: Any) -> tuple[type, object]:
    """A value as nested tuples that compare equal just where the values are the same."""
    content: object
    match value:
        case np.ndarray():
            content = value.dtype.str, value.shape, form(value.tolist())
        case np.generic():
            content = value.dtype.str, repr(value)
        case float() | complex() | Decimal() | dt.date() | dt.time():
            content = repr(value)
        case list() | tuple() | deque():
            content = [form(item) for item in value]
        case dict():
            content = [(form(key), form(item)) for key, item in value.items()]
        case set() | frozenset():
            content = sorted(repr(form(item)) for item in value)
        case _:
            content = value
    return type(value), content
