"""Repairs of upstream's hidden tests: data in repairs.toml, applied by name, never in part."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from importlib import resources

from lab.suites.base import Repair, Unfit


@dataclasses.dataclass(frozen=True)
class _Entry:
    """One table of repairs.toml: the repair, the rows it is for, and (find, put) pairs."""

    repair: Repair
    datasets: frozenset[str]
    exceptions: frozenset[str]
    tasks: frozenset[str]
    replacements: tuple[tuple[str, str], ...]

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
            replacements=tuple((change["find"], change["put"]) for change in table["replace"]),
        )
        for table in tomllib.loads(text)["repair"]
    )


def repair(dataset: str, upstream_id: str, test: str) -> tuple[str, tuple[Repair, ...]]:
    """The repaired text of a hidden test, and the repairs that made it, in the order applied.

    Raises Unfit where a text to replace does not stand there exactly once: upstream has changed the row.
    """
    applied = []
    for entry in _entries():
        if not entry.is_for(dataset, upstream_id):
            continue
        for find, put in entry.replacements:
            if (times := test.count(find)) != 1:
                raise Unfit(
                    f"the repair {entry.repair.name} no longer fits: {find.strip()!r} stands {times} times in the test"
                )
            test = test.replace(find, put)
        applied.append(entry.repair)
    return test, tuple(applied)
