"""The lines of a trace's file, whatever was done to it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import msgspec

from lab.files import NotRegularFile, opened_regular

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_LINE_BYTES = 80 << 20
"""More than the proxy takes of one request."""


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file, one a line; one that cannot be read is `{"unreadable": WHY}`. Nothing without a file."""
    try:
        with opened_regular(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as lines:
            while line := lines.readline(MAX_LINE_BYTES):
                if len(line) == MAX_LINE_BYTES:
                    while line and not line.endswith(b"\n"):
                        line = lines.readline(MAX_LINE_BYTES)
                    yield {"unreadable": f"a line of {path.name} is longer than {MAX_LINE_BYTES >> 20} MiB"}
                    continue
                value = decoded(line)
                yield value if isinstance(value, dict) else {"unreadable": f"a line of {path.name} cannot be read"}
    except FileNotFoundError:
        return
    except (NotRegularFile, OSError) as error:
        yield {"unreadable": f"{path.name} cannot be read: it {error}"}


def decoded(data: bytes) -> Any:
    """The JSON value; None where it is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # msgspec does not take half an emoji, which an agent makes where it cuts a text; nor do those who print it
        return json.loads(json.dumps(json.loads(data), ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
