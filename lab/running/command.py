"""Any command line as a tool: `--command 'agent {prompt_file}'`."""

from __future__ import annotations

import dataclasses
import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.environment import agent_variables
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic
from lab.grading.work import Missing, read_work
from lab.running.attempt import Planned, Tried
from lab.running.child import run_child
from lab.running.identity import Setup
from lab.running.keep import keep_work, remove_work
from lab.tools import placeholders

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Sequence

    from lab.layout import Root, SuitePaths
    from lab.tasks import Task

PLACEHOLDERS = ("prompt", "prompt_file", "work")
MAX_TASK_FILE_BYTES = 64 << 20
WORK_FILES = {"prompt.txt", "solution.py"}


@dataclasses.dataclass(frozen=True)
class Command:
    """A program that works in a fresh folder outside the root, holding exactly prompt.txt and solution.py."""

    name: str
    words: tuple[str, ...]
    timeout_s: float
    root: Root
    suite: SuitePaths
    instant: bool = False

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        setup = Setup(self.name, settings={"command": list(self.words), "timeout_s": self.timeout_s})
        return (Planned(task, setup) for task in tasks)

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:
        paths = self.suite.task(planned.task.id)
        work = Path(tempfile.mkdtemp(prefix="lab-work-")).resolve()
        try:
            if work.is_relative_to(self.root.folder):
                raise LabError(f"the temporary folder lies inside the root {self.root.folder}", "Set TMPDIR elsewhere")
            prompt = _task_file(paths.prompt)
            write_atomic(work / "prompt.txt", prompt)
            write_atomic(work / "solution.py", _task_file(paths.stub))
            ended = run_child(
                fill(self.words, prompt=prompt.decode("utf-8", "replace"), work=work),
                folder=work,
                env=agent_variables() | {"PWD": str(work)},
                timeout_s=self.timeout_s,
                stopping=stopping,
            )
            write_atomic(folder / "trace" / "stdout", ended.stdout)
            write_atomic(folder / "trace" / "stderr", ended.stderr)
            notes = keep_work(work, folder / "work")
            if ended.dropped_bytes:
                notes = (*notes, f"{ended.dropped_bytes} bytes of output were not kept")
            tried = Tried(
                None,
                stop=ended.stop,
                exit_code=ended.exit_code,
                wall_s=round(ended.wall_s, 3),
                notes=notes,
            )
            try:
                # from the folder itself: what may not be kept (a symbolic link) is named for what it is
                return dataclasses.replace(tried, work=read_work(work))
            except Missing as error:
                return dataclasses.replace(tried, missing=str(error))
        finally:
            remove_work(work)


def parse_command(text: str) -> tuple[str, ...]:
    """Split a command line as a shell would, without running one, and check its program and placeholders.

    A program named by a relative path is made absolute: the command runs in another folder. Raises LabError.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LabError(f"--command cannot be split into words: {error}", "Check its quotes") from error
    if not words or not words[0]:
        raise LabError("--command is empty", "Write it like --command 'agent {prompt_file}'")
    for word in words:
        for name in placeholders.names(word):
            if name not in PLACEHOLDERS:
                advice = placeholders.advice(name, PLACEHOLDERS)
                raise LabError(f"--command has no placeholder {{{name}}}", advice)
    program = shutil.which(words[0])
    if program is None:
        raise LabError(f"there is no program {words[0]}", "Check --command and PATH; shell syntax needs sh -c '...'")
    if os.sep in words[0]:
        words[0] = str(Path(program).absolute())
    return tuple(words)


def local_files(words: Sequence[str]) -> list[str]:
    """Words after the program that name a file in the current folder, which the command will not see."""
    return [w for w in words[1:] if w not in WORK_FILES and not w.startswith("/") and Path(w).is_file()]


def fill(words: Sequence[str], *, prompt: str, work: Path) -> list[str]:
    """Put the values of one task into the placeholders. The values are never looked at again for placeholders."""
    values = {"prompt": prompt, "prompt_file": str(work / "prompt.txt"), "work": str(work)}
    return [placeholders.fill(word, values) for word in words]


def _task_file(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_TASK_FILE_BYTES)
    except (NotRegularFile, FileNotFoundError) as error:
        raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
