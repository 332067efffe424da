"""Fetched rows on disk, keyed by content.

    datasets/sources/<sha256 of what was asked for>.json   names the rows that it was answered with
    datasets/rows/<digest of the rows>.jsonl.gz

A reader recomputes the digest, so a damaged or foreign file is never taken for rows.
"""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING

import msgspec

from lab.datasets.jsonl import read_rows
from lab.datasets.schema import canonical, check_rows, digest
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from lab.suites.base import Dataset, Row

MAX_POINTER_BYTES = 64 << 10


class Pointer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked for, and the digest of the rows that came."""

    server: str
    dataset: str
    config: str
    split: str
    rows: str


class Cache:
    """The rows that `server` gave for `dataset`, below the folder `cache`."""

    def __init__(self, cache: Path, server: str, dataset: Dataset) -> None:
        self._dataset = dataset
        self._folder = cache / "datasets"
        self._asked = (server, dataset.hub_id or "", dataset.config, dataset.split)
        name = hashlib.sha256(msgspec.json.encode(self._asked)).hexdigest()
        self._pointer = self._folder / "sources" / f"{name}.json"

    def load(self) -> tuple[Row, ...] | None:
        """The rows; None where they are not here, not whole, or not what this version of lab needs."""
        try:
            pointer = msgspec.json.decode(read_regular(self._pointer, MAX_POINTER_BYTES), type=Pointer)
            if (pointer.server, pointer.dataset, pointer.config, pointer.split) != self._asked:
                return None
            rows = check_rows(self._dataset, read_rows(self._rows(pointer.rows)), origin="the cache", fix="")
        except (OSError, NotRegularFile, ValueError, LabError):
            return None
        return rows if digest(rows) == pointer.rows else None

    def store(self, rows: tuple[Row, ...]) -> None:
        """Keep `rows`, and last of all point to them. Raises LabError where the disk refuses."""
        name = digest(rows)
        text = b"".join(canonical(row) + b"\n" for row in rows)
        write_atomic(self._rows(name), gzip.compress(text, mtime=0))
        write_atomic(self._pointer, msgspec.json.format(msgspec.json.encode(Pointer(*self._asked, rows=name))) + b"\n")

    def _rows(self, name: str) -> Path:
        return self._folder / "rows" / f"{name}.jsonl.gz"
