"""The grader that a suite's venv carries: a copy of lab's stdlib-only modules, so that check.sh needs no lab.

`.venv/grader` is a link to a folder named by its content: a refresh changes the link in one step, and a check
that runs meanwhile goes on with the folder it started from.
"""

from __future__ import annotations

import hashlib
import py_compile
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import lab
from lab.files import write_atomic
from lab.grading.isolation import packaged_bwrap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.layout import SuitePaths

MODULES = ("__init__", "errors", "files", "layout", "process", "tasks", "verdict")

# the last guard: whatever else happens, 1 ("not passed") and 0 are said by the grader alone
MAIN = '''"""Grades one task: python -I -S THIS_FILE TASK_FOLDER WORKDIR [--json]. Made by lab; do not edit."""

import os
import sys

try:
    # resolved, so that a refresh meanwhile does not mix two graders
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    from lab.grading.check import main

    code = int(main(sys.argv[1:]))
    sys.stdout.flush()
except KeyboardInterrupt:
    code = 130
except SystemExit as stop:
    code = stop.code if isinstance(stop.code, int) else 2
except BaseException as error:
    os.write(2, f"could not be graded: the grader failed: {error!r}\\n".encode(errors="replace"))
    code = 2
os._exit(code)  # at once: nothing is left to tidy, and a closed stdout must not change the code
'''


def grader_version() -> str:
    """Lab's version and the first digits of the sha256 of what is carried."""
    return f"{lab.__version__}+{_digest()[:12]}"


def is_carried(paths: SuitePaths) -> bool:
    """Whether the suite's venv carries exactly this lab's grader."""
    link = paths.carried_grader
    try:
        return (
            link.readlink() == Path(_folder_name())
            and (link / "__main__.py").read_text(encoding="utf-8") == MAIN
            and all((link / "lab" / name).read_bytes() == text for name, text in _sources())
            and _is_bwrap_linked(paths)
        )
    except (OSError, ValueError):
        return False


def carry_grader(paths: SuitePaths) -> None:
    """Put this lab's grader into the suite's venv, compiled; raises OSError where the disk refuses."""
    link = paths.carried_grader
    before = link.readlink().name if link.is_symlink() else None
    folder = link.with_name(_folder_name())
    if folder.exists():
        shutil.rmtree(folder)  # left by a refresh that was interrupted
    for name, text in _sources():
        target = folder / "lab" / name
        write_atomic(target, text)
        # unchecked: the source is never changed in place, so its time need not be compared
        py_compile.compile(
            str(target), doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH, quiet=2
        )
    write_atomic(folder / "__main__.py", MAIN)
    fresh = link.with_name(".grader.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(folder.name)
    fresh.replace(link)
    for old in link.parent.glob("grader-*"):
        if old.name not in (folder.name, before):  # a check may still run from the one before
            shutil.rmtree(old)
    if not _is_bwrap_linked(paths):
        _link_bwrap(paths)


def _is_bwrap_linked(paths: SuitePaths) -> bool:
    """Whether check.sh, which sees no package of lab's own Python, finds the bubblewrap that one brought."""
    program = packaged_bwrap()
    return program is None or (paths.carried_bwrap.is_symlink() and paths.carried_bwrap.readlink() == Path(program))


def _link_bwrap(paths: SuitePaths) -> None:
    fresh = paths.carried_bwrap.with_name(".bwrap.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(str(packaged_bwrap()))
    fresh.replace(paths.carried_bwrap)


def _folder_name() -> str:
    return f"grader-{_digest()[:12]}"


def _digest() -> str:
    digest = hashlib.sha256(MAIN.encode())
    for name, text in _sources():
        digest.update(f"\0{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()


def _sources() -> Iterator[tuple[str, bytes]]:
    """Every carried module, by its path inside the package."""
    package = Path(lab.__file__).parent
    grading = sorted(path.relative_to(package).as_posix() for path in (package / "grading").rglob("*.py"))
    for name in (*(f"{module}.py" for module in MODULES), *grading):
        yield name, (package / name).read_bytes()
