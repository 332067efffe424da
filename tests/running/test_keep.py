"""Keeping what an agent left: what cannot be kept is a note, and only a disk that takes nothing more is an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from lab.errors import LabError
from lab.running import keep
from lab.running.keep import keep_work

NAME_CHARS = 250
LONG = "n" * NAME_CHARS


def nest(folder: Path, depth: int) -> None:
    """Folders of long names, each in the one before; a file in each. Made step by step: the whole path is too long."""
    before = Path.cwd()
    folder.mkdir()
    try:
        os.chdir(folder)
        for _ in range(depth):
            Path("file").write_text("x")
            Path(LONG).mkdir()
            os.chdir(LONG)
        Path("file").write_text("x")
    finally:
        os.chdir(before)


def kept(target: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(target))


@pytest.mark.parametrize("further", [0, 100, 200])
def test_names_that_are_too_long_where_they_are_kept(tmp_path: Path, further: int) -> None:
    """A path that is legal where it was left may be too long where it is kept, which lies deeper."""
    left, target = tmp_path / "left", tmp_path / ("t" * (further + 1)) / "kept"
    depth = (os.pathconf("/", "PC_PATH_MAX") - len(str(left)) - len("/file")) // (NAME_CHARS + 1)
    nest(left, depth)
    # of every length, so that one of them is over wherever the limit lies
    for length in range(1, NAME_CHARS, 2):
        (left / LONG / ("d" * length)).mkdir()
    notes = keep_work(left, target)
    assert kept(target) >= depth - 1
    assert bool(notes) == (further > 0)
    assert all(len(note) < keep.MAX_NAME_CHARS + 100 for note in notes)
    assert all("File name too long" in note for note in notes)


def test_a_name_that_is_too_long_is_in_no_others_way(tmp_path: Path) -> None:
    left, target = tmp_path / "left", tmp_path / ("t" * 200) / "kept"
    depth = (os.pathconf("/", "PC_PATH_MAX") - len(str(left)) - len("/file")) // (NAME_CHARS + 1)
    nest(left, depth)
    (left / "zebra").write_text("comes after the nest")
    assert keep_work(left, target)
    assert (target / "zebra").read_text() == "comes after the nest"


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
        if Path(os.readlink(f"/proc/self/fd/{descriptor}")).name == name:
            raise OSError(number, os.strerror(number))
        fchmod(descriptor, mode)

    monkeypatch.setattr(os, "fchmod", refusing)
