"""Results become rows: one for each setup of a tool, never across locks."""

from __future__ import annotations

import collections
import dataclasses
import statistics
from typing import TYPE_CHECKING, Any

from lab.order import natural
from lab.reporting.statistics import pass_at_k, wilson_interval
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lab.results import Result
    from lab.verdict import Verdict


@dataclasses.dataclass(frozen=True, order=True)
class Key:
    """What results must share to stand in one row."""

    tool: str
    tool_version: str
    model: str
    settings_sha256: str
    other_lock: str
    """Empty where each result is of its task as the lock has it now; else the sha256 of the lock it was made with."""


@dataclasses.dataclass(frozen=True)
class TaskScore:
    """One task in a row: how many of its runs came to what."""

    statuses: Mapping[str, int]
    """Verdict status to count; `interrupted` for runs without a verdict."""

    @property
    def passed(self) -> int:
        return self.statuses.get(Status.PASS, 0)

    @property
    def infra(self) -> int:
        return self.statuses.get(Status.INFRA, 0)

    @property
    def scored(self) -> int:
        return sum(count for status, count in self.statuses.items() if status not in {Status.INFRA, "interrupted"})


@dataclasses.dataclass(frozen=True)
class Scores:
    """What tasks came to. Rates are means over tasks, so that no task weighs more for having more runs."""

    scores: Mapping[str, TaskScore]
    """By task id, in natural order; every task that has a run."""

    def count(self, status: str) -> int:
        """How many runs ended in `status`."""
        return sum(score.statuses.get(status, 0) for score in self.scores.values())

    @property
    def tasks(self) -> int:
        """Tasks with a scored run."""
        return sum(1 for score in self.scores.values() if score.scored)

    @property
    def scored(self) -> int:
        """Runs that count."""
        return sum(score.scored for score in self.scores.values())

    @property
    def pass_at_1(self) -> float | None:
        """The mean over tasks of the share of a task's scored runs that passed."""
        return self._total / self.tasks if self.tasks else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 %, over tasks."""
        return wilson_interval(self._total, self.tasks)

    @property
    def pass_at_1_infra_fails(self) -> float | None:
        """`pass_at_1` with each infra run as a failure; None where there was none."""
        if not self.count(Status.INFRA):
            return None
        tried = [score for score in self.scores.values() if score.scored + score.infra]
        return sum(score.passed / (score.scored + score.infra) for score in tried) / len(tried)

    def pass_at(self, k: int) -> float | None:
        """The mean over tasks of pass@k; None where a task has fewer scored runs than `k`, or there is none."""
        scored = [score for score in self.scores.values() if score.scored]
        if not scored or any(score.scored < k for score in scored):
            return None
        return sum(pass_at_k(score.scored, score.passed, k) for score in scored) / len(scored)

    @property
    def _total(self) -> float:
        return sum(score.passed / score.scored for score in self.scores.values() if score.scored)


@dataclasses.dataclass(frozen=True)
class Row(Scores):
    """One line of a report."""

    key: Key
    settings: Mapping[str, Any]
    missing: tuple[str, ...]
    """Tasks of the suite without a scored run."""
    attempts: int
    """How often a task could be tried in one run; all other figures are of the first try."""
    best_of_n: float | None
    """The mean over tasks of the share of runs in which one of the attempts passed; None for one attempt."""
    median_wall_s: float | None
    """Of the tool, over its runs; None where no run took time."""
    isolations: tuple[str, ...]
    """What candidates were graded in."""


def make_rows(results: Iterable[Result], lock: Mapping[str, str]) -> list[Row]:
    """Rows, best first. `lock` has the digest of every task of the suite as it is now."""
    groups: dict[Key, list[Result]] = collections.defaultdict(list)
    for result in results:
        current = lock.get(result.task) == result.task_lock_sha256
        key = Key(
            tool=result.tool,
            tool_version=result.tool_version or "",
            model=result.model or "",
            settings_sha256=result.settings_sha256,
            other_lock="" if current else result.suite_lock_sha256 or "unknown",
        )
        groups[key].append(result)
    rows = [_row(key, group, lock) for key, group in groups.items()]
    return sorted(rows, key=lambda row: (-(row.pass_at_1 if row.pass_at_1 is not None else -1), row.key))


def _row(key: Key, results: list[Result], lock: Mapping[str, str]) -> Row:
    statuses: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for result in results:
        first = first_verdict(result)
        statuses[result.task][first.status.value if first else "interrupted"] += 1
    scores = {task: TaskScore(dict(statuses[task])) for task in sorted(statuses, key=natural)}
    walls = [result.wall_s for result in results if result.verdict]
    median = statistics.median(walls) if walls else 0.0
    attempts = results[0].settings.get("attempts")
    return Row(
        key=key,
        settings=results[0].settings,
        scores=scores,
        missing=tuple(t for t in sorted(lock, key=natural) if not (t in scores and scores[t].scored)),
        attempts=attempts if isinstance(attempts, int) else 1,
        best_of_n=_best_of_n(results) if attempts else None,
        median_wall_s=median or None,
        isolations=tuple(sorted({r.verdict.isolation for r in results if r.verdict and r.verdict.solution_sha256})),
    )


def first_verdict(result: Result) -> Verdict | None:
    """The verdict on the first attempt, which alone is pass@1; None in a run that was interrupted."""
    return result.attempts[0].verdict if result.verdict and result.attempts else result.verdict


def _best_of_n(results: Iterable[Result]) -> float | None:
    """The mean over tasks of the share of runs that ended in a pass."""
    passes: dict[str, list[bool]] = collections.defaultdict(list)
    for result in results:
        if result.verdict is not None and result.verdict.status.scored:
            passes[result.task].append(result.verdict.passed)
    return statistics.fmean(map(statistics.fmean, passes.values())) if passes else None
