"""The bubblewrap command line that an agent runs in: what it sees is listed here, and nothing else is there.

Its own process, network, IPC, host name and mount namespaces and no capability; the work folder and a fresh home to
write to, and memory for /tmp; the system's programs and libraries, the tool's own files and a minimal /etc to read.
Of the network it has its own loopback, on which a relay passes to the recording proxy (`Network.MODEL`), or all that
the host has (`Network.HOST`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.environment import UNATTENDED
from lab.errors import LabError
from lab.files import write_atomic
from lab.grading.isolation import (
    MAX_WHY_CHARS,
    PROBE_CODE,
    PROBE_TIMEOUT_S,
    Isolation,
    Requested,
    bubblewrap,
    choose,
)
from lab.grading.sandbox import SYSTEM_FOLDERS, system_view
from lab.grading.seccomp import key_filter
from lab.process import run
from lab.running import relay
from lab.running.folders import temporary_folders
from lab.running.holder import Network, Start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from lab.proxy.server import Tap
    from lab.running.folders import Folders

WORK, HOME, PRIVATE = "/work", "/home/agent", "/run/lab"
OTHER_WORK = "/agent/work"
"""The work folder where a tool is installed below /work: its files would be mounted into what it works on."""
RELAY = "relay.py"
LAB = Path(relay.__file__).resolve().parents[1]
USER = "1000"
RELAY_PORT = 41117
"""Unlikely to be in the way of a server that an agent starts."""
TMP_BYTES = 1 << 30
SHARED_MEMORY_BYTES = 256 << 20
CERTIFICATES = (
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ca-certificates/extracted",
)
"""Where systems keep the certificates to trust; /etc/ssl/private is not among them."""
NAMES = ("/etc/resolv.conf", "/etc/hosts")
"""What looking up a host takes, where there is a network to look it up in."""
KERNEL_SETTINGS = ("acpi", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
"""Of /proc, what is the machine's and not a process's: where lab runs as root it would be the agent's to write."""
ETC = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nagent:x:{USER}:{USER}:agent:{HOME}:/bin/sh\n",
    "group": f"root:x:0:\nagent:x:{USER}:\n",
    "hosts": "127.0.0.1 localhost lab\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
}
OWN_ENVIRONMENT = {
    "HOME": HOME,
    "TMPDIR": "/tmp",  # noqa: S108
    "USER": "agent",
    "LOGNAME": "agent",
    "SHELL": "/bin/sh",
}
UNHELD = "the tool runs without a sandbox: it could read the hidden tests, other runs and your keys"
DEFAULT_PATH = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin")


@dataclasses.dataclass(frozen=True)
class Sandbox:
    """The view of one tool. Made by `sandbox_for`, which checks the paths."""

    paths: tuple[Path, ...]
    """What it sees read-only beside the system's folders, each at its own place."""
    executable: Path | None
    network: Network
    relayed: bool
    """Whether it reaches a model, through the relay."""
    inside: str = WORK
    """The work folder, as the tool sees it."""
    search: str = ""
    """The user's PATH, of which it gets the folders that it sees."""
    isolation: Isolation = Isolation.BWRAP

    def work(self, folders: Folders) -> str:  # noqa: ARG002
        return self.inside

    def home(self, folders: Folders) -> str:  # noqa: ARG002
        return HOME

    def socket(self, folders: Folders) -> Path | None:
        return folders.socket if self.relayed else None

    def base_url(self, tap: Tap) -> str:
        return f"http://127.0.0.1:{RELAY_PORT}" if self.relayed else tap.base_url

    @contextlib.contextmanager
    def start(self, argv: Sequence[str], environment: Mapping[str, str], folders: Folders) -> Iterator[Start]:
        for name, text in ETC.items():
            write_atomic(folders.private / "etc" / name, text)
        if self.relayed:
            # a copy: lab itself may lie inside the root
            write_atomic(folders.private / RELAY, Path(relay.__file__).read_bytes())
            inside = f"{PRIVATE}/{folders.socket.name}"
            argv = [str(_interpreter()), "-I", "-S", f"{PRIVATE}/{RELAY}", inside, str(RELAY_PORT), "--", *argv]
        given = {**UNATTENDED, **OWN_ENVIRONMENT, "PWD": self.inside, "PATH": self.search_path(), **environment}
        with folders.status.open("wb") as status, key_filter() as (words, filters):
            line = self._bwrap(given, folders, ["--json-status-fd", str(status.fileno()), *words])
            yield Start([*line, *argv], {}, folders.base, (status.fileno(), *filters))

    def fault(self, folders: Folders, stderr: bytes) -> str | None:
        # bubblewrap tells the exit code only of a program that it started
        for line in folders.status.read_bytes().splitlines():
            with contextlib.suppress(ValueError):
                if "exit-code" in json.loads(line):
                    return None
        return _last_line(stderr) or "bubblewrap did not say why"

    def sees(self, path: Path) -> bool:
        """Whether a path of the host, as it is spelled, is there."""
        return any(path.is_relative_to(place) for place in (*map(Path, SYSTEM_FOLDERS), *self.paths))

    def search_path(self) -> str:
        """PATH inside: the folders of the user's own that are there, in its order, the tool's, and the system's."""
        folders = self.search.split(os.pathsep)
        holding = {path.parent for path in self.paths}  # of a lone program only itself is there
        seen = [f for f in folders if f.startswith(os.sep) and (self.sees(Path(f)) or Path(f) in holding)]
        own = [] if self.executable is None else [str(self.executable.parent)]
        return os.pathsep.join(dict.fromkeys([*seen, *own, *DEFAULT_PATH]))

    def _bwrap(self, environment: Mapping[str, str], folders: Folders, more: Sequence[str]) -> list[str]:
        """The command line up to the program that runs inside; raises LabError where bubblewrap is gone."""
        found = bubblewrap()
        if found is None:
            raise LabError("bubblewrap is gone", "See lab doctor")
        options = [option for option in found.options if self.network is Network.MODEL or option != "--unshare-net"]
        line = [found.program, *options, "--unshare-cgroup-try", "--new-session", "--uid", USER, "--gid", USER, *more]
        for name, value in environment.items():
            line += ["--setenv", name, value]
        line += [*system_view(), *_etc(folders, self.network), *_kernel()]
        line += ["--bind", str(folders.work), self.inside, "--bind", str(folders.home), HOME]
        # after /tmp and the home, below which a tool may be installed
        for path in self.paths:
            line += ["--ro-bind", str(path.resolve()), str(path)]
        if self.executable is not None and not self.sees(self.executable):
            line += ["--symlink", str(self.executable.resolve()), str(self.executable)]
        if self.sees(LAB):
            # installed beside the tool, or in the Python that runs the relay: it has answers of the starter suite
            line += ["--size", "4096", "--perms", "0555", "--tmpfs", str(LAB)]
        if self.relayed:
            for file in (folders.socket, folders.private / RELAY):
                line += ["--ro-bind", str(file), f"{PRIVATE}/{file.name}"]
        return [*line, "--remount-ro", "/", "--chdir", self.inside, "--"]


def sandbox_for(
    paths: Iterable[Path],
    executable: Path | None,
    *,
    root: Path,
    network: Network,
    relayed: bool,
    search: str,
) -> Sandbox:
    """A sandbox that shows `paths`; raises LabError where one of them, or a system folder, would show the root."""
    wanted = [*paths, *([_interpreter_folder()] if relayed else [])]
    # a folder that is spelled through a link is there under both names: what leads to it may use either
    places = dict.fromkeys(place for path in wanted for place in (path, path.resolve()))
    system = [Path(folder) for folder in SYSTEM_FOLDERS]
    for place in (*places, *system):
        _refuse_root(place, root.resolve())
    shown: list[Path] = []
    # outer folders first: what lies below them is there already
    for place in sorted(places, key=lambda place: len(place.parts)):
        if not any(place.is_relative_to(folder) for folder in (*system, *shown)):
            shown.append(place)
    below = [place for place in (*shown, executable) if place is not None and place.is_relative_to(WORK)]
    return Sandbox(tuple(shown), executable, network, relayed, OTHER_WORK if below else WORK, search)


def choose_for_agents(
    requested: Requested | str = Requested.AUTO, *, say: Callable[[str], None] | None = None
) -> Isolation:
    """The isolation of the tools; raises LabError where bwrap was asked for by name and cannot hold an agent here.

    `say` gets one line where there is no sandbox: for the code that is graded, too, where that has none.
    """
    graded: list[str] = []
    isolation = choose(requested, say=graded.append)
    why = sandbox_trouble() if isolation is Isolation.BWRAP else None
    if why is not None and requested == Requested.BWRAP:
        raise LabError(f"an agent's sandbox cannot be made here: {why}", "See lab doctor, or use --isolation process")
    if isolation is Isolation.BWRAP and why is None:
        return isolation
    if say is not None:
        trouble = f"; an agent's sandbox cannot be made here ({why}). See lab doctor" if why is not None else ""
        say("; ".join([f"{UNHELD}{trouble}", *graded]))
    return Isolation.PROCESS


@functools.cache
def sandbox_trouble() -> str | None:
    """Why an agent's sandbox cannot be made here, found by making one; None where it could be.

    It takes more than a candidate's: a container may refuse a new /proc.
    """
    sandbox = Sandbox((), None, Network.MODEL, relayed=False)
    try:
        with (
            temporary_folders(None) as folders,
            sandbox.start(["/bin/sh", "-c", f"exit {PROBE_CODE}"], {}, folders) as start,
        ):
            probe = run(start.argv, env={}, cwd="/", timeout_s=PROBE_TIMEOUT_S, pass_fds=start.pass_fds)
    except LabError as error:
        return error.what
    if probe.code == PROBE_CODE:
        return None
    return _last_line(probe.stderr) or f"it ended with code {probe.code}"


def _last_line(stderr: bytes) -> str:
    """The last line of what bubblewrap printed, escaped and cut."""
    lines = stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return "".join(c if c.isprintable() else "?" for c in lines[-1])[:MAX_WHY_CHARS] if lines else ""


def _etc(folders: Folders, network: Network) -> list[str]:
    line = []
    for name in ETC:
        line += ["--ro-bind", str(folders.private / "etc" / name), f"/etc/{name}"]
    for path in (*CERTIFICATES, *(NAMES if network is Network.HOST else ())):
        line += ["--ro-bind-try", path, path]
    return line


def _kernel() -> list[str]:
    line = ["--proc", "/proc"]
    for name in KERNEL_SETTINGS:
        line += ["--ro-bind-try", f"/proc/{name}", f"/proc/{name}"]
    line += ["--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108
    return [*line, "--remount-ro", "/dev", "--size", str(TMP_BYTES), "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108


def _refuse_root(place: Path, root: Path) -> None:
    real = place.resolve()
    if root.is_relative_to(real) or real.is_relative_to(root):
        how = "lies inside" if real.is_relative_to(root) else "holds"
        raise LabError(
            f"the sandbox would show {place}, which {how} the root {root} with the answer key",
            "Move the root or the tool, or use --isolation process",
        )


def _interpreter() -> Path:
    """The Python that runs lab, without its venv, which may lie inside the root: it runs the relay."""
    return _interpreter_folder() / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"


def _interpreter_folder() -> Path:
    return Path(sys.base_prefix)
