"""`lab doctor`: what this machine can and cannot do, and what to install."""

from __future__ import annotations

import dataclasses
import os
import platform
import sys
from typing import TYPE_CHECKING, Any

from lab import __version__
from lab.console import print_json, print_line
from lab.errors import ExitCode, LabError
from lab.grading.isolation import bwrap_trouble, choose
from lab.grading.site import read_venv

if TYPE_CHECKING:
    from lab.environment import Environment
    from lab.layout import Root, SuitePaths


@dataclasses.dataclass(frozen=True)
class DoctorOptions:
    """The options of `lab doctor`."""

    as_json: bool = False


def doctor(root: Root, environment: Environment, options: DoctorOptions) -> ExitCode:
    """Print what was found here. It changes nothing, and builds nothing."""
    trouble = bwrap_trouble()
    found: dict[str, Any] = {
        "lab": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "root": str(root.folder),
        "cores": os.cpu_count(),
        "jobs": environment.jobs,
        "isolation": choose("auto").value,
        "bwrap": "runs" if trouble is None else f"does not run: {trouble}",
        "venvs": {paths.name: _venv_state(paths) for paths in root.suites()},
    }
    if options.as_json:
        print_json(found)
        return ExitCode.DONE
    venvs = found.pop("venvs")
    for name, value in found.items():
        print_line(f"{name}: {value}")
    for name, state in venvs.items():
        print_line(f"grading venv of {name}: {state}")
    if trouble is not None:
        print_line("for stronger isolation install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)")
    return ExitCode.DONE


def _venv_state(paths: SuitePaths) -> str:
    if not paths.venv.exists():
        return "not built; the next lab gen, run or check builds it"
    try:
        venv = read_venv(paths)
    except LabError as error:
        return f"not whole ({error.what}); the next lab gen, run or check repairs it"
    return f"ready, grader {venv.grader}" if venv.python.exists() else "its Python is gone; the next use repairs it"
