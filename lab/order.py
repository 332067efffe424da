"""The order that people expect of names with numbers in them."""

from __future__ import annotations

import re


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key that puts humanevalplus-2 before humanevalplus-10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts)
