"""Names that say which lab made a thing, so that a later one can tell what a killed one left behind."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re

OWNER = r"(?P<namespace>\d+)-(?P<pid>\d+)"


def owner() -> str:
    """How this process stands in the names of what it makes: its process namespace, and its number there."""
    return f"{_namespace()}-{os.getpid()}"


def is_left_behind(pattern: re.Pattern[str], name: str) -> bool:
    """Whether `name` matches, and the process that its OWNER names is gone; of another namespace nobody can tell."""
    found = pattern.fullmatch(name)
    if found is None or int(found["namespace"]) != _namespace():
        return False
    return os.path.isdir("/proc/self") and not os.path.exists(f"/proc/{found['pid']}")


@functools.cache
def _namespace() -> int:
    try:
        return os.stat("/proc/self/ns/pid").st_ino
    except OSError:  # no Linux
        return 0
