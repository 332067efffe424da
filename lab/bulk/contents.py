"""What samples hold for the selected tasks: where each one lies, never the texts themselves."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
from typing import TYPE_CHECKING

from lab.samples.sample import BadLine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.samples.prompts import Prompts
    from lab.samples.sample import Samples
    from lab.tasks import Task

MAX_UNKNOWN_NAMES = 1000
MAX_NAME_CHARS = 100

Unit = tuple[str, str]
"""What is graded once, however often it stands in the file: a task's id, and the sha256 of a solution."""


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One sample of a selected task. With its place among the results it takes 0.7 KB, however large its text is."""

    task: Task
    sample: int
    """0-based, per task, in file order."""
    line: int | None
    place: int
    digest: bytes
    """sha256 of the whole solution."""

    @property
    def unit(self) -> Unit:
        return self.task.id, self.digest.hex()


@dataclasses.dataclass
class Contents:
    """The rows in file order, and what else stands there."""

    rows: list[Row | BadLine] = dataclasses.field(default_factory=list)
    counts: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    """Samples of each selected task, by its id."""
    unknown: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    """Samples of tasks that the suite does not have, by the name given; the first thousand names."""
    unknown_samples: int = 0
    unselected: int = 0
    """Samples of the suite's other tasks."""

    @property
    def bad(self) -> list[BadLine]:
        return [row for row in self.rows if isinstance(row, BadLine)]

    def units(self) -> dict[Unit, Row]:
        """Every unit, with the first row that it stands in."""
        units: dict[Unit, Row] = {}
        for row in self.rows:
            if isinstance(row, Row):
                units.setdefault(row.unit, row)
        return units


def read_contents(samples: Samples, prompts: Prompts, known: Mapping[str, Task], selected: set[str]) -> Contents:
    """Read all samples once. `known` are the suite's tasks by either id, `selected` the ids of those to grade."""
    contents = Contents()
    for found in samples:
        if isinstance(found, BadLine):
            contents.rows.append(found)
            continue
        task = known.get(found.task)
        if task is None:
            _unknown(contents, found.task)
        elif task.id not in selected:
            contents.unselected += 1
        elif (why := prompts.fault(found, task)) is not None:
            contents.rows.append(found.bad(why))
        else:
            digest = hashlib.sha256(prompts.source(found, task)).digest()
            contents.rows.append(Row(task, contents.counts[task.id], found.line, found.place, digest))
            contents.counts[task.id] += 1
    return contents


def _unknown(contents: Contents, name: str) -> None:
    contents.unknown_samples += 1
    name = name[:MAX_NAME_CHARS]
    if name in contents.unknown or len(contents.unknown) < MAX_UNKNOWN_NAMES:
        contents.unknown[name] += 1
