"""What rows must look like before anything is made of them, and the digests that identify them."""

from __future__ import annotations

import hashlib
import json
import typing
from typing import TYPE_CHECKING, Any

from lab.errors import LabError
from lab.order import natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lab.suites.base import Dataset, Row

TYPE_NAMES = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a fraction",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
MAX_ID_CHARS = 200


def check_rows(dataset: Dataset, rows: Iterable[tuple[str, Row]], *, origin: str, fix: str) -> tuple[Row, ...]:
    """Check every row, keep the declared columns only, and sort by natural id.

    `rows` are pairs of a place ("line 3") and a row; `origin` and `fix` go into the error.
    Raises LabError at the first row that does not fit, at a row that is there twice, and where there is none.
    """
    places: dict[str, str] = {}
    kept = []
    for place, row in rows:
        if fault := row_fault(dataset, row):
            raise LabError(f"{origin}, {place}: {fault}", fix)
        row_id = str(row[dataset.id_column])
        if row_id in places:
            raise LabError(f"{origin} holds {row_id!r} twice, at {places[row_id]} and {place}", fix)
        places[row_id] = place
        kept.append({column: row[column] for column in dataset.columns})
    if not kept:
        raise LabError(f"{origin} holds no rows", fix)
    kept.sort(key=lambda row: natural(str(row[dataset.id_column])))
    return tuple(kept)


def row_fault(dataset: Dataset, row: Row) -> str | None:
    """What keeps `row` from being one of `dataset`, as a phrase; None where it is one."""
    for column, expected in dataset.columns.items():
        if column not in row:
            return f"the column {column!r} of {dataset.name} is missing"
        allowed = expected if isinstance(expected, tuple) else (expected,)
        if not any(_is(row[column], kind) for kind in allowed):
            wanted = " or ".join(_name(kind) for kind in allowed)
            return f"the column {column!r} of {dataset.name} holds {_describe(row[column])}, not {wanted}"
    row_id = str(row[dataset.id_column])
    if not (row_id.isprintable() and 0 < len(row_id) <= MAX_ID_CHARS):
        return f"the column {dataset.id_column!r} of {dataset.name} holds no usable id"
    return None


def _is(value: object, kind: type) -> bool:
    """Whether a JSON value is of exactly this kind: true is no whole number, 1.0 neither. `list[str]` looks inside."""
    if (base := typing.get_origin(kind)) is None:
        return type(value) is kind
    (element,) = typing.get_args(kind)
    return isinstance(value, base) and all(type(item) is element for item in value)


def _name(kind: type) -> str:
    return TYPE_NAMES[kind] if typing.get_origin(kind) is None else f"a list of {TYPE_NAMES[typing.get_args(kind)[0]]}"


def _describe(value: object) -> str:
    if isinstance(value, list) and value:
        return f"a list of {' and '.join(sorted({TYPE_NAMES[type(item)] for item in value}))}"
    return TYPE_NAMES[type(value)]


def digest(rows: Sequence[Row]) -> str:
    """The sha256 of checked rows: their canonical JSON, each followed by a newline, in the order given."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(canonical(row) + b"\n")
    return whole.hexdigest()


def row_digest(row: Row) -> str:
    """The sha256 of one checked row's canonical JSON."""
    return hashlib.sha256(canonical(row)).hexdigest()


def canonical(row: dict[str, Any]) -> bytes:
    """One row as the JSON text that digests are made of: sorted keys, no spaces, ASCII."""
    return json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")
