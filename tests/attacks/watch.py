"""What is looked at on the host before and after an attack: processes, files, listeners, and a caller with keys."""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lab
from tests.attacks.builders import build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lab.grading.isolation import Isolation
    from tests.attacks.cases import Case
    from tests.attacks.ground import Ground

API_KEY = "canary-" + secrets.token_hex(16)
HOME_KEY = "canary-" + secrets.token_hex(16)
SHARED_PORT = "47999"
SHARED_CANARIES = ("/tmp/lab_pwned_by_pickle", "/tmp/lab_daemon_alive")
FUSE_CODE = 99
END_LIMIT_S = 5.0
PR_SET_CHILD_SUBREAPER = 36
PACKAGE = Path(lab.__file__).parent


class Listeners:
    """TCP and UDP on one loopback port, and Unix sockets with and without a path; none may be heard from."""

    def __init__(self) -> None:
        # a socket's path may have 107 bytes, which one in pytest's folder is easily beyond
        self.folder = tempfile.mkdtemp(prefix="lab-listen-", dir="/tmp")
        self.path = f"{self.folder}/s"
        self.abstract = f"lab-{secrets.token_hex(8)}"
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", self.port))
        self.streams = [self.tcp]
        for name in (self.path, f"\0{self.abstract}"):
            self.streams.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            self.streams[-1].bind(name)
            self.streams[-1].listen()
        for one in (*self.streams, self.udp):
            one.setblocking(False)

    def heard(self) -> list[str]:
        found = []
        for stream in self.streams:
            with contextlib.suppress(BlockingIOError):
                stream.accept()[0].close()
                found.append(f"connection to {stream.getsockname()!r}")
        with contextlib.suppress(BlockingIOError):
            found.append(f"datagram {self.udp.recv(100)!r}")
        return found

    def close(self) -> None:
        for one in (*self.streams, self.udp):
            one.close()
        shutil.rmtree(self.folder)


class Watch:
    """Looks at the host before an attack, and says afterwards what is not as it was."""

    def __init__(self, ground: Ground, folder: Path, listeners: Listeners) -> None:
        self.ground, self.folder, self.listeners = ground, folder, listeners
        self.name = f"lab{secrets.token_hex(5)}"
        self.canary = f"/tmp/{self.name}"
        self.keep, self.home, self.scratch = (folder / name for name in ("keep", "home", "scratch"))
        for made in (self.keep, self.home / ".ssh", self.scratch):
            made.mkdir(parents=True)
        (self.keep / "kept.txt").touch()
        self.secret = self.home / ".ssh" / "id_lab"
        self.secret.write_text(HOME_KEY)
        self.caller = subprocess.Popen(["sleep", "600"], env={"LAB_API_KEY": API_KEY}, stdin=subprocess.DEVNULL)
        self.processes = set(descendants())
        self.before = self._bytes()

    def fill(self, text: str) -> str:
        """Put this test's own paths, port and names into a source."""
        words = {
            "@CANARY@": self.canary,
            "@NAME@": self.name,
            "@MARK@": f"__import__('ctypes').CDLL(None).prctl(15, b'{self.name}', 0, 0, 0)",
            "@FUSE@": "import os as _os; (_os.getpid() > 64 or _os.path.exists("
            f"'/proc/{os.getpid()}')) and _os._exit({FUSE_CODE})",
            "@PORT@": str(self.listeners.port),
            "@ABSTRACT@": self.listeners.abstract,
            "@UNIX@": self.listeners.path,
            "@HOME@": str(self.home),
            "@KEEP@": str(self.keep),
            "@SUITE@": str(self.ground.suite.folder),
            "@SITE@": str(self.ground.venv.site_packages),
            "@PACKAGE@": str(PACKAGE),
            SHARED_PORT: str(self.listeners.port),
        } | dict.fromkeys(SHARED_CANARIES, self.canary)
        for word, value in words.items():
            text = text.replace(word, value)
        return text

    def work_folder(self, case: Case) -> tuple[Path, contextlib.AbstractContextManager[object]]:
        """The folder an agent left, and what to close when it was read."""
        folder = self.folder / "work"
        folder.mkdir()
        if case.make is not None:
            return folder, build(case.make, folder, self.secret)
        for name, text in (case.files or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(self.fill(text.removeprefix("\n")), encoding="utf-8", newline="")
        return folder, contextlib.nullcontext()

    def marked(self) -> list[str]:
        """Processes that carry this test's name, as theirs or on their command line, after a moment to end."""
        return none_after(END_LIMIT_S, lambda: list(_named(self.name)))

    def troubles(self, case: Case, level: Isolation) -> list[str]:
        """All that an attack has left behind. The pool is closed by now."""
        found = []
        if level not in case.outlives_at:
            found += [f"process {line}" for line in none_after(END_LIMIT_S, self._left)]
        paths = [self.canary, *map(self.fill, case.leaves)]
        found += [f"file {path}" for path in paths if os.path.lexists(path)]
        found += [f"scratch {path}" for path in self.scratch.iterdir()]
        found += [f"changed {path}" for path, _ in self.before ^ self._bytes()]
        found += self.listeners.heard()
        if [path.name for path in self.keep.iterdir()] != ["kept.txt"]:
            found.append("what a link pointed to")
        return found

    def clean(self) -> None:
        """Put right what an attack that was not held has done, for the sake of the next test."""
        self.caller.kill()
        self.caller.wait()
        for pid in set(descendants()) - self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        none_after(END_LIMIT_S, self._left)
        for path in (Path(self.canary), *PACKAGE.rglob(f"zz_{self.name}*")):
            path.unlink(missing_ok=True)
        # by rm, which is not recursive: pytest's own tidying fails on folders that are very deep
        subprocess.run(["rm", "-rf", self.scratch, self.folder / "work"], check=True)

    def _left(self) -> list[str]:
        return born_since(self.processes)

    def _bytes(self) -> frozenset[tuple[str, tuple[int, ...]]]:
        """Every file of the suite with its venv, and of the package; a write cannot hide the time it took place."""
        return frozenset((*_status(self.ground.suite.folder), *_status(PACKAGE, leave_out="__pycache__")))


def adopt_orphans() -> None:
    """Have processes whose parent is gone become children of this one, so that none is lost from sight."""
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        pytest.fail("this kernel does not let a process adopt orphans")


def descendants() -> Iterator[int]:
    """All processes below this one, zombies too."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        with contextlib.suppress(OSError):
            children.setdefault(int(_stat(pid)[1]), []).append(pid)
    waiting = [os.getpid()]
    while waiting:
        found = children.get(waiting.pop(), [])
        waiting += found
        yield from found


def born_since(before: set[int]) -> list[str]:
    """The processes below this one that are not among `before`, as text; those of them that are dead are waited for."""
    for pid in set(descendants()) - before:
        with contextlib.suppress(ChildProcessError):  # an orphan that this process has adopted, dead by now
            os.waitpid(pid, os.WNOHANG)
    return [_command(pid) for pid in set(descendants()) - before]


def _named(name: str) -> Iterator[str]:
    for pid in _processes():
        with contextlib.suppress(OSError):
            if pid != os.getpid() and name in _command(pid) and _stat(pid)[0] not in "ZX":
                yield _command(pid)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> Sequence[str]:
    """State, parent and so on: what stands behind the name in /proc/PID/stat."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()


def _command(pid: int) -> str:
    try:
        name = Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
        return f"{pid} {name} {Path(f'/proc/{pid}/cmdline').read_bytes()[:300]!r}"
    except OSError:
        return str(pid)


def none_after(limit_s: float, look: Callable[[], list[str]]) -> list[str]:
    """What `look` still finds after at most `limit_s`: the kernel takes a moment to take a process apart."""
    until = time.monotonic() + limit_s
    while (found := look()) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def _status(folder: Path, *, leave_out: str = "") -> Iterator[tuple[str, tuple[int, ...]]]:
    for here, folders, files in os.walk(folder):
        if leave_out in folders:
            folders.remove(leave_out)
        for name in files:
            path = f"{here}/{name}"
            with contextlib.suppress(FileNotFoundError):
                status = os.lstat(path)
                yield path, (status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
        for name in folders:
            yield f"{here}/{name}", ()
