"""What a person sees of a run: a line a run, and on a terminal a bar below the lines."""

from __future__ import annotations

import collections
import sys
from typing import TYPE_CHECKING, Self

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from lab.console import err, markup, print_line
from lab.grading.describe import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from rich.progress import Task as RichTask

    from lab.proxy.summary import Usage
    from lab.results import Result
    from lab.running.budget import Spending


class _Live(ProgressColumn):
    """A text that is asked for at each refresh."""

    def __init__(self, text: Callable[[], str]) -> None:
        super().__init__()
        self._text = text

    def render(self, task: RichTask) -> Text:  # noqa: ARG002 - it is about all of them
        return Text(self._text())


class Display:
    """Told of every run that is done; prints lines where `lines`, and moves the bar over `total` of them."""

    def __init__(self, title: str, total: int, spending: Spending, *, lines: bool) -> None:
        self.settled: list[Result] = []
        self._passed = 0
        self._lines = lines
        console = err()
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            _Live(lambda: f"{self._passed} passed"),
            _Live(lambda: shown_usage(usage) if (usage := spending.usage()).requests else ""),
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

    def settle(self, result: Result) -> None:
        """Take note of one run that was done now."""
        self.settled.append(result)
        self._passed += result.verdict is not None and result.verdict.passed
        if self._lines:
            print_line(describe(result))
            sys.stdout.flush()
        self._bar.advance(self._task)


def counts(results: Iterable[Result]) -> dict[str, int]:
    """Verdict status to count, `interrupted` for runs without a verdict; the most frequent first."""
    return dict(collections.Counter(map(status_of, results)).most_common())


def status_of(result: Result) -> str:
    """The status of a run's verdict, or `interrupted`."""
    return result.verdict.status.value if result.verdict else "interrupted"


def describe(result: Result) -> str:
    """A run in one line: what it was on, what it came to, and why."""
    parts = [one_line(result.verdict) if result.verdict else f"interrupted {result.task}"]
    if result.sample:
        parts.append(f"sample {result.sample}")
    if len(result.attempts) > 1:
        parts.append(f"after {len(result.attempts)} attempts")
    if result.stop == "timeout":
        parts.append(f"the tool was stopped after {result.wall_s:.0f} s")
    for attempt in result.attempts:
        if attempt.exit_code:
            parts.append(f"the tool ended with exit code {attempt.exit_code}")
        parts += attempt.notes
    return "; ".join(parts)


def shown_usage(usage: Usage) -> str:
    """Requests, tokens and dollars in a few words; what is unknown is called so."""
    parts = [f"{usage.requests:,} requests"]
    prompt, completion = usage.tokens.prompt, usage.tokens.completion
    at_least = "at least " if usage.unknown_tokens else ""
    if prompt is None and completion is None:
        parts.append("tokens unknown")
    else:
        parts.append(f"{at_least}{prompt or 0:,} + {completion or 0:,} tokens")
    if usage.cost_usd is not None:
        parts.append(f"${usage.cost_usd:,.4f}")
    else:
        parts.append(f"at least ${usage.known_cost_usd:,.4f}" if usage.known_cost_usd else "cost unknown")
    return ", ".join(parts)
