"""From a sample to the solution.py that is graded: a completion goes behind the prompt, where that is code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular
from lab.suites import get_suite

if TYPE_CHECKING:
    from lab.layout import SuitePaths
    from lab.samples.sample import Sample
    from lab.tasks import Task

MAX_STUB_BYTES = 1 << 20


class Prompts:
    """The prompts of one suite that completions may continue."""

    def __init__(self, paths: SuitePaths) -> None:
        self._paths = paths
        self._code = {dataset.name for dataset in get_suite(paths.name).datasets if dataset.prompt_is_code}
        self._stubs: dict[str, bytes] = {}

    def fault(self, sample: Sample, task: Task | None) -> str | None:
        """Why a sample is none of its task; None where it is one, or the task is not known."""
        if sample.continues and task is not None and task.dataset not in self._code:
            return f"has a completion, but the prompt of {task.id} is prose: give a whole solution"
        return None

    def source(self, sample: Sample, task: Task) -> bytes:
        """The whole solution; raises LabError where the task's stub cannot be read."""
        return self._stub(task) + sample.source if sample.continues else sample.source

    def _stub(self, task: Task) -> bytes:
        if task.id not in self._stubs:
            path = self._paths.task(task.id).stub
            try:
                self._stubs[task.id] = read_regular(path, MAX_STUB_BYTES)
            except (NotRegularFile, FileNotFoundError) as error:
                raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
        return self._stubs[task.id]
