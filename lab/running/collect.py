"""What a tool left, once it has run: its work is kept and taken first, for all else is worth less."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.files import write_atomic
from lab.grading.work import Missing, read_work
from lab.running.attempt import Tried
from lab.running.keep import keep_work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.proxy.summary import Usage
    from lab.results import Stop
    from lab.running.child import Ended
    from lab.running.folders import Folders
    from lab.running.watch import Watch


@dataclasses.dataclass(frozen=True)
class Ran:
    """A tool that has run."""

    ended: Ended
    usage: Usage | None
    notes: tuple[str, ...]
    """What of its trace was refused."""


def collect(ran: Ran, folders: Folders, watch: Watch, folder: Path) -> Tried:
    """Keep what the tool left, and take its work: first of all, for that is what the attempt was made for.

    Raises LabError where the disk takes nothing more.
    """
    ended = ran.ended
    kept = keep_work(folders.work, folder / "work")
    notes = [*ran.notes, *_notes(ended, watch)]
    for name, printed in (("stdout", ended.stdout), ("stderr", ended.stderr)):
        with noting(notes):
            write_atomic(folder / "trace" / name, printed)
    tried = Tried(
        None,
        stop=_stop(ended, ran.usage),
        exit_code=ended.exit_code,
        wall_s=round(ended.wall_s, 3),
        peak_mb=None if watch.peak_mb is None else round(watch.peak_mb, 1),
        notes=(*notes, *kept),
        usage=ran.usage,
    )
    try:
        # from the folder itself: what may not be kept (a symbolic link) is named for what it is
        return dataclasses.replace(tried, work=read_work(folders.work))
    except Missing as error:
        return dataclasses.replace(tried, missing=str(error))


@contextlib.contextmanager
def noting(notes: list[str]) -> Iterator[None]:
    """Note that the disk refused a part of the trace: the work is worth more."""
    try:
        yield
    except LabError as error:
        notes.append(f"the trace is not whole: {error.what}")


def _stop(ended: Ended, usage: Usage | None) -> Stop:
    """A tool that lab stopped was not failed by its model."""
    if ended.stop == "done" and ended.excess is None and usage is not None and usage.model_failure is not None:
        return "model-failure"
    return ended.stop


def _notes(ended: Ended, watch: Watch) -> Iterator[str]:
    """What was out of the ordinary."""
    if ended.excess is not None:
        yield f"stopped: {ended.excess}"
    elif (over := watch.at_end()) is not None:
        yield over
    if ended.dropped_bytes:
        yield f"{ended.dropped_bytes} bytes of output were not kept"
