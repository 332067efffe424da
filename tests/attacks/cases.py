"""The rows of rows/*.toml, and of the shared folder, as frozen records.

A row has: `name`; `why`, in one line; `task`, the short name of a task of tiny.py; `kind`: `cheat` (wrong, hopes to
pass), `harm` (also hurts) or `good` (must pass); one of `source` (the text of solution.py), `files` (a work folder)
and `make` (a function of builders.py). And may have: `encoding` of the source; `verdicts` allowed, where not every
failure will do; `holds_at`, the isolation levels that hold it; `outlives_at`, the levels that cannot end what it
starts; `by_groups`, where only a control group sees what it takes; `leaves`, paths of the host that must not be there
afterwards; `slow`; `variants`, each a case of its own with @VARIANT@ replaced; `repeat`, a count and a text for
@REPEAT@. The other @WORDS@ are filled in by watch.py.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.grading.isolation import Isolation
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROWS = Path(__file__).parent / "rows"
SHARED = Path(__file__).parents[3] / "shared"
LEVELS = (Isolation.BWRAP, Isolation.PROCESS)
FAILURES = frozenset({Status.WRONG, Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.MISSING})
KEYS = frozenset(
    {
        "name",
        "why",
        "task",
        "kind",
        "source",
        "files",
        "make",
        "encoding",
        "verdicts",
        "holds_at",
        "outlives_at",
        "by_groups",
        "leaves",
        "slow",
        "variants",
        "repeat",
    }
)


@dataclasses.dataclass(frozen=True)
class Case:
    """One thing to grade, and what has to be seen."""

    name: str
    why: str
    task: str
    kind: str
    verdicts: frozenset[Status]
    holds_at: tuple[Isolation, ...]
    outlives_at: tuple[Isolation, ...] = ()
    source: str | None = None
    encoding: str = "utf-8"
    files: Mapping[str, str] | None = None
    make: str | None = None
    leaves: tuple[str, ...] = ()
    by_groups: bool = False
    slow: bool = False
    is_variant: bool = False
    """One more of its row: left out where the row's first case will do."""

    @property
    def is_attack(self) -> bool:
        return self.kind != "good"


def own_rows() -> list[dict[str, Any]]:
    """Every row of this folder, as it stands in its file."""
    return [row for path in sorted(ROWS.glob("*.toml")) for row in tomllib.loads(path.read_text("utf-8"))["case"]]


def own_cases() -> list[Case]:
    """Every case of this folder: a row, or a variant of one."""
    return [case for row in own_rows() for case in _cases(row)]


def shared_cases() -> list[Case]:
    """The cases of the shared folder; none where that is not there."""
    return [
        _case(row | {"why": "shared"})
        for name in ("attacks.json", "innocents.json")
        if (path := SHARED / "attacks" / name).is_file()
        for row in json.loads(path.read_text("utf-8"))
    ]


def _cases(row: dict[str, Any]) -> Iterator[Case]:
    if unknown := row.keys() - KEYS:
        raise ValueError(f"{row['name']}: no such key: {unknown}")
    if sum(key in row for key in ("source", "files", "make")) != 1:
        raise ValueError(f"{row['name']}: one of source, files and make")
    for number, variant in enumerate(row.get("variants", [None])):
        filled = dict(row)
        if variant is not None:
            filled["name"] = f"{row['name']}-{number}"
            filled["is_variant"] = number > 0
        if "source" in row:
            text = row["source"]
            if "repeat" in row:
                times, piece = row["repeat"]
                text = text.replace("@REPEAT@", piece * times)
            filled["source"] = text if variant is None else text.replace("@VARIANT@", variant)
        yield _case(filled)


def _case(row: dict[str, Any]) -> Case:
    kind = row["kind"]
    if kind not in {"cheat", "harm", "good"}:
        raise ValueError(f"{row['name']}: no such kind: {kind}")
    source = row.get("source")
    return Case(
        name=row["name"],
        why=row["why"],
        task=row.get("task", "near"),
        kind=kind,
        verdicts=frozenset({Status.PASS}) if kind == "good" else frozenset(map(Status, row.get("verdicts", FAILURES))),
        holds_at=tuple(map(Isolation, row.get("holds_at", LEVELS))),
        outlives_at=tuple(map(Isolation, row.get("outlives_at", ()))),
        source=None if source is None else source.removeprefix("\n"),
        encoding=row.get("encoding", "utf-8"),
        files=row.get("files"),
        make=row.get("make"),
        leaves=tuple(row.get("leaves", ())),
        by_groups=row.get("by_groups", False),
        slow=row.get("slow", False),
        is_variant=row.get("is_variant", False),
    )
