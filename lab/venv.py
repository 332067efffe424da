"""The suite's grading venv: built once, under a lock, whole or not at all.

A venv cannot be moved, so it is built in place; `lab-ready.json`, written last, says that it is whole, and what is
found without it is wiped and built again. `python -m lab.venv SUITE_FOLDER` is what check.sh calls.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import fcntl
import hashlib
import importlib.machinery
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.carried_grader import carry_grader, grader_version, is_carried
from lab.environment import installer_variables
from lab.errors import ExitCode, LabError
from lab.files import disk_error, write_atomic
from lab.grading.site import Venv, read_venv, write_venv
from lab.layout import SuitePaths
from lab.process import Completed, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lab.suites.base import Suite

PIP_LIMIT_S = 3600.0
IMPORT_LIMIT_S = 300.0
START_LIMIT_S = 60.0
MAX_LINE_CHARS = 300
# numpy's threads would need address space a grader does not give (see the facts, 11)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def ensure_venv(paths: SuitePaths, suite: Suite, *, say: Callable[[str], None]) -> Venv:
    """The suite's venv, built, repaired or given this lab's grader where it has to be.

    Where it is whole nothing is written, so a read-only root will do. `say` gets a line when there is work to wait
    for. Raises LabError where it cannot be built; what is left of it is wiped at the next call.
    """
    fingerprint = _fingerprint(suite)
    venv = _whole(paths, suite, fingerprint)
    if venv is not None and _is_current(paths, venv):
        return venv
    try:
        with _build_lock(paths, say):
            venv = _whole(paths, suite, fingerprint)  # somebody else may have finished it
            if venv is None:
                say(f"building the grading venv of {suite.name}")
                venv = _build(paths, suite, fingerprint)
            elif not _is_current(paths, venv):
                venv = _finish(paths, venv)
            return venv
    except OSError as error:
        raise disk_error(paths.venv, error) from error


def _fingerprint(suite: Suite) -> str:
    python = f"{platform.python_implementation()} {platform.python_version()} {platform.machine()} {sys.base_prefix}"
    return hashlib.sha256("\0".join([suite.requirements, *suite.imports, python]).encode()).hexdigest()


def _is_current(paths: SuitePaths, venv: Venv) -> bool:
    return venv.grader == grader_version() and is_carried(paths)


@contextlib.contextmanager
def _build_lock(paths: SuitePaths, say: Callable[[str], None]) -> Iterator[None]:
    import filelock  # noqa: PLC0415 -- not needed where the venv is whole

    paths.folder.mkdir(parents=True, exist_ok=True)
    lock = filelock.FileLock(paths.venv_lock)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        say(f"waiting for another lab that builds the grading venv of {paths.name}")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _whole(paths: SuitePaths, suite: Suite, fingerprint: str) -> Venv | None:
    """The venv, where it is there, made from the same things, and undamaged as far as a glance can tell."""
    try:
        venv = read_venv(paths)
        if venv.fingerprint != fingerprint or _run_python(paths, ["-S", "-c", ""], START_LIMIT_S).code != 0:
            return None
        return venv if _is_installed(venv.site_packages, suite.imports) else None
    except (LabError, OSError, ValueError):
        return None


def _is_installed(site_packages: Path, imports: Sequence[str]) -> bool:
    """Whether every import is found, and every installed file has the size that its package recorded."""
    for name in imports:
        if importlib.machinery.PathFinder.find_spec(name.partition(".")[0], [str(site_packages)]) is None:
            return False
    for record in site_packages.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as rows:
            for name, _, size in csv.reader(rows):
                if size and (site_packages / name).stat().st_size != int(size):
                    return False
    return True


def _build(paths: SuitePaths, suite: Suite, fingerprint: str) -> Venv:
    _wipe(paths)
    paths.venv.mkdir()
    with _claim(paths.venv) as claim:
        site_packages = _create(paths)
        if suite.requirements.strip():
            _install(paths, suite.requirements, claim)
        for name in suite.imports:
            done = _run_python(paths, ["-c", f"import {name}"], IMPORT_LIMIT_S)
            if done.code != 0:
                raise LabError(
                    f"the grading venv of {suite.name} cannot import {name}: {_last_line(done)}",
                    "Mend what the message names, then run the command again",
                )
        return _finish(paths, Venv(paths.venv_python, site_packages, Path(sys.base_prefix), fingerprint, grader=""))


def _finish(paths: SuitePaths, venv: Venv) -> Venv:
    """Give the venv this lab's grader, and say that it is whole."""
    carry_grader(paths)
    venv = dataclasses.replace(venv, grader=grader_version())
    write_venv(paths, venv)
    return venv


def _wipe(paths: SuitePaths) -> None:
    if paths.venv.is_symlink() or paths.venv.is_file():
        paths.venv.unlink()
    elif paths.venv.exists():
        with _claim(paths.venv):
            paths.venv_ready.unlink(missing_ok=True)  # first: half a venv must not look whole
            shutil.rmtree(paths.venv)


@contextlib.contextmanager
def _claim(folder: Path) -> Iterator[int]:
    """Wait until nobody works in the folder, then hold it; pip inherits the descriptor.

    The build lock falls when a builder is killed, but the pip it started may go on: this claim falls with pip.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def _create(paths: SuitePaths) -> Path:
    """Make an empty venv of the interpreter under lab, and return its site-packages."""
    import virtualenv  # noqa: PLC0415 -- slow to import, and rarely needed

    with tempfile.TemporaryDirectory() as app_data:
        arguments = [str(paths.venv), "--no-seed", "--no-periodic-update", "--app-data", app_data]
        try:
            # the user's own virtualenv settings are for the user's own venvs
            session = virtualenv.cli_run(arguments, setup_logging=False, env={"VIRTUALENV_CONFIG_FILE": os.devnull})
        except (RuntimeError, SystemExit) as error:
            raise LabError(f"virtualenv could not make {paths.venv}: {error}", "Name another Python to lab") from error
    return Path(str(session.creator.purelib))


def _install(paths: SuitePaths, requirements: str, claim: int) -> None:
    """Install the pinned requirements with the pip that virtualenv carries; none is left in the venv."""
    from virtualenv.seed.wheels.embed import get_embed_wheel  # noqa: PLC0415 -- as above

    listed = paths.venv / "requirements.txt"
    write_atomic(listed, requirements)
    wheel = get_embed_wheel("pip", f"{sys.version_info.major}.{sys.version_info.minor}")
    if wheel is None:
        raise LabError(f"virtualenv carries no pip for Python {platform.python_version()}", "Update virtualenv")
    command: list[str | Path] = [paths.venv_python, "-I", f"{wheel.path}/pip", "install", "--requirement", listed]
    # wheels only: a suite's packages are not to run code of theirs, or to need a compiler, as they are installed
    options = ["--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--no-warn-script-location"]
    if "--hash" in requirements:
        options.append("--require-hashes")
    done = run(
        [*command, *options], env=installer_variables(), cwd=paths.venv, timeout_s=PIP_LIMIT_S, pass_fds=(claim,)
    )
    if done.code != 0:
        why = f"it took more than {PIP_LIMIT_S:.0f} s" if done.timed_out else _last_line(done)
        raise LabError(
            f"pip could not install the grading venv of {paths.name}: {why}",
            "Check the network and pip's index settings, then run the command again",
        )


def _run_python(paths: SuitePaths, arguments: Sequence[str], limit_s: float) -> Completed:
    return run([paths.venv_python, "-I", *arguments], env=ONE_THREAD, cwd=paths.venv, timeout_s=limit_s)


def _last_line(done: Completed) -> str:
    """The last line that says what went wrong: an error of pip's where there is one, else the last at all."""
    text = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    last = (errors or lines or [f"exit code {done.code}"])[-1]
    return "".join(char if char.isprintable() else "?" for char in last)[:MAX_LINE_CHARS].rstrip(".")


def main(arguments: Sequence[str] = ()) -> int:
    """`python -m lab.venv SUITE_FOLDER`: have the suite's venv ready; returns an exit code."""
    from lab.console import warn  # noqa: PLC0415 -- not for importers of ensure_venv
    from lab.error_handler import guard  # noqa: PLC0415
    from lab.suites import get_suite  # noqa: PLC0415

    def action() -> int:
        if len(arguments) != 1:
            raise LabError("one argument is needed", "python -m lab.venv SUITE_FOLDER")
        folder = Path(arguments[0]).resolve()
        ensure_venv(SuitePaths(folder), get_suite(folder.name), say=warn)
        return ExitCode.DONE

    return guard(action)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
