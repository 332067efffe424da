"""What a tool is to the runner: it plans runs, and tries one at a time."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from lab.grading.work import Work
    from lab.proxy.summary import Usage
    from lab.results import Stop
    from lab.running.identity import Setup
    from lab.tasks import Task


class Retry(enum.StrEnum):
    """What `--retry` takes: kinds of results that are to be done again."""

    INFRA = "infra"
    TIMEOUT = "timeout"
    """The tool ran out of time, and what it left did not pass."""
    FAILED = "failed"


@dataclasses.dataclass(frozen=True)
class Planned:
    """One run to do: a tool, set up, on a task."""

    task: Task
    setup: Setup
    sample: int = 0
    line: int | None = None
    """1-based line of the samples file, for a replay."""


@dataclasses.dataclass(frozen=True)
class Tried:
    """What one attempt left. `work` is None where there is nothing to grade, and `missing` says why."""

    work: Work | None
    missing: str = ""
    fault: str = ""
    """Why lab itself failed on this attempt, which then is not the tool's; empty where it did not."""
    stop: Stop = "done"
    exit_code: int | None = None
    wall_s: float = 0.0
    peak_mb: float | None = None
    notes: tuple[str, ...] = ()
    usage: Usage | None = None
    """What it asked of its model; None for a tool whose requests lab does not see."""


class Tool(Protocol):
    """A built-in, or any command line."""

    @property
    def name(self) -> str: ...

    @property
    def instant(self) -> bool:
        """Whether an attempt takes no time to speak of, so that runs of one task are graded in one job."""
        ...

    def plan(self, tasks: Sequence[Task]) -> Iterable[Planned]:
        """The runs to do over the selected tasks, those of one task in order of sample."""
        ...

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:
        """Try once, leaving `work/` and `trace/` in `folder` (`.../attempt-1`, which does not exist yet).

        Returns early, with the stop `interrupted`, once `stopping` is set. With the stop `model-failure` nothing of
        it is graded: its usage says why.
        """
        ...
