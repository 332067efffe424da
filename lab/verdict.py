"""The verdict: the graded outcome of one candidate on one task. Stdlib only."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any


class Status(enum.StrEnum):
    """The outcomes that design fixes; `infra` is the only one that is not scored."""

    PASS = "pass"  # noqa: S105 - a verdict, no secret
    WRONG = "wrong"
    ERROR = "error"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    MISSING = "missing"
    TAMPER = "tamper"
    INFRA = "infra"

    @property
    def scored(self) -> bool:
        return self is not Status.INFRA


@dataclasses.dataclass(frozen=True)
class Verdict:
    """One verdict record; the keys of `record()` are fixed by the design and scripted against.

    Seconds are CPU and wall seconds of the candidate, `peak_mb` is MiB of resident memory.
    """

    status: Status
    reason: str
    task: str
    upstream_id: str
    suite: str
    dataset: str
    cases_run: int = 0
    cases_total: int = 0
    failed_case: int | None = None
    cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float | None = None
    boundary: str = "values"
    isolation: str = "process"
    grader: str = ""
    solution_sha256: str = ""
    oracle_sha256: str = ""
    lock_sha256: str = ""
    sample: int | None = None
    line: int | None = None
    expected: str | None = dataclasses.field(default=None, compare=False)
    """The expected value of the failing case, as text. Not part of the record: shown only with --oracle."""

    @property
    def passed(self) -> bool:
        return self.status is Status.PASS

    def record(self) -> dict[str, Any]:
        """The verdict as a JSON object."""
        fields = dataclasses.asdict(self)
        del fields["expected"]
        return fields | {"status": self.status.value}
