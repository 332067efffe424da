"""Where rows come from: the dataset viewer, its cache, or files; checked, in natural order, with their digest."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lab.datasets import jsonl
from lab.datasets.cache import Cache
from lab.datasets.jsonl import datasets_in, find_file, read_rows
from lab.datasets.schema import check_rows, digest, row_digest
from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lab.datasets.transport import Patience
    from lab.environment import Environment
    from lab.suites.base import Dataset, Row

__all__ = ["Rows", "datasets_in", "digest", "fetch_rows", "row_digest"]

VIEWER_FIX = "The dataset may have changed its form: use older rows with --source"


@dataclasses.dataclass(frozen=True)
class Rows:
    """All rows of one dataset, the declared columns only, in natural order of their ids."""

    rows: tuple[Row, ...]
    digest: str
    origin: str
    """Where they came from, for people: a path, or a dataset and a server."""
    known: bool
    """Whether these are the rows that the suite module was written for."""


def fetch_rows(
    dataset: Dataset,
    *,
    source: Path | None,
    env: Environment,
    offline: bool = False,
    refresh: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    say: Callable[[str], None] = lambda _line: None,
    patience: Patience | None = None,
) -> Rows:
    """Get all rows of `dataset`: from `source` where one is named, else from the cache, else from the viewer.

    `refresh` passes by the cache, `offline` uses nothing else. Always the whole dataset, because the viewer has no
    revisions and only all rows have a digest. `progress` is told (rows done, rows in all), `say` one line before
    each wait for the server. Raises LabError where the rows cannot be had, whole and in the right form.
    """
    if source is not None:
        path = find_file(source, dataset)
        rows, origin = check_rows(dataset, read_rows(path), origin=str(path), fix=jsonl.FIX), str(path)
    elif dataset.hub_id is None:
        raise LabError(f"{dataset.name} is on no server", "Name its rows with --source")
    else:
        rows, origin = _from_server(
            dataset, env=env, offline=offline, refresh=refresh, progress=progress, say=say, patience=patience
        )
    progress(len(rows), len(rows))
    found = digest(rows)
    return Rows(rows=rows, digest=found, origin=origin, known=found == dataset.rows_sha256)


def _from_server(
    dataset: Dataset,
    *,
    env: Environment,
    offline: bool,
    refresh: bool,
    progress: Callable[[int, int], None],
    say: Callable[[str], None],
    patience: Patience | None,
) -> tuple[tuple[Row, ...], str]:
    # requests takes 0.1 s to import, which files and a command's help can do without
    from lab.datasets import transport, viewer  # noqa: PLC0415

    if offline and refresh:
        raise LabError("--offline and --refresh exclude each other", "Leave one of them out")
    cache = Cache(env.cache, env.datasets_server, dataset)
    origin = f"{dataset.hub_id} from {transport.host(env.datasets_server)}"
    if not refresh and (rows := cache.load()) is not None:
        return rows, f"{origin} (cached)"
    if offline:
        raise LabError(
            f"there are no whole rows of {origin} in the cache",
            "Run it once without --offline, or use rows that you have with --source",
        )
    with transport.Transport(
        env.datasets_server,
        env.hf_token,
        subject=str(dataset.hub_id),
        patience=patience or transport.Patience(),
        say=say,
    ) as connection:
        rows = check_rows(dataset, viewer.fetch(dataset, connection, progress), origin=origin, fix=VIEWER_FIX)
    try:
        cache.store(rows)
    except LabError as error:
        # the rows are here and whole: a cache that cannot be kept only costs the next generation its time
        say(f"{origin}: could not be kept in the cache ({error.what})")
    return rows, origin
