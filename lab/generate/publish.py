"""From staging to the suite's folder: a task is swapped as a whole, and the lock is written last."""

from __future__ import annotations

import contextlib
import shutil
import signal
import stat
import threading
from typing import TYPE_CHECKING, Self

from lab.files import NotRegularFile, disk_error, read_regular, replace_folder, write_atomic
from lab.grading.exam import sha256

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path
    from types import FrameType, TracebackType

    from lab.generate.render import File
    from lab.layout import SuitePaths, TaskPaths
    from lab.tasks import LockEntry

MAX_TASK_FILE_BYTES = 64 << 20


class Staging:
    """A folder inside the suite that holds what is to be published. Nothing else changes before `commit`.

    What a killed generation left in it is swept at the start; as a context manager it sweeps itself.
    """

    def __init__(self, paths: SuitePaths) -> None:
        self._paths = paths
        self._swaps: list[str] = []
        self._removals: list[str] = []
        self._documents: dict[Path, Path] = {}

    def __enter__(self) -> Self:
        self._sweep()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sweep()

    def add(self, task_id: str, files: Mapping[Path, File]) -> None:
        """Stage a task's files, given by where they are to stand. Raises LabError where the disk refuses."""
        for path, file in files.items():
            write_atomic(self._place(path), file.data, mode=file.mode)
        self._swaps.append(task_id)

    def remove(self, task_id: str) -> None:
        """Note that a task's folders are to go."""
        self._removals.append(task_id)

    def document(self, path: Path, text: str) -> None:
        """Stage a suite-level file where its text changed; documents are put in place in the order they came."""
        data = text.encode("utf-8")
        if holds(path, data):
            return
        staged = self._place(path)
        write_atomic(staged, data)
        self._documents[path] = staged

    def commit(self) -> None:
        """Put everything in its place; the space is taken already, so that what is left is renames.

        Raises LabError where the disk refuses even so: the next generation completes what was begun.
        """
        with _uninterrupted():
            try:
                for task_id in self._removals:
                    for folder in self._folders(task_id):
                        if folder.exists():
                            shutil.rmtree(folder)
                for task_id in self._swaps:
                    for folder in self._folders(task_id):
                        folder.parent.mkdir(exist_ok=True)
                        replace_folder(self._place(folder), folder)
                for path, staged in self._documents.items():
                    staged.replace(path)
            except OSError as error:
                raise disk_error(self._paths.folder, error) from error

    def _folders(self, task_id: str) -> tuple[Path, Path]:
        task = self._paths.task(task_id)
        return task.oracle, task.task

    def _place(self, path: Path) -> Path:
        return self._paths.staging / path.relative_to(self._paths.folder)

    def _sweep(self) -> None:
        leftovers = [old for parent in (self._paths.tasks, self._paths.oracle) for old in parent.glob(".*.old")]
        for folder in (self._paths.staging, *leftovers):
            shutil.rmtree(folder, ignore_errors=True)


def holds(path: Path, data: bytes) -> bool:
    """Whether `path` is a regular file that holds exactly `data`."""
    try:
        return read_regular(path, max_bytes=len(data)) == data
    except (NotRegularFile, OSError):
        return False


def stands(files: Mapping[Path, File], paths: TaskPaths) -> bool:
    """Whether a task's two folders hold exactly these files, no more and no fewer."""
    for folder in (paths.task, paths.oracle):
        try:
            if set(folder.iterdir()) != {path for path in files if path.parent == folder}:
                return False
        except OSError:
            return False
    return all(holds(path, file.data) and _runs(path) == _is_script(file) for path, file in files.items())


def unlike_lock(paths: TaskPaths, entry: LockEntry) -> bool:
    """Whether a task's files are not those that its lock entry is about."""
    expected = {
        paths.prompt: entry.prompt,
        paths.stub: entry.stub,
        paths.test: entry.test,
        paths.reference: entry.reference,
    }
    try:
        found = {path: sha256(read_regular(path, MAX_TASK_FILE_BYTES)) for path in expected}
    except (NotRegularFile, OSError):
        return True
    return found != expected or not (paths.settings.is_file() and paths.check.is_file())


def task_folders(paths: SuitePaths) -> set[str]:
    """The names that stand in either of the suite's folders of tasks; hidden ones are nobody's tasks."""
    return {
        entry.name
        for parent in (paths.tasks, paths.oracle)
        if parent.is_dir()
        for entry in parent.iterdir()
        if not entry.name.startswith(".")
    }


def interrupted(paths: SuitePaths, lock: Mapping[str, LockEntry], names: Collection[str]) -> set[str]:
    """Of `names`, the tasks that a killed generation left half made: not in the lock, or unlike it."""
    return {name for name in names if name not in lock or unlike_lock(paths.task(name), lock[name])}


def _runs(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


def _is_script(file: File) -> bool:
    return bool(file.mode & stat.S_IXUSR)


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold an interrupt back until the block is done: a few renames, which must not be left halfway."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    before = {int(number): signal.signal(number, hold) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if held:
        signal.raise_signal(held[0])
