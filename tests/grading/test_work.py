from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

import pytest

from lab.grading.work import (
    MAX_ENTRIES_SEEN,
    MAX_FOLDERS_DEEP,
    MAX_HELPER_BYTES,
    MAX_HELPERS,
    MAX_SOLUTION_BYTES,
    Missing,
    Work,
    read_solution,
    read_work,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SOURCE = b"def f(x): return x\n"


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as out:
        out.truncate(size)


def a_socket(path: Path) -> None:
    # a socket's path may have 107 bytes, and pytest's folder has more
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def a_link_to(name: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(name)


def a_linked_twin(path: Path) -> None:
    path.with_name("twin.py").write_bytes(SOURCE)
    path.symlink_to("twin.py")


def of(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


MISSING: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "there is no solution.py"),
    "a link to a file": (a_linked_twin, "symbolic link"),
    "a link to /etc/passwd": (a_link_to("/etc/passwd"), "symbolic link"),
    "a link to nothing": (a_link_to("nothing"), "symbolic link"),
    "a link to itself": (a_link_to("solution.py"), "symbolic link"),
    "a link to a device": (a_link_to("/dev/zero"), "symbolic link"),
    "a FIFO": (os.mkfifo, "not a regular file"),
    "a folder": (lambda path: path.mkdir(), "not a regular file"),
    "a socket": (a_socket, "not a regular file"),
    "a sparse file of 2 GB": (lambda path: sparse(path, 2 << 30), "larger than"),
    "a byte too many": (of(b"#" * (MAX_SOLUTION_BYTES + 1)), "larger than"),
    "no UTF-8": (of(b"x = 1\n\xff"), r"not UTF-8 text \(byte 6\)"),
    "UTF-16": (of("x = 1".encode("utf-16")), "not UTF-8"),
    "half a character": (of("é".encode()[:1]), "not UTF-8"),
    "surrogates": (of("\ud800".encode("utf-8", "surrogatepass")), "not UTF-8"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_no_solution_is_missing(tmp_path: Path, name: str) -> None:
    make, why = MISSING[name]
    make(tmp_path / "solution.py")
    with pytest.raises(Missing, match=why):
        read_work(tmp_path)
    with pytest.raises(Missing, match=why):
        read_solution(tmp_path / "solution.py")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a device")
def test_a_device_is_missing(tmp_path: Path) -> None:
    with contextlib.suppress(PermissionError):  # not in every container
        os.mknod(tmp_path / "solution.py", 0o20666, os.makedev(1, 5))
        with pytest.raises(Missing, match="not a regular file"):
            read_work(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_missing(tmp_path: Path) -> None:
    (tmp_path / "solution.py").touch(mode=0)
    with pytest.raises(Missing, match="cannot be opened"):
        read_work(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        SOURCE,
        SOURCE.rstrip(),
        b"\xef\xbb\xbf" + SOURCE,
        SOURCE.replace(b"\n", b"\r\n"),
        "é🐍".encode(),
        b"\0",
        b"#" * MAX_SOLUTION_BYTES,
    ],
    ids=lambda data: str(data[:12]),
)
def test_text_is_taken_in_as_it_is(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "solution.py").write_bytes(data)
    assert read_work(tmp_path).files == {"solution.py": data}
    assert read_solution(tmp_path / "solution.py") == read_work(tmp_path) == Work.of(data)


def test_a_hard_link_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "twin").write_bytes(SOURCE)
    (tmp_path / "work").mkdir()
    os.link(tmp_path / "twin", tmp_path / "work" / "solution.py")
    assert read_work(tmp_path / "work").files == {"solution.py": SOURCE}


@pytest.mark.parametrize(
    ("text", "why"), [("#" * (MAX_SOLUTION_BYTES + 1), "larger than"), ("\ud800", "not UTF-8"), (b"\xff", "not UTF-8")]
)
def test_a_text_that_is_none(text: str | bytes, why: str) -> None:
    with pytest.raises(Missing, match=f"the solution is {why}"):
        Work.of(text)


def test_helpers_are_python_files_at_any_depth_and_nothing_else(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret")
    taken = [
        "solution.py",
        "a.py",
        "pkg/__init__.py",
        "pkg/b.py",
        "pkg/deep/c.py",
        "pkg/solution.py",
        "numpy.py",
        ".h.py",
    ]
    left = ["notes.txt", "a.pyc", "a.so", "pkg/__pycache__/x.py", "py", "a.PY"]
    for name in (*taken, *left):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(name)
    (work / "link.py").symlink_to(outside / "secret.py")
    (work / "linked").symlink_to(outside)
    (work / "folder.py").mkdir()
    os.mkfifo(work / "fifo.py")
    files = read_work(work).files
    assert files == {name: name.encode() for name in taken}
    assert all(not name.startswith(("/", "..")) for name in files)


def test_helpers_are_capped_in_number_depth_and_size(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_bytes(SOURCE)
    for number in range(MAX_HELPERS + 50):
        (tmp_path / f"h{number:03}.py").touch()
    files = read_work(tmp_path).files
    assert len(files) == MAX_HELPERS + 1
    assert "h000.py" in files
    deep = tmp_path / "deep"
    folder = deep.joinpath(*"abcdefgh")
    folder.mkdir(parents=True)
    (deep / "solution.py").write_bytes(SOURCE)
    for parent in (folder, *folder.parents)[:8]:
        (parent / "x.py").touch()
    names = read_work(deep).files
    assert max(name.count("/") for name in names) == MAX_FOLDERS_DEEP
    large = tmp_path / "large"
    large.mkdir()
    (large / "solution.py").write_bytes(SOURCE)
    sparse(large / "a.py", 2 << 30)
    sparse(large / "b.py", MAX_HELPER_BYTES - 10)
    sparse(large / "c.py", 11)
    sparse(large / "d.py", 10)
    assert sorted(read_work(large).files) == ["b.py", "d.py", "solution.py"]


def test_no_more_entries_are_looked_at_than_needed(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_bytes(SOURCE)
    (tmp_path / "many").mkdir()
    for number in range(MAX_ENTRIES_SEEN + 100):
        (tmp_path / "many" / f"{number}.txt").touch()
    assert set(read_work(tmp_path).files) == {"solution.py"}


def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    (tmp_path / "solution.py").write_bytes(SOURCE)
    name = b"h\xff.py"
    (tmp_path / os.fsdecode(name)).write_bytes(b"x = 1")
    work = read_work(tmp_path)
    assert work.files[os.fsdecode(name)] == b"x = 1"
    assert len(work.sha256) == 64


def test_the_digest_is_of_what_runs() -> None:
    one = Work({"solution.py": SOURCE})
    assert one.sha256 == Work.of(SOURCE).sha256
    others = [
        Work({"solution.py": SOURCE + b"\n"}),
        Work({"solution.py": SOURCE, "a.py": b"1"}),
        Work({"solution.py": SOURCE, "a.py": b"2"}),
        Work({"solution.py": SOURCE, "b.py": b"1"}),
        Work({"solution.py": SOURCE, "a.py": b"1", "b.py": b"2"}),
        Work({"solution.py": SOURCE, "a.py": b"2", "b.py": b"1"}),
    ]
    assert len({one.sha256, *(other.sha256 for other in others)}) == 7
    assert Work({"b.py": b"2", "a.py": b"1", "solution.py": SOURCE}).sha256 == others[4].sha256
