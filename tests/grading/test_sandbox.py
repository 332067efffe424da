from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.grading import scratch
from lab.grading.isolation import NO_MORE_NAMESPACES, Isolation, bubblewrap
from lab.grading.owner import owner
from lab.grading.sandbox import start_candidate
from lab.grading.usage import folder_bytes, tree_usage
from lab.tasks import Limits
from lab.verdict import Status
from tests.grading.exams import LEVELS, exam, graded, job, pool_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.ground import Ground

INSIDE = Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
KEPT_S = 30


def _call(ground: Ground, *, channels: int, is_judge: bool = False) -> str:
    shared = [str(ground.venv.base_prefix), str(ground.venv.folder)]
    return f"findings({shared!r}, channels={channels}, is_judge={is_judge})"


def _expected() -> list[str]:
    """What an older bubblewrap cannot refuse."""
    found = bubblewrap()
    return [] if found and NO_MORE_NAMESPACES in found.options else ["made namespaces"]


@pytest.mark.sandbox
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
def test_a_candidate_sees_no_packages_but_the_venvs(ground: Ground, level: Isolation) -> None:
    """Where lab is installed in the base Python, the answers of its starter suite lie there."""
    prefixes = dict.fromkeys((str(ground.venv.base_prefix), "/usr", "/usr/local"))
    folders = [str(path) for prefix in prefixes for path in Path(prefix).glob("lib/python3*/*-packages")]
    assert any(list(Path(folder).iterdir()) for folder in folders), "there is nothing to hide here"
    source = f"import os\ndef f(x):\n    return [name for folder in {folders!r} for name in os.listdir(folder)]\n"
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(source, of=exam("exp = []\nassert f(0) == exp\n", cases=1, limits=_patient())))
    assert verdict.status is Status.PASS, verdict.reason


@pytest.mark.sandbox
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
def test_a_candidate_reaches_the_allow_list_and_no_more(ground: Ground, level: Isolation) -> None:
    source = f"{INSIDE}\ndef f(x):\n    return {_call(ground, channels=2)}\n"
    test = f"exp = {_expected()!r}\nassert f(0) == exp\n"
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(source, of=exam(test, cases=1, limits=_patient())))
    assert verdict.status is Status.PASS, verdict.reason


@pytest.mark.sandbox
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
def test_a_judge_reaches_the_allow_list_and_no_more(ground: Ground, level: Isolation) -> None:
    # its two pipes to the candidate, its socket and its lines to the supervisor, and their copies for the next task
    call = _call(ground, channels=6, is_judge=True)
    test = f"{INSIDE}\nexp = {_expected()!r}\nassert f({call}) == exp\n"
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(of=exam(test, cases=1, limits=_patient())))
    assert verdict.status is Status.PASS, verdict.reason


def _patient() -> Limits:
    return Limits(case_cpu_s=20, cpu_s=20, wall_s=60, memory_mb=1024, value_bytes=1 << 20)


@pytest.mark.parametrize("level", LEVELS, indirect=True)
@pytest.mark.parametrize(
    ("limit", "at_most"), [("NOFILE", 1024), ("FSIZE", 64 << 20), ("CORE", 0), ("AS", 1 << 30), ("NPROC", 1 << 22)]
)
def test_limits_that_a_process_cannot_raise(ground: Ground, level: Isolation, limit: str, at_most: int) -> None:
    source = f"import resource\ndef f(x):\n    return max(resource.getrlimit(resource.RLIMIT_{limit}))\n"
    with pool_of(ground, level, warm=False) as pool:
        test = f"exp = range({at_most + 1})\nassert f(0) in exp\n"
        assert graded(pool, job(source, of=exam(test, cases=1))).status is Status.PASS


FILES = "def f(x):\n    for n in range(4):\n        with open(str(n), 'wb') as file: file.write(bytes(40 << 20))\n"


@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_scratch_space_is_sized(ground: Ground, level: Isolation) -> None:
    # a sandbox's file system is full; elsewhere it is seen a moment later
    source = f"import time\n{FILES}    time.sleep(3)\n    return x\n"
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(source))
    assert verdict.status is Status.ERROR
    assert "No space left" in verdict.reason or "64 MiB" in verdict.reason


@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_threads_count_as_well_as_processes(ground: Ground, level: Isolation) -> None:
    source = (
        "import _thread, time\n_thread.stack_size(32768)\nlock = _thread.allocate_lock()\nlock.acquire()\n"
        "def f(x):\n    for _ in range(700): _thread.start_new_thread(lock.acquire, ())\n"
        "    time.sleep(3)\n    return x\n"
    )
    with pool_of(ground, level) as pool:
        assert graded(pool, job(source)).status is Status.ERROR


def test_children_of_every_thread_are_seen() -> None:
    code = (
        "import os, threading, time\n"
        f"def child():\n    if os.fork() == 0: time.sleep({KEPT_S}); os._exit(0)\n"
        "threads = [threading.Thread(target=child) for _ in range(3)]\n"
        "[t.start() for t in threads]\n"
        "hold = threading.Thread(target=lambda: (child(), time.sleep(100))); hold.start()\n"
        f"time.sleep(0.5); print('ready', flush=True); time.sleep({KEPT_S})"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            usage = tree_usage(process.pid)
            assert usage.processes == 5
            assert usage.threads == 6
        finally:
            os.killpg(process.pid, 9)


# ---- scratch folders


def _deep(folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)
    try:
        for _ in range(1200):  # deeper than Python recurses, and than a path may be long
            Path("d" * 50).mkdir()
            os.chdir("d" * 50)
    finally:
        os.chdir(here)


def _locked(folder: Path) -> None:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").touch()
    for path in (folder / "a" / "b", folder / "a", folder):
        path.chmod(0)


def _links(folder: Path) -> None:
    (folder / "file").symlink_to(folder.parent / "kept")
    (folder / "folder").symlink_to(folder.parent)
    (folder / "a").mkdir()
    (folder / "a" / "up").symlink_to("../..")


def _odd_names(folder: Path) -> None:
    (folder / os.fsdecode(b"\xff\n")).mkdir()
    (folder / "lab-0" / "lab-1" / "lab-0").mkdir(parents=True)
    os.mkfifo(folder / "lab-0" / "lab-2")


def _replaced(folder: Path) -> None:
    folder.rmdir()
    folder.symlink_to(folder.parent)


@pytest.mark.parametrize("fill", [_deep, _locked, _links, _odd_names, _replaced, shutil.rmtree])
def test_a_scratch_folder_is_removed_and_nothing_beside_it(
    fill: Callable[[Path], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    kept = tmp_path / "kept"
    kept.write_text("kept")
    kept.chmod(0o640)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = scratch.make()
    fill(Path(folder))
    for _ in range(2):  # twice is once
        scratch.remove(folder)
        assert [path.name for path in tmp_path.iterdir()] == ["kept"]
        # as root a wrong chmod here once locked everybody out of /tmp
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
        assert (stat.S_IMODE(kept.stat().st_mode), kept.read_text()) == (0o640, "kept")


def test_what_a_killed_lab_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    namespace, pid = owner().split("-")
    left = tmp_path / f"lab-scratch-{namespace}-{gone.pid}-abc"
    others = [
        f"lab-scratch-{namespace}-{pid}-abc",
        f"lab-scratch-{int(namespace) + 1}-{gone.pid}-abc",
        "lab-scratch-abc",
    ]
    for name in (left.name, *others):
        (tmp_path / name / "deep").mkdir(parents=True)
    scratch._remove_left_behind.cache_clear()
    made = Path(scratch.make())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*others, made.name])


def test_an_ended_candidate_leaves_no_scratch_folder(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    read, write = os.pipe()
    held = start_candidate(Isolation.PROCESS, ground.venv, (read, write, read))
    assert list(tmp_path.iterdir())
    for _ in range(2):
        held.end()
        assert not list(tmp_path.iterdir())
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    os.close(read)
    os.close(write)


def test_folder_bytes_stops_where_it_is_enough(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}").write_bytes(bytes(1 << 16))
    (tmp_path / "link").symlink_to("/usr")
    everything = folder_bytes(str(tmp_path), 1 << 40)
    assert 20 << 16 <= everything <= 30 << 16
    assert 1 << 17 <= folder_bytes(str(tmp_path), 1 << 17) < everything
    assert folder_bytes(str(tmp_path / "gone"), 1) == 0
