from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.grading import cgroup
from lab.grading.cgroup import Group, Place, find_place
from lab.verdict import Status
from tests.grading.exams import LEVELS, LIMITS, exam, graded, job, pool_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.grading.isolation import Isolation
    from tests.attacks.ground import Ground

MIB = 1 << 20
END_LIMIT_S = 5.0
ENTER = "import os, sys\nfor number in sys.argv[1:]: os.write(int(number), b'0')\n"
needs_groups = pytest.mark.skipif(cgroup.place() is None, reason="this user may make no control groups here")


@pytest.fixture
def group() -> Iterator[Group]:
    made = cgroup.take()
    assert made is not None
    yield made
    made.release()
    cgroup.remove_all()
    assert not Path(made.memory).exists()
    assert not Path(made.pids).exists()


def start(group: Group, code: str) -> subprocess.Popen[bytes]:
    """A Python that enters the group and does something there; it leads a session of its own."""
    entrances = group.entrances()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", ENTER + code, *map(str, entrances)],
        pass_fds=entrances,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    for entrance in entrances:
        os.close(entrance)
    return process


@needs_groups
def test_memory_of_all_processes_is_one_sum(group: Group) -> None:
    # no process of the four is over the limit, nor has any page that counts as its own: the kernel counts all the same
    group.limit(64 * MIB, 100)
    code = (
        "for _ in range(3): os.fork()\nfile = os.memfd_create('x')\nfor _ in range(32): os.write(file, bytes(1 << 20))"
    )
    with start(group, code) as process:
        process.wait(END_LIMIT_S)
    assert group.ran_out_of_memory()
    assert not group.ran_out_of_tasks()


@needs_groups
def test_processes_and_threads_are_one_number(group: Group) -> None:
    group.limit(256 * MIB, 20)
    code = (
        "import _thread, time\nlock = _thread.allocate_lock(); lock.acquire(); os.fork(); made = 0\n"
        "try:\n    for made in range(30): _thread.start_new_thread(lock.acquire, ())\n"
        "except RuntimeError: print(made, flush=True)\ntime.sleep(0.3)"
    )
    with start(group, code) as process:
        assert process.stdout is not None
        assert sum(map(int, process.stdout.read().split())) <= 20
    assert group.ran_out_of_tasks()
    assert not group.ran_out_of_memory()


@needs_groups
def test_within_its_limits_nothing_is_said(group: Group) -> None:
    group.limit(256 * MIB, 20)
    with start(group, "kept = bytes(64 << 20)") as process:
        assert process.wait(END_LIMIT_S) == 0
    assert not group.ran_out_of_memory()
    assert not group.ran_out_of_tasks()


@needs_groups
def test_a_daemon_is_killed_with_its_group() -> None:
    group = cgroup.take()
    assert group is not None
    code = (
        "import signal, time\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n        print(os.getpid(), flush=True)\n"
        "        time.sleep(60)\n    os._exit(0)\nos.wait()"
    )
    with start(group, code) as process:
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        process.wait(END_LIMIT_S)
        assert alive(daemon)
        group.release()
        cgroup.remove_all()
    assert not alive(daemon)
    assert not Path(group.pids).exists()


@needs_groups
@pytest.mark.parametrize("is_gone", [True, False])
def test_the_groups_of_a_lab_that_was_killed_are_removed(*, is_gone: bool) -> None:
    place = cgroup.place()
    assert place is not None
    with subprocess.Popen(["sleep", "60"]) as owner:
        namespace = Path("/proc/self/ns/pid").stat().st_ino
        folders = [Path(folder, f"lab-{namespace}-{owner.pid}-0") for folder in place.folders]
        foreign = [Path(folder, f"lab-{namespace + 1}-{owner.pid}-0") for folder in place.folders]
        for folder in (*folders, *foreign):
            folder.mkdir()
        try:
            if is_gone:
                owner.kill()
                owner.wait()
            cgroup.place.cache_clear()
            assert cgroup.place() == place
            assert [folder.exists() for folder in folders] == [not is_gone] * len(folders)
            # whose number means another process there, or none
            assert all(folder.exists() for folder in foreign)
        finally:
            owner.kill()
            for folder in (*folders, *foreign):
                if folder.exists():
                    folder.rmdir()


@needs_groups
def test_a_group_costs_less_than_a_millisecond() -> None:
    took = []
    for _ in range(30):
        start_s = time.thread_time()
        group = cgroup.take()
        assert group is not None
        for entrance in group.entrances():
            os.close(entrance)
        group.limit(1 << 30, 100)
        assert not group.ran_out_of_memory()
        assert not group.ran_out_of_tasks()
        group.release()
        took.append(time.thread_time() - start_s)
    cgroup.remove_all()
    assert sorted(took)[len(took) // 2] < 0.001


# ---- candidates

FORKED = """import os, time
kept = []
def f(x):
    for _ in range(6):
        if os.fork() == 0:
            kept.append(bytes(b"x" * (300 << 20)))
            time.sleep(60)
    time.sleep(5)
    return x
"""
NAMELESS = """import os
def f(x):
    for _ in range(40):
        file = os.memfd_create("x")
        for _ in range(60): os.write(file, bytes(1 << 20))
    return x
"""


@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_memory_of_children_counts(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        assert graded(pool, job(FORKED)).status is Status.MEMORY


@needs_groups
@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_memory_that_no_process_has_mapped_counts(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(NAMELESS))
        assert verdict.status is Status.MEMORY
        assert f"{LIMITS.memory_mb} MiB" in verdict.reason
        assert graded(pool, job()).passed
    assert own_groups() == []


@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_without_control_groups_candidates_are_watched(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "place", lambda: None)
    with pool_of(ground, level) as pool:
        assert graded(pool, job()).passed
        assert graded(pool, job(FORKED)).status is Status.MEMORY


@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_a_group_that_cannot_be_made_or_entered_harms_nobody(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = iter(range(100))

    class Odd(Group):
        """Its folders are ordinary ones, so that nothing in them is a control file."""

        def entrances(self) -> list[int]:
            return [os.open(os.devnull, os.O_RDONLY)]

    def take() -> Group | None:
        number = next(made)
        if number % 2:
            return None
        return Odd(Place(str(tmp_path), str(tmp_path)))

    monkeypatch.setattr(cgroup, "take", take)
    with pool_of(ground, level) as pool:
        for _ in range(4):
            assert graded(pool, job(of=exam(limits=dataclasses.replace(LIMITS, wall_s=60)))).passed
    assert list(tmp_path.iterdir()) == []


@needs_groups
@pytest.mark.parametrize("level", LEVELS, indirect=True)
def test_no_group_is_left_behind(ground: Ground, level: Isolation) -> None:
    daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\ndef f(x): return x\n"
    with pool_of(ground, level, jobs=2) as pool:
        for future in [pool.submit(job(*[daemon] * 3)) for _ in range(3)]:
            future.result(60)
    assert own_groups() == []


def own_groups() -> list[str]:
    place = cgroup.place()
    assert place is not None
    return [name for folder in place.folders for name in os.listdir(folder) if f"-{os.getpid()}-" in name]  # noqa: PTH208


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"


# ---- where groups would be made


@dataclasses.dataclass(frozen=True)
class Tree:
    """A file system like that of control groups."""

    mount: Path

    def add(self, path: str, *, ours: bool = False, **files: str) -> None:
        folder = self.mount / path
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.procs").write_text(f"1\n{os.getpid()}\n" if ours else "1\n")
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)

    def find(self, own: str) -> Place | None:
        path = self.mount / "own"
        path.write_text(own)
        return find_place(str(self.mount), str(path))

    def place(self, *paths: str) -> Place:
        folders = [str(self.mount / path) if path else str(self.mount) for path in paths]
        return Place(folders[0], folders[-1])


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


V1 = "9:name=systemd:/\n8:pids:/a\n4:memory:/b/c\n0::/\n"


def test_version_1_is_below_labs_own_group(tree: Tree) -> None:
    tree.add("pids/a", ours=True)
    tree.add("memory/b/c", ours=True)
    assert tree.find(V1) == tree.place("memory/b/c", "pids/a")
    assert not tree.place("memory/b/c", "pids/a").unified


def test_in_a_container_the_path_may_be_the_hosts(tree: Tree) -> None:
    tree.add("pids", ours=True)
    tree.add("memory", ours=True)
    assert tree.find(V1) == tree.place("memory", "pids")


def test_a_group_that_lab_is_not_in_is_not_taken(tree: Tree) -> None:
    tree.add("pids/a", ours=True)
    tree.add("memory/b/c")
    assert tree.find(V1) is None


BOTH = "cpu io memory pids"
OWN = "0::/user.slice/lab.scope\n"


@pytest.mark.parametrize(
    ("own_control", "own_limit", "parent_control", "expected"),
    [
        ("", "max", BOTH, "user.slice"),  # what a session of systemd's is like
        ("", "max", "memory", None),
        ("", "max", "", None),
        ("", "1073741824", BOTH, None),  # beside it the limit that was set for lab would not hold
        ("", None, BOTH, None),
        (BOTH, "1073741824", "", "user.slice/lab.scope"),
    ],
)
def test_version_2_is_where_both_controllers_work(
    tree: Tree, own_control: str, own_limit: str | None, parent_control: str, expected: str | None
) -> None:
    tree.add("", cgroup__subtree_control=BOTH)
    tree.add("user.slice", cgroup__subtree_control=parent_control)
    limit = {} if own_limit is None else {"memory__max": own_limit}
    tree.add("user.slice/lab.scope", ours=True, cgroup__subtree_control=own_control, **limit)
    assert tree.find(OWN) == (None if expected is None else tree.place(expected))


@pytest.mark.parametrize(("control", "expected"), [(BOTH, ""), ("cpu", None)])
def test_version_2_at_the_root(tree: Tree, control: str, expected: str | None) -> None:
    tree.add("", ours=True, cgroup__subtree_control=control, memory__max="max")
    (tree.mount.parent / "cgroup.subtree_control").write_text(BOTH)
    found = tree.find("0::/\n")
    assert found == (None if expected is None else tree.place(expected))
    assert found is None or found.unified


def test_nothing_is_taken_where_making_is_refused(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "find_place", lambda: Place(f"{tree.mount}/gone", f"{tree.mount}/gone"))
    cgroup.place.cache_clear()
    try:
        assert cgroup.take() is None
    finally:
        cgroup.place.cache_clear()
