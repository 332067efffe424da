"""The Hugging Face dataset viewer: `GET /rows`, a hundred rows at a time.

It has no revision parameter, so rows can change under a reader; and it may answer in part, out of order, or with
texts cut off. Nothing of that may ever become a task: what is returned is the whole dataset, or it is an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from lab.datasets.transport import LATER, NETWORK, Transport, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.suites.base import Dataset, Row

PAGE_ROWS = 100
MAX_ROWS = 100_000
MAX_DATASET_BYTES = 1 << 30


class PageRow(msgspec.Struct, frozen=True):
    """One row of a page; `truncated_cells` names the columns whose text was cut."""

    row_idx: int
    row: dict[str, Any]
    truncated_cells: list[str]


class Page(msgspec.Struct, frozen=True):
    """One answer. Keys that say whether the rows are whole are required: without them nobody knows."""

    rows: list[PageRow]
    num_rows_total: int
    partial: bool


def fetch(dataset: Dataset, transport: Transport, progress: Callable[[int, int], None]) -> list[tuple[str, Row]]:
    """Every row of `dataset` as ("row 3", row), in the viewer's own order.

    `progress` is told how many rows of how many are there. Raises LabError where they are not all to be had, whole.
    """
    rows: dict[int, Row] = {}
    total: int | None = None
    size = 0
    while total is None or len(rows) < total:
        wanted: dict[str, str | int] = {
            "dataset": dataset.hub_id or "",
            "config": dataset.config,
            "split": dataset.split,
            "offset": len(rows),
            "length": PAGE_ROWS,
        }
        body = transport.get("rows", wanted)
        size += len(body)
        if size > MAX_DATASET_BYTES:
            raise transport.fault(f"the rows are larger than {MAX_DATASET_BYTES >> 20} MiB in all")
        page = _page(body, transport)
        if total not in {None, page.num_rows_total}:
            raise transport.fault(f"its total went from {total} to {page.num_rows_total} rows meanwhile", LATER)
        total = page.num_rows_total
        if total > MAX_ROWS:
            raise transport.fault(f"it announces {total} rows; lab takes {MAX_ROWS}")
        if not page.rows:
            raise transport.fault(f"it gave {len(rows)} rows of {total} and no more", LATER)
        for entry in page.rows:
            if entry.row_idx in rows:
                raise transport.fault(f"it gave row {entry.row_idx} twice", LATER)
            rows[entry.row_idx] = entry.row
        if len(rows) > total:
            raise transport.fault(f"it announced {total} rows and gave {len(rows)}", LATER)
        progress(len(rows), total)
    if missing := sorted(set(range(total)) - rows.keys()):
        raise transport.fault(f"it left out row {missing[0]} of {total}", LATER)
    return [(f"row {index}", rows[index]) for index in sorted(rows)]


def _page(body: bytes, transport: Transport) -> Page:
    try:
        page = msgspec.json.decode(body, type=Page)
    except (msgspec.DecodeError, RecursionError) as error:
        raise transport.fault(f"the answer does not look like rows: {plain(str(error))}", NETWORK) from error
    if page.partial:
        raise transport.fault("it has a part of the rows only (partial)", LATER)
    for entry in page.rows:
        if entry.truncated_cells:
            cut = plain(", ".join(entry.truncated_cells))
            raise transport.fault(f"it cut off the text of {cut} in row {entry.row_idx}", LATER)
    return page
