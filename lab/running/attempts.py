"""The attempts of one run: a further one after one that failed, and a repeat where only the model failed."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING

from lab.results import Attempt, Repeat
from lab.running.record import attempt_of

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.results import Stop
    from lab.running.attempt import Planned, Tool, Tried
    from lab.verdict import Verdict

MAX_REPEATS = 3
PAUSES_S = (1.0, 5.0, 15.0)
"""Before each repeat: a model that failed just now is asked again later."""


@dataclasses.dataclass(frozen=True)
class Made:
    """The attempts of a run so far, those repeated off the books, and why there is no further one."""

    attempts: tuple[Attempt, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    is_last: bool = True
    """Whether no attempt follows."""
    stop: Stop | None = None
    """Only where it is not the last attempt's."""


@dataclasses.dataclass(frozen=True)
class Attempts:
    """How often a tool may try a task."""

    tool: Tool
    most: int
    """Attempts that count; the first that passes is the last."""
    stopping: threading.Event
    is_spent: Callable[[], bool]
    grade: Callable[[Tried], Verdict | None]
    """The verdict on what an attempt left; None where that was interrupted."""

    def make(self, planned: Planned, folder: Path, begun: Made) -> Iterator[Made]:
        """Try until an attempt passes, or none may follow; gives all that was made after each attempt.

        Goes on after the attempts of `begun`, which all failed.
        """
        attempts, repeats = begun.attempts, begun.repeats
        for number in range(len(attempts) + 1, self.most + 1):
            tried, repeated = self._try(planned, folder, number)
            attempts += (attempt_of(tried, self.grade(tried)),)
            repeats += repeated
            verdict = attempts[-1].verdict
            failed = verdict is not None and verdict.status.scored and not verdict.passed
            if number < self.most and failed:
                if self.is_spent():
                    yield Made(attempts, repeats, stop="budget")
                    return
                yield Made(attempts, repeats, is_last=False)
            else:
                yield Made(attempts, repeats)
                return

    def _try(self, planned: Planned, folder: Path, number: int) -> tuple[Tried, tuple[Repeat, ...]]:
        """An attempt that its model did not fail, or that it failed once more than may be repeated.

        What a repeated one left is kept beside, as `attempt-1-repeated-1`.
        """
        repeats: list[Repeat] = []
        for again in itertools.count():
            place = folder / f"attempt-{number}"
            tried = self.tool.attempt(planned, place, self.stopping)
            if tried.stop != "model-failure" or again == MAX_REPEATS or self.is_spent():
                break
            if self.stopping.wait(PAUSES_S[again]):
                break
            place.rename(folder / f"{place.name}-repeated-{again + 1}")
            repeats.append(Repeat(attempt=number, wall_s=tried.wall_s, usage=tried.usage))
        return tried, tuple(repeats)
