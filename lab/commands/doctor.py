"""`lab doctor`: what this machine can and cannot do, and what to install."""

from __future__ import annotations

import dataclasses
import locale
import os
import platform
import shutil
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from lab import __version__
from lab.carried_grader import grader_version
from lab.console import print_json, print_line
from lab.errors import ExitCode, LabError
from lab.grading.isolation import Isolation
from lab.grading.site import read_venv
from lab.grading.usage import folder_bytes
from lab.machine import UNTESTED, Advice, Machine, advise, look
from lab.running.agent_sandbox import sandbox_trouble

if TYPE_CHECKING:
    from pathlib import Path

    from lab.environment import Environment
    from lab.layout import Root, SuitePaths

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class DoctorOptions:
    """The options of `lab doctor`."""

    as_json: bool = False


def doctor(root: Root, environment: Environment, options: DoctorOptions) -> ExitCode:
    """Print what was found here, and the one command that would better it. It changes nothing, and builds nothing."""
    machine = look()
    advice = advise(machine)
    agents = sandbox_trouble()
    found: dict[str, Any] = {
        "lab": __version__,
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "locale": f"{locale.setlocale(locale.LC_CTYPE)}, {locale.getpreferredencoding(do_setlocale=False)}",
        "root": str(root.folder),
        "free_mb": _free_mb(root.folder),
        "scratch_free_mb": _free_mb(tempfile.gettempdir()),
        "cores": os.cpu_count(),
        "jobs": environment.jobs,
        "isolation": machine.isolation.value,
        "agents": {
            "isolation": (Isolation.BWRAP if agents is None else Isolation.PROCESS).value,
            "why_no_sandbox": agents,
        },
        "bwrap": {
            "runs": machine.bwrap_trouble is None,
            "version": machine.bwrap_version,
            "program": machine.bwrap,
            "why_not": machine.bwrap_trouble,
        },
        "user_namespaces": machine.user_namespaces or "not restricted by a setting",
        "groups": machine.groups,
        "venvs": {paths.name: _venv_state(paths) for paths in root.suites()},
        "advice": None if advice is None else dataclasses.asdict(advice),
    }
    if options.as_json:
        print_json(found)
    else:
        for line in _lines(found, machine, advice):
            print_line(line)
    return ExitCode.DONE


def _lines(found: dict[str, Any], machine: Machine, advice: Advice | None) -> list[str]:
    held = "limits only" if machine.bwrap_trouble else "namespaces of its own"
    groups = "watched, every 50 ms" if machine.groups == "none" else f"by the kernel, {machine.groups}"
    lines = [
        f"lab: {found['lab']}",
        f"python: {found['python']} ({found['executable']})",
        f"system: {found['system']}",
        f"locale: {found['locale']}",
        f"root: {found['root']}, {found['free_mb']} MiB free",
        f"scratch folders: {tempfile.gettempdir()}, {found['scratch_free_mb']} MiB free",
        f"cores: {found['cores']}; {found['jobs']} jobs at once",
        f"isolation of graded code: {found['isolation']} ({held})",
        f"isolation of agents: {_agents_state(found['agents'])}",
        f"bubblewrap: {_bwrap_state(machine)}",
        f"user namespaces: {found['user_namespaces']}",
        f"memory of all of a candidate: {groups}",
    ]
    lines += [f"grading venv of {name}: {state}" for name, state in found["venvs"].items()]
    if advice is None:
        return [
            *lines,
            "nothing to install to hold code: this machine offers all that lab can use. Agents: see lab tools",
        ]
    lines.append(f"to do better: {advice.why}")
    if advice.command is not None:
        lines.append(f"  {advice.command}" + ("" if advice.is_tested else f"   ({UNTESTED})"))
    return lines


def _agents_state(agents: dict[str, Any]) -> str:
    why = agents["why_no_sandbox"]
    held = "a sandbox of their own" if why is None else f"no sandbox: {why}"
    return f"{agents['isolation']} ({held})"


def _bwrap_state(machine: Machine) -> str:
    name = f"{machine.bwrap_version or 'of unknown version'} ({machine.bwrap})"
    if machine.bwrap is None:
        return "not installed"
    return f"{name} runs" if machine.bwrap_trouble is None else f"{name} does not run: {machine.bwrap_trouble}"


def _free_mb(folder: Path | str) -> int:
    try:
        return shutil.disk_usage(folder).free // MIB
    except OSError:
        return 0


def _venv_state(paths: SuitePaths) -> str:
    if not paths.venv.exists():
        return "not built; the next lab gen, run or check builds it"
    try:
        venv = read_venv(paths)
    except LabError as error:
        return f"not whole ({error.what}); the next lab gen, run or check repairs it"
    if not venv.python.exists():
        return "its Python is gone; the next use repairs it"
    if venv.grader != grader_version():
        return f"ready, with the grader {venv.grader} of another lab; the next use renews it"
    return f"ready, grader {venv.grader}, {folder_bytes(str(paths.venv), sys.maxsize) // MIB} MiB"
