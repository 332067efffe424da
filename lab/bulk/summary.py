"""What a samples file came to: figures for each dataset, as a table and as JSON."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table

from lab.console import markup
from lab.order import natural
from lab.reporting.rows import Scores, TaskScore
from lab.reporting.tables import UNKNOWN, interval, rate
from lab.verdict import Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.bulk.results import Statuses
    from lab.tasks import Task

ALL = "all"
FAILURES = (Status.WRONG, Status.ERROR, Status.TIMEOUT, Status.MEMORY, Status.MISSING, Status.TAMPER)


@dataclasses.dataclass(frozen=True)
class Summary:
    """Scores by dataset in the suite's order, and of all together; `ks` are the k of pass@k."""

    datasets: Mapping[str, Scores]
    all: Scores
    ks: Sequence[int]

    def record(self) -> dict[str, Any]:
        """As a JSON object; rates from 0 to 1, null where they are not defined."""
        return self._figures(self.all) | {
            "datasets": {name: self._figures(scores) for name, scores in self.datasets.items()}
        }

    def table(self) -> Table:
        """One line a dataset, and one for all where there are several."""
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
        failures = [status for status in FAILURES if self.all.count(status)]
        with_infra = bool(self.all.count(Status.INFRA))
        infra_columns = ["infra", "pass@1 if\ninfra fails"] if with_infra else []
        table.add_column("dataset", overflow="fold")
        for column in (
            "tasks",
            "passed",
            *(f"pass@{k}" for k in self.ks),
            "95 % of\npass@1",
            *failures,
            *infra_columns,
        ):
            table.add_column(column, justify="right", no_wrap=True)
        lines = dict(self.datasets)
        if len(lines) > 1:
            lines[ALL] = self.all
        for name, scores in lines.items():
            cells = [str(scores.tasks), f"{scores.count(Status.PASS)}/{scores.scored}"]
            cells += [rate(scores.pass_at(k)) for k in self.ks]
            cells += [interval(scores), *(str(scores.count(status)) for status in failures)]
            if with_infra:
                infra_fails = scores.pass_at_1_infra_fails
                cells += [str(scores.count(Status.INFRA)), UNKNOWN if infra_fails is None else rate(infra_fails)]
            table.add_row(markup(name), *cells)
        return table

    def _figures(self, scores: Scores) -> dict[str, Any]:
        return {
            "tasks": scores.tasks,
            "scored": scores.scored,
            "statuses": {status.value: scores.count(status) for status in Status},
            "pass_at_k": {str(k): scores.pass_at(k) for k in self.ks},
            "pass_at_1_interval_95": scores.interval,
            "pass_at_1_infra_fails": scores.pass_at_1_infra_fails,
        }


def summarise(statuses: Statuses, tasks: Mapping[str, Task], ks: Sequence[int]) -> Summary:
    """The figures of every task that has a sample. `tasks` are those tasks by id."""
    scores = {task_id: TaskScore(dict(statuses[task_id])) for task_id in sorted(statuses, key=natural)}
    datasets = sorted({tasks[task_id].dataset for task_id in scores})
    return Summary(
        datasets={
            name: Scores({task_id: score for task_id, score in scores.items() if tasks[task_id].dataset == name})
            for name in datasets
        },
        all=Scores(scores),
        ks=ks,
    )
