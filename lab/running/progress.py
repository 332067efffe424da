"""What a person sees of a run: a line a run, and on a terminal a bar below the lines."""

from __future__ import annotations

import collections
import sys
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lab.console import err, markup, print_line
from lab.grading.describe import one_line

if TYPE_CHECKING:
    from types import TracebackType

    from lab.results import Result
    from lab.running.run import Settled


class Display:
    """Told of every run that is settled; counts, prints lines where `lines`, and moves the bar."""

    def __init__(self, title: str, total: int, *, lines: bool) -> None:
        self.settled: list[Settled] = []
        self._lines = lines
        console = err()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        # rich may only take standard output over where that is the same terminal: a pipe must get its lines
        self._bar = Progress(
            *columns,
            console=console,
            transient=True,
            disable=not console.is_terminal,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._task = self._bar.add_task(markup(title), total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def settle(self, settled: Settled) -> None:
        """Take note of one run."""
        self.settled.append(settled)
        if self._lines and not settled.skipped:
            print_line(describe(settled.result))
            sys.stdout.flush()
        self._bar.advance(self._task)

    def counts(self) -> dict[str, int]:
        """Verdict status to count, `interrupted` for runs without a verdict; the most frequent first."""
        return dict(collections.Counter(status_of(one.result) for one in self.settled).most_common())


def status_of(result: Result) -> str:
    """The status of a run's verdict, or `interrupted`."""
    return result.verdict.status.value if result.verdict else "interrupted"


def describe(result: Result) -> str:
    """A run in one line: what it was on, what it came to, and why."""
    parts = [one_line(result.verdict) if result.verdict else f"interrupted {result.task}"]
    if result.sample:
        parts.append(f"sample {result.sample}")
    if result.stop == "timeout":
        parts.append(f"the tool was stopped after {result.wall_s:.0f} s")
    for attempt in result.attempts:
        if attempt.exit_code:
            parts.append(f"the tool ended with exit code {attempt.exit_code}")
        parts += attempt.notes
    return "; ".join(parts)
