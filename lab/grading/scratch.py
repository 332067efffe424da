"""The scratch folder of a candidate that has no file system of its own, and its removal, whatever was left in it."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import stat
import tempfile
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading.owner import OWNER, is_left_behind, owner

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = re.compile(rf"lab-scratch-{OWNER}-\w+")
FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""A link is never followed: it may point to anything of the user's."""


def make() -> str:
    """A new folder for this user alone; raises LabError where none can be made."""
    _remove_left_behind(tempfile.gettempdir())
    try:
        return tempfile.mkdtemp(prefix=f"lab-scratch-{owner()}-")
    except OSError as error:
        raise LabError(
            f"no scratch folder can be made in {tempfile.gettempdir()}: {error}", "Free space there"
        ) from error


@functools.cache
def _remove_left_behind(place: str) -> None:
    """Remove, once in a process, what labs of this user left there that were killed."""
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if is_left_behind(NAME, entry.name) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                remove(entry.path)


def remove(path: str) -> None:
    """Delete a folder that a candidate filled; what the system does not let go of stays.

    Folders may be locked, and nested deeper than Python recurses or a path may be long. So each that is found is
    opened up and moved to the top before it is emptied in its turn.
    """
    with contextlib.suppress(OSError):
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            os.unlink(path)
            return
        with _opened(path, None) as top:
            names = (f"lab-{number}" for number in itertools.count())
            stuck: set[str] = set()
            while waiting := set(os.listdir(top)) - stuck:
                for name in waiting:
                    if not _remove_entry(top, name, names):
                        stuck.add(name)
        os.rmdir(path)


def _remove_entry(top: int, name: str, names: Iterator[str]) -> bool:
    """Delete one entry of the top folder, after moving the folders in it up beside it; whether it is gone."""
    if _unlink(top, name):
        return True
    try:
        with _opened(name, top) as folder:
            for inner in os.listdir(folder):
                if not _unlink(folder, inner):
                    with _opened(inner, folder):  # or else it could not be moved
                        os.rename(inner, _free(top, names), src_dir_fd=folder, dst_dir_fd=top)
        os.rmdir(name, dir_fd=top)
    except OSError:
        return False
    return True


def _unlink(folder: int, name: str) -> bool:
    """Delete what is not a folder."""
    try:
        os.unlink(name, dir_fd=folder)
    except OSError:
        return False
    return True


def _free(top: int, names: Iterator[str]) -> str:
    """A name that no entry of the top folder has."""
    for name in names:
        try:
            os.lstat(name, dir_fd=top)
        except FileNotFoundError:
            return name
    raise AssertionError("the names are endless")


@contextlib.contextmanager
def _opened(name: str, parent: int | None) -> Iterator[int]:
    """A descriptor of a folder, after taking the permissions on it that its owner gave up."""
    held = os.open(name, os.O_PATH | FOLDER, dir_fd=parent)
    try:
        os.chmod(f"/proc/self/fd/{held}", 0o700)
        folder = os.open(".", os.O_RDONLY | FOLDER, dir_fd=held)
    finally:
        os.close(held)
    try:
        yield folder
    finally:
        os.close(folder)
