"""What a suite is: its datasets, and how their rows become problems."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

Row = dict[str, Any]
"""One upstream row as it came: column name to JSON value, checked against `Dataset.columns`."""


@dataclasses.dataclass(frozen=True)
class Dataset:
    """One upstream source inside a suite."""

    name: str
    """As in task ids and `--langs`: `humanevalplus`."""
    columns: Mapping[str, type | tuple[type, ...]]
    """Every column a row must have, with the JSON type of its value. Further columns are ignored."""
    id_column: str
    hub_id: str | None = None
    """The Hugging Face dataset, `evalplus/humanevalplus`; None where the rows ship with lab."""
    config: str = "default"
    split: str = "test"
    file_stem: str | None = None
    """Upstream's own file name without ending, `HumanEvalPlus-OriginFmt`."""
    prompt_is_code: bool = False
    """Whether a prompt is the start of a program, so that a sample may be a completion of it."""
    rows_sha256: str | None = None
    """What the rows hashed to (datasets.digest) when the suite module was written."""
    rows_count: int | None = None
    licence: str = ""
    embedded: Path | None = None
    """The packaged .jsonl file of the rows, where they ship with lab and there is no `hub_id`."""


@dataclasses.dataclass(frozen=True)
class Repair:
    """A named change to an upstream text, with its reason and where that reason was published."""

    name: str
    reason: str
    source: str


@dataclasses.dataclass(frozen=True)
class Problem:
    """One upstream row, ready to become a task. Texts are whole files."""

    task_id: str
    upstream_id: str
    dataset: str
    entry_point: str
    prompt: str
    """The text of prompt.txt."""
    stub: str
    """The text of the agent's solution.py."""
    test: str
    """The hidden test, repaired. Running it as a module runs every case against the global `entry_point`."""
    reference: str
    row_sha256: str
    upstream_test: str | None = None
    """Upstream's text, where a repair changed it."""
    repairs: tuple[Repair, ...] = ()
    judge: str = "values"
    constant_answer: str | None = None
    """Why a constant function is a right answer here, where one is."""
    weight: float = 0.0
    """Seconds of CPU that the reference is known to take, to start the slowest first; 0 is unknown."""
    tags: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Unusable:
    """A row that cannot become a problem, with the reason."""

    task_id: str
    upstream_id: str
    dataset: str
    reason: str


class Unfit(Exception):
    """Raised while a row is turned into a problem, with the reason: the row becomes `Unusable`."""


class Suite(Protocol):
    """A suite module's one public object."""

    @property
    def name(self) -> str: ...
    @property
    def summary(self) -> str: ...
    @property
    def datasets(self) -> Sequence[Dataset]: ...
    @property
    def requirements(self) -> str:
        """The pinned requirement set of the grading venv, in pip's format."""
        ...

    @property
    def imports(self) -> Sequence[str]:
        """Modules that must import in the grading venv before it counts as whole."""
        ...

    def problem(self, dataset: Dataset, row: Row) -> Problem | Unusable:
        """Turn one checked row into a problem."""
        ...
