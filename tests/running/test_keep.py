"""Keeping what an agent left: what cannot be kept is a note, and only a disk that takes nothing more is an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.running import keep
from lab.running.keep import keep_work

NAME_CHARS = 250
LONG = "n" * NAME_CHARS


def nest(folder: Path) -> int:
    """Folders of long names, each in the one before, with a file in each, up to the longest path that there can be.

    Made step by step, for a path that long is no argument. Gives the number of files.
    """
    room = os.pathconf("/", "PC_PATH_MAX") - 1 - len(str(folder))
    before = Path.cwd()
    folder.mkdir()
    os.chdir(folder)
    try:
        depth, rest = divmod(room - len("/file"), NAME_CHARS + 1)
        for _ in range(depth):
            Path("file").write_text("x")
            Path(LONG).mkdir()
            os.chdir(LONG)
        # of every length, so that one of them is over wherever the limit lies
        for length in range(1, rest):
            Path("f" * length).write_text("x")
            Path("g" * length).mkdir()
    finally:
        os.chdir(before)
    return depth + rest - 1


def kept(target: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(target))


@pytest.mark.parametrize("deeper", ["", "t" * 10 + "/", "t" * 100 + "/", ("t" * 200 + "/") * 2])
def test_paths_that_are_too_long_where_they_are_kept(tmp_path: Path, deeper: str) -> None:
    """A path that is legal where it was left may be none where it is kept, which lies deeper."""
    left, target = tmp_path / "left", tmp_path / f"{deeper}kept"
    files = nest(left)
    (left / "zebra").write_text("comes after the nest")
    notes = keep_work(left, target)
    assert bool(notes) == bool(deeper)
    assert (kept(target) < files + 1) == bool(deeper)
    assert (target / "zebra").exists()
    assert all(note.endswith(" was not kept: File name too long") for note in notes if not note.startswith("and "))
    assert all(len(note) < keep.MAX_NAME_CHARS + 100 for note in notes)


def test_a_place_that_cannot_be_made_is_a_note(tmp_path: Path) -> None:
    (tmp_path / "left").mkdir()
    (tmp_path / "left/solution.py").write_text("x = 1\n")
    (note,) = keep_work(tmp_path / "left", tmp_path / LONG / LONG / ("x" * 300))
    assert note == "the work was not kept: File name too long"


@pytest.mark.parametrize("number", [errno.EIO, errno.EFBIG, errno.ENAMETOOLONG, errno.EACCES, errno.EILSEQ])
def test_one_file_that_is_refused_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    refuse(monkeypatch, "bad", number)
    (tmp_path / "left").mkdir()
    for name in ("bad", "good"):
        (tmp_path / "left" / name).write_text(name)
    (note,) = keep_work(tmp_path / "left", tmp_path / "kept")
    assert note == f"bad was not kept: {os.strerror(number)}"
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["good"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS])
def test_a_disk_that_takes_nothing_more_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    refuse(monkeypatch, "bad", number)
    (tmp_path / "left").mkdir()
    (tmp_path / "left/bad").write_text("bad")
    with pytest.raises(LabError, match=r"cannot write .*/bad"):
        keep_work(tmp_path / "left", tmp_path / "kept")


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Have the disk refuse the content of a file of that name, once it is made."""
    fchmod = os.fchmod

    def refusing(descriptor: int, mode: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == name:
            raise OSError(number, os.strerror(number))
        fchmod(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", refusing)
