from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from lab.grading.usage import MAX_SEEN, Usage, first_child, folder_bytes, peak_mb, tree_usage, user_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOBODY = 2**22 + 1
"""Beyond the kernel's largest process id."""
WAIT = "import sys; print(1, flush=True); sys.stdin.read()"
NAMED = "open('/proc/self/comm', 'w').write(') R 1 2 3 (x'); "
BURN = "import time\nwhile time.process_time() < 0.4: pass\n"
# a child that has ended and was waited for, and one that lives
TREE = f"""
import subprocess, sys
subprocess.run([sys.executable, "-c", {BURN!r}])
kept = subprocess.Popen([sys.executable, "-c", {BURN + WAIT!r}], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
kept.stdout.readline()
{WAIT}
kept.stdin.close()
kept.wait()
"""
HOLDS = f"held = bytearray(64 << 20); {WAIT}"


@pytest.fixture
def started() -> Iterator[Callable[[str], int]]:
    """Starts a program and waits until it says it is there; all end with the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def start(source: str) -> int:
        process = subprocess.Popen(
            [sys.executable, "-c", source], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        processes.append(process)
        assert process.stdout is not None
        assert process.stdout.readline()
        return process.pid

    yield start
    for process in processes:
        process.communicate(timeout=60)


def test_the_cpu_time_of_children_counts_dead_and_alive(started: Callable[[str], int]) -> None:
    usage = tree_usage(started(TREE))
    assert usage.cpu_s >= 0.75
    assert usage.processes == 2


def test_a_name_cannot_shift_the_fields(started: Callable[[str], int]) -> None:
    plain, named = tree_usage(started(WAIT)), tree_usage(started(NAMED + WAIT))
    assert named.processes == plain.processes == 1
    assert 0 < named.resident_mb < 100
    assert named.cpu_s < 5


def test_memory_is_in_mib(started: Callable[[str], int]) -> None:
    pid = started(HOLDS)
    assert 64 <= tree_usage(pid).resident_mb < 200
    assert peak_mb(pid) >= tree_usage(pid).resident_mb - 1


def test_the_peak_stays(started: Callable[[str], int]) -> None:
    pid = started(f"held = bytearray(64 << 20); del held; {WAIT}")
    assert peak_mb(pid) >= 64 > tree_usage(pid).resident_mb


def test_threads_are_counted(started: Callable[[str], int]) -> None:
    source = "import threading, time; [threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    pid = started(f"{source} for _ in range(5)]; {WAIT}")
    usage = tree_usage(pid)
    assert (usage.processes, usage.threads) == (1, 6)
    assert user_tasks(os.getuid()) >= 6


def test_what_is_gone_is_nothing() -> None:
    assert tree_usage(NOBODY) == Usage()
    assert peak_mb(NOBODY) == 0
    assert first_child(NOBODY) is None


def test_the_first_child(started: Callable[[str], int]) -> None:
    pid = started(TREE)
    child = first_child(pid)
    assert child is not None
    assert tree_usage(child).processes == 1
    assert first_child(child) is None


def test_a_storm_is_looked_at_no_longer_than_needed(
    monkeypatch: pytest.MonkeyPatch, started: Callable[[str], int]
) -> None:
    assert MAX_SEEN > 128
    monkeypatch.setattr("lab.grading.usage.MAX_SEEN", 1)
    assert tree_usage(started(TREE)).processes == 1


def test_files_take_whole_pages_and_links_are_not_followed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "out"
    (folder / "deep").mkdir(parents=True)
    outside.write_bytes(bytes(1 << 20))
    (folder / "deep" / "small").write_bytes(b"x")
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    assert 3 * 4096 <= folder_bytes(str(folder), 1 << 30) < 100_000
    (folder / "big").write_bytes(os.urandom(1 << 20))
    assert folder_bytes(str(folder), 1 << 30) >= 1 << 20
    with (folder / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert folder_bytes(str(folder), 1 << 30) < 1 << 22
    assert folder_bytes(str(tmp_path / "nothing"), 1) == 0


def test_counting_files_ends_at_enough(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / str(number)).touch()
    started_at = time.perf_counter()
    assert 10 * 4096 <= folder_bytes(str(tmp_path), 10 * 4096) < 12 * 4096
    assert time.perf_counter() - started_at < 5
