"""What decides a verdict beside the solution and the hidden test: a result made on other terms is not reused."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from lab import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.grading.isolation import Isolation
    from lab.grading.site import Venv
    from lab.tasks import Task


@dataclasses.dataclass(frozen=True)
class Terms:
    """The terms of one go, for the tasks that it grades."""

    grader: str
    isolation: str
    venv: str
    """The fingerprint of the grading venv."""
    all_cases: bool
    limits: Mapping[str, Mapping[str, float]]
    """By task id."""
    oracles: Mapping[str, str]
    """By task id: the sha256 of the hidden test."""

    def header(self, suite: str, lock_sha256: str) -> dict[str, Any]:
        """The first line of a results file."""
        return {
            "lab": __version__,
            "suite": suite,
            "lock_sha256": lock_sha256,
            "grader": self.grader,
            "limits": self.limits,
            "isolation": self.isolation,
            "venv": self.venv,
            "all_cases": self.all_cases,
        }

    def hold(self, header: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
        """Whether a record below that header is a result on these terms. Both may be any JSON objects."""
        task, limits = record.get("task"), header.get("limits")
        return (
            all(header.get(name) == getattr(self, name) for name in ("grader", "isolation", "venv", "all_cases"))
            and isinstance(task, str)
            and task in self.limits
            and isinstance(limits, dict)
            and limits.get(task) == self.limits[task]
            and record.get("oracle_sha256") == self.oracles[task]
        )


def make_terms(
    tasks: Mapping[str, Task],
    oracles: Mapping[str, str],
    *,
    venv: Venv,
    isolation: Isolation,
    grade_timeout_s: float | None,
    all_cases: bool,
) -> Terms:
    """The terms for `tasks` by id; a grade timeout stands in the place of each wall limit."""
    wall = {} if grade_timeout_s is None else {"wall_s": grade_timeout_s}
    return Terms(
        grader=venv.grader,
        isolation=isolation.value,
        venv=venv.fingerprint,
        all_cases=all_cases,
        limits={task_id: dataclasses.asdict(task.limits) | wall for task_id, task in tasks.items()},
        oracles={task_id: oracles[task_id] for task_id in tasks},
    )
