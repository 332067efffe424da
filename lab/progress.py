"""How far a long step is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from lab.console import err, warn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LINE_EVERY_S = 15.0


@contextlib.contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to be told (done, total); what it shows goes to standard error and leaves no trace there."""
    console = err()
    if not console.is_terminal:
        yield _Lines(title)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    def __init__(self, title: str) -> None:
        self._title = title
        self._next = time.monotonic() + LINE_EVERY_S

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LINE_EVERY_S
            warn(f"{self._title}: {done} of {total}")
