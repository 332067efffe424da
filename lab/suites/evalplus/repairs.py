"""Repairs of upstream's hidden tests, and of a reference: data in repairs.toml, applied by name, never in part."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from importlib import resources

from lab.suites.base import Repair, Unfit


@dataclasses.dataclass(frozen=True)
class _Change:
    """A text to be found in the test or in the reference, and what is put in its place."""

    text: str
    find: str
    put: str


@dataclasses.dataclass(frozen=True)
class _Entry:
    """One table of repairs.toml: the repair, the rows it is for, and its changes."""

    repair: Repair
    datasets: frozenset[str]
    exceptions: frozenset[str]
    tasks: frozenset[str]
    changes: tuple[_Change, ...]

    def is_for(self, dataset: str, upstream_id: str) -> bool:
        return upstream_id in self.tasks or (dataset in self.datasets and upstream_id not in self.exceptions)


@functools.cache
def _entries() -> tuple[_Entry, ...]:
    text = resources.files(__package__).joinpath("repairs.toml").read_text("utf-8")
    return tuple(
        _Entry(
            repair=Repair(name=table["name"], reason=table["reason"], source=table["source"]),
            datasets=frozenset(table.get("datasets", ())),
            exceptions=frozenset(table.get("except", ())),
            tasks=frozenset(table.get("tasks", ())),
            changes=tuple(
                _Change(change.get("in", "test"), change["find"], change["put"]) for change in table["replace"]
            ),
        )
        for table in tomllib.loads(text)["repair"]
    )


def repair(dataset: str, upstream_id: str, *, test: str, reference: str) -> tuple[str, str, tuple[Repair, ...]]:
    """The repaired texts of a hidden test and its reference, and the repairs that made them, in the order applied.

    Raises Unfit where a text to replace does not stand there exactly once: upstream has changed the row.
    """
    texts = {"test": test, "reference": reference}
    applied = []
    for entry in _entries():
        if not entry.is_for(dataset, upstream_id):
            continue
        for change in entry.changes:
            if (times := texts[change.text].count(change.find)) != 1:
                raise Unfit(
                    f"the repair {entry.repair.name} no longer fits: {change.find.strip()!r} stands {times} times"
                    f" in the {change.text}"
                )
            texts[change.text] = texts[change.text].replace(change.find, change.put)
        applied.append(entry.repair)
    return texts["test"], texts["reference"], tuple(applied)
