"""Rows as tables for a terminal, and as JSON."""

from __future__ import annotations

import collections
import json
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from lab.console import markup
from lab.order import natural
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.reporting.rows import Row, Scores, TaskScore

SHORT_SHA = 8
UNKNOWN = "-"


def comparison(suite: str, rows: Sequence[Row]) -> Table:
    """One line a row: who, how much passed, how sure that is, and what was not scored."""
    with_infra = any(row.count(Status.INFRA) for row in rows)
    figures = ["tasks", "passed", "pass@1", "95 %\ninterval", "time-\nouts", "infra", "missing\ntasks", "median\nwall"]
    if with_infra:
        figures.insert(4, "infra\nfails")
    with_attempts = any(row.attempts > 1 for row in rows)
    if with_attempts:
        figures.insert(3, "best\nof n")
    # so narrow that ten columns fit a terminal of 80
    table = Table(title=markup(suite), title_justify="left", box=box.SIMPLE_HEAD, padding=0)
    for column in ("tool", "model"):
        table.add_column(column, overflow="fold")
    for column in figures:
        table.add_column(column, justify="right", no_wrap=True)
    for row, name in zip(rows, names(rows), strict=True):
        cells = [str(row.tasks), f"{row.count(Status.PASS)}/{row.scored}", rate(row.pass_at_1)]
        if with_attempts:
            cells.append(UNKNOWN if row.attempts == 1 else f"{rate(row.best_of_n)} ({row.attempts})")
        cells.append(interval(row))
        if with_infra:
            cells.append(rate(row.pass_at_1_infra_fails))
        cells += [
            str(row.count(Status.TIMEOUT)),
            str(row.count(Status.INFRA)),
            str(len(row.missing)),
            UNKNOWN if row.median_wall_s is None else f"{row.median_wall_s:.1f} s",
        ]
        table.add_row(markup(name), markup(row.key.model or UNKNOWN), *cells)
    return table


def task_by_tool(suite: str, rows: Sequence[Row]) -> Table:
    """One line a task, one column a row: the verdict, or passes of runs where there are several."""
    table = Table(title=markup(f"{suite}, task by tool"), title_justify="left")
    table.add_column("task", overflow="fold")
    for row, name in zip(rows, names(rows), strict=True):
        table.add_column(markup(f"{name} {row.key.model}".strip()), overflow="fold")
    tasks = {task for row in rows for task in (*row.scores, *row.missing)}
    for task in sorted(tasks, key=natural):
        table.add_row(markup(task), *(_cell(row.scores.get(task)) for row in rows))
    return table


def footer(rows: Sequence[Row]) -> list[str]:
    """What the figures mean, and what stands behind them: a line each."""
    lines = ["passed: runs that passed of runs scored. pass@1: mean over tasks, with its Wilson interval over tasks."]
    if any(row.count(Status.INFRA) for row in rows):
        lines.append(
            "infra: runs that could not be graded, or whose model could not be asked; not scored."
            " infra fails: pass@1 with each of them as a failure."
        )
    if any(row.attempts > 1 for row in rows):
        lines.append("best of n: tasks that one of up to n attempts passed; all other figures are of first tries.")
    if isolations := sorted({name for row in rows for name in row.isolations}):
        lines.append(f"isolation of graded code: {', '.join(isolations)}")
    if any(row.key.other_lock for row in rows):
        lines.append("lock: made when the suite had another lock; such rows are not comparable with the others.")
    if interrupted := sum(row.count("interrupted") for row in rows):
        lines.append(f"interrupted: {interrupted} runs have no verdict; the same lab run goes on with them.")
    return lines


def to_record(row: Row, *, tasks: bool) -> dict[str, Any]:
    """A row as a JSON object; rates from 0 to 1, seconds, null where unknown."""
    record: dict[str, Any] = {
        "tool": row.key.tool,
        "tool_version": row.key.tool_version or None,
        "model": row.key.model or None,
        "settings": dict(row.settings),
        "settings_sha256": row.key.settings_sha256,
        "other_lock_sha256": row.key.other_lock or None,
        "tasks": row.tasks,
        "runs_scored": row.scored,
        "runs_passed": row.count(Status.PASS),
        "pass_at_1": row.pass_at_1,
        "pass_at_1_interval_95": row.interval,
        "pass_at_1_infra_fails": row.pass_at_1_infra_fails,
        "attempts": row.attempts,
        "best_of_n": row.best_of_n,
        "statuses": {s: row.count(s) for s in (*(status.value for status in Status), "interrupted")},
        "missing": list(row.missing),
        "median_wall_s": row.median_wall_s,
        "isolations": list(row.isolations),
    }
    if tasks:
        record["by_task"] = {task: dict(score.statuses) for task, score in row.scores.items()}
    return record


def names(rows: Sequence[Row]) -> list[str]:
    """What to call each row: its tool, with as much more as tells it from the others."""
    alike: dict[tuple[str, str], list[Row]] = collections.defaultdict(list)
    for row in rows:
        alike[row.key.tool, row.key.model].append(row)
    found = []
    for row in rows:
        others = alike[row.key.tool, row.key.model]
        name = row.key.tool
        if len({other.key.tool_version for other in others}) > 1 and row.key.tool_version:
            name += f" {row.key.tool_version}"
        if len({other.key.settings_sha256 for other in others}) > 1:
            name += f" {_settings(row, others)}"
        if row.key.other_lock:
            name += f" (lock {row.key.other_lock[:SHORT_SHA]})"
        found.append(name)
    return found


def rate(value: float | None) -> str:
    """A rate as per cent; nothing is rounded up to 100 or down to 0."""
    if value is None:
        return UNKNOWN
    text = f"{100 * value:.1f} %"
    if text == "100.0 %" and value < 1:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0 %" and value > 0 else text


def interval(scores: Scores) -> str:
    """The interval of pass@1 as per cent."""
    if scores.interval is None:
        return UNKNOWN
    low, high = scores.interval
    return f"{100 * low:.1f}-{100 * high:.1f}"


def _settings(row: Row, others: Sequence[Row]) -> str:
    """The settings in which rows of one tool and model differ."""
    parts = [
        f"{name}={value[:SHORT_SHA] if name.endswith('sha256') and isinstance(value, str) else _plain(value)}"
        for name, value in sorted(row.settings.items())
        if any(other.settings.get(name) != value for other in others)
    ]
    return " ".join(parts) or row.key.settings_sha256[:SHORT_SHA]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cell(score: TaskScore | None) -> str:
    if score is None:
        return UNKNOWN
    if sum(score.statuses.values()) == 1:
        return next(iter(score.statuses))
    others = {status: count for status, count in score.statuses.items() if status in {Status.INFRA, "interrupted"}}
    return ", ".join([f"{score.passed}/{score.scored}", *(f"{count} {status}" for status, count in others.items())])
