"""Which problems a generation works on."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from lab.errors import LabError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from lab.suites.base import Dataset, Row, Suite

FIRST_SAMPLE = 8
"""Problems of each dataset that a first generation takes when it is not told how many."""


@dataclasses.dataclass(frozen=True)
class Amount:
    """How many problems of each dataset; neither is: what the suite has, or else the first sample."""

    every: bool = False
    limit: int | None = None


def task_id(dataset: Dataset, row: Row) -> str:
    """The id of a row's task, without making a problem of it: `humanevalplus-0` for `HumanEval/0`."""
    numbers = re.findall(r"[0-9]+", str(row[dataset.id_column]))
    if not numbers:
        raise LabError(
            f"{dataset.name}: the row {row[dataset.id_column]!r} has no number in its id", "Use the upstream rows"
        )
    return f"{dataset.name}-{numbers[-1]}"


def choose_datasets(suite: Suite, names: Sequence[str]) -> list[Dataset]:
    """The datasets called `names` in the suite's order, or all; raises LabError naming those that there are."""
    known = {dataset.name: dataset for dataset in suite.datasets}
    for name in names:
        if name not in known:
            raise LabError(f"{suite.name} has no dataset {name!r}", did_you_mean(name, known))
    return [dataset for dataset in suite.datasets if not names or dataset.name in names]


def choose(ids: Sequence[str], amount: Amount, *, present: AbstractSet[str], broken: AbstractSet[str]) -> list[str]:
    """Of one dataset's task ids, in order, those to generate.

    `present` are the ids that the suite has (kept or dropped); `broken` those that an interrupted generation left
    unlike their lock entry, which every generation completes.
    """
    if amount.every:
        return list(ids)
    count = FIRST_SAMPLE if amount.limit is None else amount.limit
    wanted = set(ids[:count])
    if amount.limit is None and not present.isdisjoint(ids):
        wanted = set(present)
    return [name for name in ids if name in wanted or name in broken]


def belongs(name: str, dataset: Dataset) -> bool:
    """Whether `name` is a task id of `dataset`."""
    stem, _, number = name.rpartition("-")
    return stem == dataset.name and number.isascii() and number.isdigit()
