"""The command lines that start a candidate and a judge, held in by the isolation chosen.

bubblewrap's is an allow-list: the system's programs and libraries, the interpreter and the suite's venv, all
read-only; a sized scratch folder; no network, no /proc, no environment but what is named here.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading import scratch
from lab.grading.isolation import Isolation, bubblewrap
from lab.grading.seccomp import key_filter
from lab.process import end, spawn

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from lab.grading.site import Venv

SCRATCH_BYTES = 64 << 20
SHARED_MEMORY_BYTES = 16 << 20
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    # 0 fixes the order of sets of text, so that a verdict does not change from run to run
    "PYTHONHASHSEED": "0",
    # numpy's import dies under an address-space limit on a machine with many cores, unless it starts one thread
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
PASSED_ON = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Set by the owner of a machine on whose processor OpenBLAS would choose wrongly."""
BOOT_CANDIDATE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lab.grading.candidate import main; main(*map(int, sys.argv[2:]))"
)
BOOT_JUDGE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lab.grading.judge import serve; "
    "serve(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], warm='warm' in sys.argv, alone='alone' in sys.argv)"
)


@dataclasses.dataclass
class Held:
    """A started process with the scratch folder that goes with it."""

    process: subprocess.Popen[bytes]
    scratch: str | None

    def end(self) -> None:
        """Kill it and all that its isolation can find of it, and remove its scratch folder. Twice is once."""
        end(self.process)
        if self.scratch is not None:
            scratch.remove(self.scratch)


def start_candidate(isolation: Isolation, venv: Venv, descriptors: Sequence[int]) -> Held:
    """Start an interpreter that waits for a payload; `descriptors` are its read, write and payload ends."""
    argv = [str(venv.python), "-I", "-S", "-c", BOOT_CANDIDATE, str(venv.grader_folder), *map(str, descriptors)]
    return _start(isolation, venv, argv, descriptors)


def start_judge(isolation: Isolation, venv: Venv, control: int, progress: int, *, warm: bool) -> Held:
    """Start the host side: a process that judges task after task."""
    site = str(venv.site_packages)
    argv = [str(venv.python), "-I", "-S", "-c", BOOT_JUDGE, str(venv.grader_folder), str(control), str(progress), site]
    argv += ["warm"] * warm + ["alone"] * (isolation is Isolation.BWRAP)
    return _start(isolation, venv, argv, (control, progress))


def _start(isolation: Isolation, venv: Venv, argv: Sequence[str], descriptors: Collection[int]) -> Held:
    environment = ENVIRONMENT | {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    if isolation is Isolation.BWRAP:
        with key_filter() as (words, filters):
            command = [*_bwrap(environment, venv.base_prefix, venv.folder, words), *argv]
            return Held(spawn(command, env={}, cwd="/", pass_fds=(*descriptors, *filters)), None)
    folder = scratch.make()
    environment |= {"HOME": folder, "TMPDIR": folder}
    try:
        return Held(spawn(argv, env=environment, cwd=folder, pass_fds=descriptors), folder)
    except BaseException:
        scratch.remove(folder)
        raise


def _bwrap(environment: dict[str, str], base_prefix: Path, venv: Path, more: Sequence[str]) -> list[str]:
    found = bubblewrap()
    if found is None:
        raise LabError("bubblewrap is gone", "See lab doctor")
    argv = [found.program, *found.options, *more]
    for name, value in (environment | {"HOME": "/scratch", "TMPDIR": "/tmp"}).items():  # noqa: S108
        argv += ["--setenv", name, value]
    argv += system_view()
    argv += ["--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]  # noqa: S108
    for place in ("/tmp", "/scratch"):  # noqa: S108
        argv += ["--size", str(SCRATCH_BYTES), "--perms", "0700", "--tmpfs", place]
    # last, so that a venv below /tmp is not hidden by the scratch folder
    for shared in (base_prefix, venv):
        argv += ["--ro-bind", str(shared), str(shared)]
    for hidden in _other_packages(str(base_prefix)):
        argv += ["--size", "4096", "--perms", "0555", "--tmpfs", hidden]
    return [*argv, "--remount-ro", "/", "--chdir", "/scratch", "--"]


@functools.cache
def _other_packages(base_prefix: str) -> list[str]:
    """The folders of packages that are not the venv's: lab may be among them, with the answers of its own suite."""
    found = []
    for prefix in dict.fromkeys((base_prefix, "/usr", "/usr/local")):
        library = os.path.join(prefix, "lib")
        with contextlib.suppress(OSError):
            pythons = [name for name in os.listdir(library) if name.startswith("python3")]
            found += [os.path.join(library, name, kind) for name in pythons for kind in PACKAGE_FOLDERS]
    return [folder for folder in found if os.path.isdir(folder) and not os.path.islink(folder)]


def system_view() -> list[str]:
    """The words that show bubblewrap's inside the system's programs and libraries, read-only."""
    argv = []
    for folder in SYSTEM_FOLDERS:
        if os.path.islink(folder):
            argv += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            argv += ["--ro-bind", folder, folder]
    for path in SYSTEM_FILES:
        argv += ["--ro-bind-try", path, path]
    return argv
