"""The built-in tools: the reference, the stub, and solutions that were recorded elsewhere."""

from __future__ import annotations

import collections
import dataclasses
from typing import TYPE_CHECKING

from lab import __version__
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic
from lab.grading.work import Missing, read_work
from lab.running.attempt import Planned, Tried
from lab.running.identity import Setup
from lab.samples import open_samples
from lab.samples.prompts import Prompts
from lab.samples.sample import BadLine, Sample
from lab.selection import EVERYTHING, select
from lab.tools.built_in import BuiltIn

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.layout import SuitePaths
    from lab.tasks import Task

MAX_SOURCE_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Copied:
    """`reference` or `stub`: hands in a file of the suite."""

    name: str
    suite: SuitePaths
    instant: bool = True

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        setup = Setup(self.name, __version__)
        return (Planned(task, setup) for task in tasks)

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:  # noqa: ARG002
        paths = self.suite.task(planned.task.id)
        source = paths.reference if self.name == BuiltIn.REFERENCE else paths.stub
        try:
            return _hand_in(read_regular(source, MAX_SOURCE_BYTES), folder)
        except (NotRegularFile, FileNotFoundError) as error:
            return Tried(None, fault=f"{source} cannot be read: {error}. Run lab gen again")


@dataclasses.dataclass(frozen=True)
class Replay:
    """`replay`: one run a recorded solution. Made by `load_replay`."""

    prompts: Prompts
    samples: dict[str, tuple[Sample, ...]]
    """By the name that the file gives the task, in file order."""
    samples_sha256: str
    file_stem: str
    """Stands for the model where the samples name none, so that a report can tell two files apart."""
    bad_lines: tuple[BadLine, ...] = ()
    name: str = BuiltIn.REPLAY.value
    instant: bool = True

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        settings = {"samples_sha256": self.samples_sha256}
        for task in tasks:
            for number, sample in enumerate(self._of(task)):
                setup = Setup(self.name, __version__, sample.model or self.file_stem, settings)
                yield Planned(task, setup, number, sample.line)

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:  # noqa: ARG002
        sample = self._of(planned.task)[planned.sample]
        return _hand_in(self.prompts.source(sample, planned.task), folder)

    def foreign(self, tasks: Sequence[Task]) -> dict[str, int]:
        """How many samples there are of each task that is none of `tasks`."""
        known = {name for task in tasks for name in (task.id, task.upstream_id)}
        return {name: len(samples) for name, samples in self.samples.items() if name not in known}

    def has(self, task: Task) -> bool:
        """Whether there is a sample of the task."""
        return task.id in self.samples or task.upstream_id in self.samples

    def _of(self, task: Task) -> list[Sample]:
        both = self.samples.get(task.id, ()) + self.samples.get(task.upstream_id, ())
        return sorted(both, key=lambda sample: sample.place)


def load_replay(suite: SuitePaths, file: Path) -> Replay:
    """Read a samples file or folder; raises LabError where it cannot be read or holds no sample at all."""
    samples: dict[str, list[Sample]] = collections.defaultdict(list)
    bad = []
    prompts = Prompts(suite)
    tasks = {name: task for task in select(suite, EVERYTHING) for name in (task.id, task.upstream_id)}
    with open_samples(file) as items:
        sha256 = items.sha256()
        for item in items:
            if isinstance(item, BadLine):
                bad.append(item)
            elif (why := prompts.fault(item, tasks.get(item.task))) is not None:
                bad.append(item.bad(why))
            else:
                samples[item.task].append(item)
    if not samples:
        first = f": {bad[0]}" if bad else ""
        raise LabError(f"{file} holds no samples{first}", 'Give one JSON object a line, {"task_id", "solution"}')
    stem = file.name.removesuffix(".gz").removesuffix(".jsonl")
    return Replay(prompts, {name: tuple(of) for name, of in samples.items()}, sha256, stem, tuple(bad))


def _hand_in(source: bytes, folder: Path) -> Tried:
    work = folder / "work"
    write_atomic(work / "solution.py", source)
    try:
        return Tried(read_work(work))
    except Missing as error:
        return Tried(None, missing=str(error))
