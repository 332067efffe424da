"""A generated suite, with its venv, that every user of the machine can read; and checks run by one who owns nothing.

As root that user is `nobody`; else it is whoever runs the tests.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.carried_grader import carry_grader, grader_version
from lab.grading.site import Venv, write_venv
from lab.tasks import Limits
from tests.generate import tiny

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.layout import SuitePaths

NOBODY = 65534
PYTHONS = ("/usr/bin/python3", "/usr/local/bin/python3", sys.executable)
PROGRAMS = ("bash", "env", "readlink")
OLDEST = "import sys; sys.exit(sys.version_info < (3, 11))"
LIMITS = Limits(case_cpu_s=2, cpu_s=4, wall_s=30, memory_mb=1024, value_bytes=1 << 20)
TASK = "ones-3"
END_LIMIT_S = 120
KILL_LIMIT_S = 5.0


@dataclasses.dataclass(frozen=True)
class Bench:
    """Where an ordinary user checks solutions of `ones-3`: f adds three."""

    folder: Path
    suite: SuitePaths

    @property
    def as_user(self) -> dict[str, Any]:
        """What makes a subprocess that user's."""
        return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}

    @property
    def why_no_bwrap(self) -> str | None:
        """Why bubblewrap does not run for that user; None where it does."""
        code = "from lab.grading.isolation import bwrap_trouble; print(bwrap_trouble() or '')"
        done = subprocess.run(
            [self.suite.venv_python, "-S", "-c", code],
            env={"PATH": os.defpath, "PYTHONPATH": str(self.suite.carried_grader)},
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
            **self.as_user,
        )
        return done.stdout.strip() or None

    def check(self, source: str, *, with_bwrap: bool) -> subprocess.CompletedProcess[str]:
        """Run check.sh, on a machine with bubblewrap on its PATH or without."""
        work = Path(tempfile.mkdtemp(dir=self.folder))
        work.chmod(0o755)
        (work / "solution.py").write_text(source)
        path = f"{self.folder}/bin" + (f":{os.defpath}" if with_bwrap else "")
        return subprocess.run(
            [self.suite.task(TASK).check, work, "--json"],
            env={"PATH": path},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=END_LIMIT_S,
            check=False,
            **self.as_user,
        )

    def left(self) -> list[str]:
        """Command lines of what still runs of this bench, after the moment that the kernel takes to end it."""
        until = time.monotonic() + KILL_LIMIT_S
        while (found := self._processes()) and time.monotonic() < until:
            time.sleep(0.05)
        return found

    def _processes(self) -> list[str]:
        found = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes().decode(errors="replace") if entry.name.isdigit() else ""
                if str(self.folder) in line and entry.name != str(os.getpid()):
                    found.append(line)
        return found


@contextlib.contextmanager
def make_bench() -> Iterator[Bench]:
    """Make one in /tmp: pytest's own folders are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="lab-bench-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        root = folder / "root"
        root.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            tiny.fake_grading(patch)
            patch.setattr("lab.generate.generation.limits_from", lambda _measured: LIMITS)
            rows = tiny.write_rows(folder / "rows", [tiny.good_row(3)], [tiny.good_row(1, "Two")])
            tiny.run(root, rows, every=True)
        bench = Bench(folder, tiny.suite_paths(root))
        (folder / "bin").mkdir()
        for program in PROGRAMS:
            (folder / "bin" / program).symlink_to(shutil.which(program) or "")
        _make_venv(bench)
        yield bench
    finally:
        shutil.rmtree(folder)


def _make_venv(bench: Bench) -> None:
    """A venv of a Python that the ordinary user can run too; pyenv's may lie in a home that is closed to others."""
    python = next((python for python in PYTHONS if _runs(python, bench)), None)
    if python is None:
        pytest.skip("no Python here, 3.11 or newer, can be run by an ordinary user")
    paths = bench.suite
    subprocess.run([python, "-I", "-m", "venv", "--without-pip", paths.venv], check=True, capture_output=True)
    (site_packages,) = paths.venv.glob("lib/python3*/site-packages")
    prefix = subprocess.run(
        [python, "-I", "-c", "import sys; print(sys.base_prefix, end='')"], check=True, capture_output=True, text=True
    ).stdout
    carry_grader(paths)
    write_venv(paths, Venv(paths.venv_python, site_packages, Path(prefix), "made", grader_version()))


def _runs(python: str, bench: Bench) -> bool:
    try:
        return subprocess.run([python, "-I", "-c", OLDEST], cwd="/", check=False, **bench.as_user).returncode == 0
    except OSError:
        return False
