"""The rows, references and labelled samples of the shared folder."""

from __future__ import annotations

import gzip
import importlib.util
import json
from typing import TYPE_CHECKING

from measuring.programs import Failed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELLED = {"humaneval": "humanevalplus.jsonl.gz", "mbpp": "mbppplus.jsonl.gz"}
"""EvalPlus's name of a dataset to the file of labelled samples."""


def check_shared(folder: Path) -> None:
    """Raises Failed where what is measured beside is not there."""
    for part in ("bench", "data", "samples"):
        if not (folder / part).is_dir():
            raise Failed(f"{folder} has no {part}/: name the shared folder with --shared")


def references(folder: Path) -> dict[str, str]:
    """Upstream id to reference solution, from the rows, by the peers' own reader of them."""
    spec = importlib.util.spec_from_file_location("rows", folder / "bench" / "rows.py")
    if spec is None or spec.loader is None:
        raise Failed(f"{folder / 'bench' / 'rows.py'} cannot be imported")
    rows = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rows)
    return {name: solution for name, solution, _test in rows.reference_programs()}


def labelled(folder: Path, dataset: str) -> Iterator[tuple[str, str]]:
    """(upstream id, solution) of a dataset's labelled samples, in file order."""
    with gzip.open(folder / "samples" / LABELLED[dataset], "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["task_id"], row["solution"]
