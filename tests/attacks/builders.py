"""Work folders that no text describes. Each function fills `folder`; what it returns is closed after the grading."""

from __future__ import annotations

import contextlib
import importlib.util
import marshal
import os
import socket
import stat
from typing import TYPE_CHECKING

import pytest

from lab.grading import scratch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RIGHT = """
def has_near_pair(numbers, threshold):
    ordered = sorted(numbers)
    return any(b - a < threshold for a, b in zip(ordered, ordered[1:]))
"""
WRONG = """
def has_near_pair(numbers, threshold):
    return None
"""
PRINTS_HELPER = """
import os
def has_near_pair(numbers, threshold):
    found = [os.path.join(d, f) for d, _, files in os.walk(".") for f in files if "solution" not in f]
    raise RuntimeError([open(path).read() for path in found if os.path.isfile(path)])
"""
Built = contextlib.AbstractContextManager[object] | None
"""What keeps the folder as it is until it is closed."""


def build(name: str, folder: Path, secret: Path) -> contextlib.AbstractContextManager[object]:
    """Fill `folder`. `secret` is a file of the host whose text must not come out."""
    return BUILDERS[name](folder, secret) or contextlib.nullcontext()


def _nothing(_folder: Path, _secret: Path) -> Built:
    return None


def _no_folder(folder: Path, _secret: Path) -> Built:
    folder.rmdir()
    return None


def _link_to_right_answer(folder: Path, secret: Path) -> Built:
    answer = secret.with_name("answer.py")
    answer.write_text(RIGHT)
    (folder / "solution.py").symlink_to(answer)
    return None


def _hard_link_to_secret(folder: Path, secret: Path) -> Built:
    (folder / "solution.py").hardlink_to(secret)
    return None


def _link_to_secret(folder: Path, secret: Path) -> Built:
    (folder / "solution.py").symlink_to(secret)
    return None


def _dangling_link(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").symlink_to("nowhere.py")
    return None


def _circular_link(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").symlink_to("solution.py")
    return None


def _link_to_dev_zero(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").symlink_to("/dev/zero")
    return None


def _fifo(folder: Path, _secret: Path) -> Built:
    os.mkfifo(folder / "solution.py")
    return None


def _fifo_with_writer(folder: Path, _secret: Path) -> Built:
    os.mkfifo(folder / "solution.py")
    return (folder / "solution.py").open("r+b", buffering=0)


def _socket(folder: Path, _secret: Path) -> Built:
    listener = socket.socket(socket.AF_UNIX)
    here = os.open(folder, os.O_PATH)
    # a socket's path may have 107 bytes, which a temporary folder's is easily beyond
    listener.bind(f"/proc/self/fd/{here}/solution.py")
    os.close(here)
    return listener


def _device(folder: Path, _secret: Path) -> Built:
    try:
        os.mknod(folder / "solution.py", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")
    return None


def _folder_named_solution(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").mkdir()
    (folder / "solution.py" / "__init__.py").write_text(RIGHT)
    return None


def _sparse_two_gigabytes(folder: Path, _secret: Path) -> Built:
    with (folder / "solution.py").open("wb") as out:
        out.write(WRONG.encode())
        out.truncate(2 << 30)
    return None


def _helper_fifo(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    os.mkfifo(folder / "helper.py")
    (folder / "__pycache__").mkdir()
    os.mkfifo(folder / "__pycache__" / "solution.cpython-311.pyc")
    return None


def _helper_link(folder: Path, secret: Path) -> Built:
    (folder / "solution.py").write_text(PRINTS_HELPER)
    (folder / "helper.py").symlink_to(secret)
    return None


def _helper_folder_link(folder: Path, secret: Path) -> Built:
    (folder / "solution.py").write_text(PRINTS_HELPER)
    secret.with_name("id.py").write_bytes(secret.read_bytes())
    (folder / "helper").symlink_to(secret.parent)
    return None


def _circular_folder(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    (folder / "sub").mkdir()
    (folder / "sub" / "again").symlink_to("..")
    (folder / "root").symlink_to("/")
    return None


def _many_helpers(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    for number in range(20_000):
        (folder / f"helper{number}.py").touch()
    return None


def _huge_helper(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    with (folder / "helper.py").open("wb") as out:
        out.truncate(2 << 30)
    return None


def _deep_helpers(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("deep", dir_fd=here)
        deeper = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)
    closing = contextlib.ExitStack()
    closing.callback(scratch.remove, str(folder / "deep"))  # pytest itself cannot
    return closing


def _odd_names(folder: Path, _secret: Path) -> Built:
    (folder / "solution.py").write_text(WRONG)
    for name in (b"a\nb.py", b"\x1b[2J.py", b"\xff\xfe.py", b"-rf.py", b"x" * 252 + b".py", b" .py", b"..py", b"~.py"):
        (folder / os.fsdecode(name)).write_text("raise SystemExit(0)\n")
    return None


def _poisoned_cache(folder: Path, _secret: Path) -> Built:
    solution = folder / "solution.py"
    solution.write_text(WRONG)
    code = marshal.dumps(compile(RIGHT, str(solution), "exec"))
    status = solution.stat()
    fresh = bytes(4) + int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
    (folder / "__pycache__").mkdir()
    for name, head in (("__pycache__/solution.cpython-311.pyc", fresh), ("solution.pyc", b"\1" + bytes(11))):
        (folder / name).write_bytes(importlib.util.MAGIC_NUMBER + head + code)
    return None


BUILDERS: dict[str, Callable[[Path, Path], Built]] = {
    function.__name__.removeprefix("_"): function
    for function in (
        _nothing,
        _no_folder,
        _link_to_right_answer,
        _hard_link_to_secret,
        _link_to_secret,
        _dangling_link,
        _circular_link,
        _link_to_dev_zero,
        _fifo,
        _fifo_with_writer,
        _socket,
        _device,
        _folder_named_solution,
        _sparse_two_gigabytes,
        _helper_fifo,
        _helper_link,
        _helper_folder_link,
        _circular_folder,
        _many_helpers,
        _huge_helper,
        _deep_helpers,
        _odd_names,
        _poisoned_cache,
    )
}
