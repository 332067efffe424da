from __future__ import annotations

import contextlib
import errno
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.errors import LabError
from lab.files import disk_error, replace_folder, write_atomic
from lab.generate.exclusive import exclusive
from lab.generate.proof import prove_all
from lab.grading.exam import load_exam
from lab.tasks import read_lock, read_lock_entry, read_task
from tests.generate.tiny import (
    InProcessPool,
    fake_grading,
    good_row,
    names,
    row,
    run,
    snapshot,
    suite_paths,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    from lab.suites.base import Row

BROKEN = row("One/3", "assert f(1) == 3\n", "def f(x):\n    return x + 1\n")
SEVEN = row("One/4", "assert f(1) == 7\n", "def f(x):\n    return 7\n")
NO_TEST = row("One/5", "", "")
TOO_LARGE = row("One/6", "assert f(1) == 2\n", "def f(x):\n    return x + 1\n" + "#" * (1 << 20))


def ones(count: int) -> list[Row]:
    return [good_row(number) for number in range(count)]


def twos(count: int) -> list[Row]:
    return [good_row(number, "Two") for number in range(count)]


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text())


@pytest.fixture
def pools(monkeypatch: pytest.MonkeyPatch) -> list[InProcessPool]:
    return fake_grading(monkeypatch)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "rows", ones(12), twos(3))


def test_the_first_generation_takes_eight_of_each_dataset(
    tmp_path: Path, source: Path, pools: list[InProcessPool]
) -> None:
    outcome = run(tmp_path, source)
    expected = [f"ones-{number}" for number in range(8)] + ["twos-0", "twos-1", "twos-2"]
    assert list(outcome.written) == expected
    assert list(read_lock(suite_paths(tmp_path))) == expected
    assert outcome.total == 11
    for name in expected:
        task = read_task(suite_paths(tmp_path), name)
        assert (task.cases, task.limits.cpu_s) == (2, 10)
        assert load_exam(suite_paths(tmp_path), name).task == task


def test_again_is_quick_and_changes_nothing(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    before = snapshot(suite_paths(tmp_path).folder)
    again = run(tmp_path, write_rows(tmp_path / "copy", ones(12), twos(3)))
    assert snapshot(suite_paths(tmp_path).folder) == before
    assert len(again.unchanged) == 11
    assert len(pools) == 1, "nothing was proven twice"
    run(tmp_path, source, fresh=True)
    assert len(pools) == 2


def test_the_same_rows_give_the_same_lock_however_they_came(
    tmp_path: Path, source: Path, pools: list[InProcessPool]
) -> None:
    run(tmp_path / "a", source, every=True)
    run(tmp_path / "b", source, datasets=("twos",))
    run(tmp_path / "b", source, limit=1, datasets=("ones",))
    shuffled = write_rows(tmp_path / "other", list(reversed(ones(12))), list(reversed(twos(3))))
    run(tmp_path / "b", shuffled, every=True)
    locks = [suite_paths(tmp_path / root).lock.read_bytes() for root in ("a", "b")]
    assert locks[0] == locks[1]
    text = locks[0].decode()
    assert text.index("[tasks.ones-2]") < text.index("[tasks.ones-10]") < text.index("[tasks.twos-0]")
    entry = read_lock_entry(suite_paths(tmp_path / "a"), "ones-10")
    assert entry == read_lock(suite_paths(tmp_path / "a"))["ones-10"]


def test_only_what_was_selected_is_touched(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source, limit=3)
    paths = suite_paths(tmp_path)
    before = snapshot(paths.tasks)
    changed = [good_row(0) | {"test": f"assert f(2) == 2\n{good_row(0)['test']}"}, *ones(12)[1:]]
    outcome = run(tmp_path, write_rows(tmp_path / "new", changed, twos(3)), limit=1)
    assert outcome.written == ("ones-0",)
    assert outcome.total == 6
    after = snapshot(paths.tasks)
    assert {name for name in after if after[name] != before[name]} <= {
        f"ones-0/{name}" for name in ("prompt.txt", "solution.py", "check.sh", "task.toml")
    }
    assert read_task(paths, "ones-0").cases == 3


def test_without_selection_the_suite_keeps_what_it_has(
    tmp_path: Path, source: Path, pools: list[InProcessPool]
) -> None:
    run(tmp_path, source, limit=2)
    assert run(tmp_path, source).total == 4
    run(tmp_path, source, every=True)
    assert run(tmp_path, source).total == 15


def test_what_fails_is_dropped_with_its_reason(tmp_path: Path, pools: list[InProcessPool]) -> None:
    source = write_rows(tmp_path / "rows", [*ones(3), BROKEN, SEVEN, NO_TEST, TOO_LARGE], twos(1))
    paths = suite_paths(tmp_path)
    for _ in range(2):
        outcome = run(tmp_path, source)
        assert list(outcome.dropped) == ["ones-3", "ones-4", "ones-5", "ones-6"]
        table = toml(paths.dropped)
        assert "reference does not pass" in table["ones-3"]["reason"]
        assert table["ones-3"]["output"] == "case 0 disagreed"
        assert table["ones-5"] == {"upstream_id": "One/5", "reason": "there is no test", "output": ""}
        assert "larger than" in table["ones-6"]["reason"]
        assert sorted(read_lock(paths)) == ["ones-0", "ones-1", "ones-2", "twos-0"]
        assert toml(paths.settings)["counts"] == {"kept": 4, "dropped": 4, "unproven": 0}


def test_a_task_that_fails_now_goes_and_comes_back(tmp_path: Path, pools: list[InProcessPool]) -> None:
    good = write_rows(tmp_path / "good", ones(4), twos(1))
    bad = write_rows(tmp_path / "bad", [*ones(3), BROKEN], twos(1))
    paths = suite_paths(tmp_path)
    run(tmp_path, good)
    outcome = run(tmp_path, bad)
    assert (list(outcome.dropped), outcome.total) == (["ones-3"], 4)
    assert not paths.task("ones-3").task.exists()
    assert not paths.task("ones-3").oracle.exists()
    assert run(tmp_path, good).total == 5
    assert toml(paths.dropped) == {}


def test_what_cannot_be_graded_now_stays_as_it_was(tmp_path: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, write_rows(tmp_path / "rows", ones(2), twos(1)))
    paths = suite_paths(tmp_path)
    before = snapshot(paths.tasks)
    ungradable = row("One/1", "assert True\n", "def f(x):\n    return x\n")
    outcome = run(tmp_path, write_rows(tmp_path / "rows", [ones(1)[0], ungradable], twos(1)))
    assert (list(outcome.dropped), outcome.total) == (["ones-1"], 3)
    assert snapshot(paths.tasks) == before
    assert load_exam(paths, "ones-1").test == ones(2)[1]["test"].encode()


def test_what_is_gone_upstream_is_removed_and_named(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    fewer = write_rows(tmp_path / "fewer", ones(12)[1:], twos(3))
    outcome = run(tmp_path, fewer, limit=1)
    assert outcome.removed == ("ones-0",)
    assert not suite_paths(tmp_path).task("ones-0").task.exists()
    assert "ones-0" not in read_lock(suite_paths(tmp_path))


def test_a_dataset_that_was_not_asked_for_stays(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    outcome = run(tmp_path, source, datasets=("ones",), limit=1)
    assert (outcome.removed, outcome.total) == ((), 11)
    assert set(toml(suite_paths(tmp_path).lock)["rows"]) == {"ones", "twos"}


def test_prune_removes_what_was_not_selected(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    outcome = run(tmp_path, source, limit=1, datasets=("twos",), prune=True)
    assert len(outcome.removed) == 10
    paths = suite_paths(tmp_path)
    assert names(paths.tasks) == names(paths.oracle) == ["twos-0"]
    lock = toml(paths.lock)
    assert (set(lock["tasks"]), set(lock["rows"])) == ({"twos-0"}, {"twos"})
    assert set(toml(paths.tags)) == {"twos-0"}


def test_a_name_in_the_lock_leads_nowhere_else(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    paths = suite_paths(tmp_path)
    (tmp_path / "evals" / "precious").mkdir()
    lock = paths.lock.read_text()
    paths.lock.write_text(lock.replace("[tasks.ones-0]", '[tasks."../../precious"]'))
    run(tmp_path, source)
    assert (tmp_path / "evals" / "precious").is_dir()
    assert paths.lock.read_text() == lock


def test_prune_removes_the_half_made_too(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    paths = suite_paths(tmp_path)
    paths.task("ones-5").test.write_text("cut")
    paths.task("ones-11").task.mkdir()
    run(tmp_path, source, limit=1, prune=True)
    assert names(paths.tasks) == names(paths.oracle) == ["ones-0", "twos-0"]


def test_any_generation_completes_the_half_made(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    paths = suite_paths(tmp_path)
    before = {name: each[:2] for name, each in snapshot(paths.folder).items()}
    paths.task("ones-5").test.write_text("cut")
    assert run(tmp_path, source, limit=1).written == ("ones-5",)
    assert {name: each[:2] for name, each in snapshot(paths.folder).items()} == before
    assert len(pools) == 1, "what was proven needs no proof again"


def test_a_folder_that_is_no_task_is_left_alone(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source)
    notes = suite_paths(tmp_path).tasks / "my-notes"
    notes.mkdir()
    run(tmp_path, source, limit=1, prune=True)
    assert notes.is_dir()


def test_repairs_tags_and_constant_answers_are_recorded(tmp_path: Path, pools: list[InProcessPool]) -> None:
    mended = good_row(1) | {"kind": "mended"}
    source = write_rows(tmp_path / "rows", [mended, SEVEN | {"kind": "constant"}], twos(1))
    outcome = run(tmp_path, source)
    paths = suite_paths(tmp_path)
    assert outcome.constant_answers == {"ones-4": "nothing else is right"}
    name = outcome.written[0]
    assert read_lock(paths)[name].repairs == read_task(paths, name).repairs == ("mend",)
    assert paths.task(name).upstream.read_text() == "upstream's\n"
    settings = toml(paths.settings)
    assert settings["repairs"] == {"mend": {"reason": "it was broken", "source": "an issue"}}
    assert toml(paths.tags)["twos-0"] == {"tiny.domain": ["sums"]}
    assert run(tmp_path, source).constant_answers == outcome.constant_answers


def test_unproven_tasks_say_so_until_they_are_proven(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    paths = suite_paths(tmp_path)
    outcome = run(tmp_path, source, limit=1, validate=False)
    assert (outcome.unproven, outcome.venv, pools) == (("ones-0", "twos-0"), None, [])
    assert toml(paths.settings)["unproven"] == ["ones-0", "twos-0"]
    task = toml(paths.task("ones-0").settings)
    assert (task["proven"], task["cases"]) == (False, 0)
    lock = paths.lock.read_bytes()
    assert run(tmp_path, source).unproven == ()
    assert toml(paths.task("ones-0").settings)["proven"] is True
    assert toml(paths.settings)["unproven"] == []
    assert paths.lock.read_bytes() == lock, "the lock holds nothing measured"
    assert run(tmp_path, source, validate=False).unproven == (), "what was proven stays proven"


def test_the_slowest_known_start_first(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    run(tmp_path, source, limit=3, datasets=("ones",))
    paths = suite_paths(tmp_path)
    paths.measured.write_text(paths.measured.read_text().replace("cpu_s = 0.01", "cpu_s = 9.0", 1))
    paths.measured.write_text(paths.measured.read_text().replace('grader = "grader"', 'grader = "older"'))
    run(tmp_path, source, limit=3, datasets=("ones",))
    assert pools[-1].graded[0] == "ones-0"


@pytest.mark.parametrize("name", ["lock", "measured", "tags", "dropped", "settings"])
@pytest.mark.parametrize("text", ["[[[", "tasks = 3\nsuite = 4\nrows = 5\ndatasets = 6\n", "", "[tasks]\nones-0 = 1\n"])
def test_a_broken_record_is_mended(
    tmp_path: Path, source: Path, pools: list[InProcessPool], name: str, text: str
) -> None:
    run(tmp_path, source)
    paths = suite_paths(tmp_path)
    before = {path: path.read_bytes() for path in (paths.lock, paths.tags, paths.dropped)}
    getattr(paths, name).write_text(text)
    run(tmp_path, source)
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("dies_after", range(7))
def test_a_generation_killed_in_the_swap_is_completed_by_the_next(
    tmp_path: Path, source: Path, pools: list[InProcessPool], monkeypatch: pytest.MonkeyPatch, dies_after: int
) -> None:
    run(tmp_path, source, limit=2)
    left = dies_after

    def dying(new: Path, target: Path) -> None:
        nonlocal left
        if left == 0:
            if dies_after % 2 and target.exists():
                target.rename(target.with_name(f".{target.name}.old"))
            raise SystemExit("killed")
        left -= 1
        replace_folder(new, target)

    more = [each | {"test": f"f(0)\n{each['test']}"} for each in ones(4)]
    new = write_rows(source, more, twos(3))
    with monkeypatch.context() as patch:
        patch.setattr("lab.generate.publish.replace_folder", dying)
        # a real kill runs no clean-up either
        patch.setattr("lab.generate.publish.Staging.__exit__", lambda *_arguments: None)
        with pytest.raises(SystemExit):
            run(tmp_path, new, limit=4)
    tests = {each["test"].encode() for each in (*ones(2), *more, *twos(2))}
    for name in read_lock(suite_paths(tmp_path)):
        # whole or refused, never a bit of each
        with contextlib.suppress(LabError):
            assert load_exam(suite_paths(tmp_path), name).test in tests
    proven = len(pools)
    run(tmp_path, new, limit=1)
    assert len(pools) in {proven, proven + 1}
    run(tmp_path, new, limit=4)
    run(tmp_path / "clean", new, limit=4)
    clean, mended = (suite_paths(root) for root in (tmp_path / "clean", tmp_path))
    assert mended.lock.read_bytes() == clean.lock.read_bytes()
    contents = [{name: each[0] for name, each in snapshot(p.folder).items()} for p in (clean, mended)]
    for each in contents:
        del each["measured.toml"]
    assert contents[0] == contents[1]


def test_an_interrupt_in_the_proof_changes_no_task_and_keeps_the_proofs(
    tmp_path: Path, source: Path, pools: list[InProcessPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, source, limit=1)
    paths = suite_paths(tmp_path)
    before = snapshot(paths.folder)

    def interrupted_after_three(*arguments: Any, **options: Any) -> Generator[Any]:
        for number, outcome in enumerate(prove_all(*arguments, **options)):
            if number == 3:
                raise KeyboardInterrupt
            yield outcome

    with monkeypatch.context() as patch:
        patch.setattr("lab.generate.generation.prove_all", interrupted_after_three)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, source, every=True)
    after = snapshot(paths.folder)
    del before["measured.toml"], after["measured.toml"]
    assert after == before
    assert len(toml(paths.measured)["tasks"]) == 2 + 3
    run(tmp_path, source, every=True)
    assert len(set(pools[-1].graded)) == 15 - 2 - 3


KILLED = """
import sys, time
from pathlib import Path
from tests.generate import tiny
from lab.generate import publish
import pytest
tiny.fake_grading(pytest.MonkeyPatch())
swap = publish.replace_folder
def slow(new, target):
    swap(new, target)
    print(target.name, flush=True)
    time.sleep(0.05)
publish.replace_folder = slow
tiny.run(Path(sys.argv[1]), Path(sys.argv[2]), every=True)
"""


def test_kill_9_in_the_middle(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(source)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as child:
        assert child.stdout is not None
        swapped = [child.stdout.readline().strip() for _ in range(5)]
        child.kill()
    assert swapped == ["ones-0", "ones-0", "ones-1", "ones-1", "ones-2"]
    assert child.returncode == -signal.SIGKILL
    paths = suite_paths(tmp_path)
    assert not paths.lock.exists()
    assert paths.staging.exists()
    run(tmp_path, source, every=True)
    run(tmp_path / "clean", source, every=True)
    assert paths.lock.read_bytes() == suite_paths(tmp_path / "clean").lock.read_bytes()
    assert not paths.staging.exists()
    assert not list(paths.tasks.glob(".*"))


def test_two_at_once(tmp_path: Path, source: Path, pools: list[InProcessPool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.generate.exclusive.WAIT_S", 0.2)
    run(tmp_path, source, limit=1)
    before = snapshot(suite_paths(tmp_path).folder)
    start = time.monotonic()
    with exclusive(suite_paths(tmp_path)), pytest.raises(LabError, match="another lab gen is working on tiny"):
        run(tmp_path, source)
    assert time.monotonic() - start < 5
    assert snapshot(suite_paths(tmp_path).folder) == before
    assert run(tmp_path, source, limit=2).total == 4


def test_rows_that_cannot_be_had_leave_nothing_behind(tmp_path: Path, pools: list[InProcessPool]) -> None:
    (tmp_path / "rows").mkdir()
    with pytest.raises(LabError, match="ones"):
        run(tmp_path, tmp_path / "rows")
    assert not (tmp_path / "evals").exists()


@pytest.mark.parametrize("room_for", [0, 1, 5, 6, 30])
def test_a_disk_that_fills_up_changes_nothing(
    tmp_path: Path, source: Path, pools: list[InProcessPool], monkeypatch: pytest.MonkeyPatch, room_for: int
) -> None:
    run(tmp_path, source, limit=2)
    paths = suite_paths(tmp_path)
    before = snapshot(paths.folder)
    left = room_for

    def filling(path: Path, data: bytes | str, *, mode: int = 0o644) -> None:
        nonlocal left
        if left == 0:
            raise disk_error(path, OSError(errno.ENOSPC, "No space left on device"))
        left -= 1
        write_atomic(path, data, mode=mode)

    changed = [each | {"test": f"f(0)\n{each['test']}"} for each in ones(5)]
    with monkeypatch.context() as patch:
        patch.setattr("lab.generate.publish.write_atomic", filling)
        with pytest.raises(LabError, match="the disk is full"):
            run(tmp_path, write_rows(source, changed, twos(3)), limit=5)
    after = snapshot(paths.folder)
    del before["measured.toml"], after["measured.toml"]
    assert after == before
    assert not paths.staging.exists()


def test_a_full_disk_changes_nothing(tmp_path: Path, source: Path, pools: list[InProcessPool], tiny_disk: Path) -> None:
    """A real file system with room for the first two tasks only."""
    run(tiny_disk, source, limit=1)
    paths = suite_paths(tiny_disk)
    before = snapshot(paths.folder)
    large = [each | {"test": each["test"] + "#" * 200_000} for each in ones(12)]
    with pytest.raises(LabError, match="the disk is full"):
        run(tiny_disk, write_rows(tmp_path / "large", large, twos(3)), every=True)
    after = snapshot(paths.folder)
    del before["measured.toml"], after["measured.toml"]
    assert after == before
    assert not paths.staging.exists()
    assert run(tiny_disk, source, limit=2).total == 4


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Generator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"no file system of its own can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_read_only_root_is_one_line(
    tmp_path: Path, source: Path, pools: list[InProcessPool], tiny_disk: Path
) -> None:
    run(tiny_disk, source, limit=1)
    before = snapshot(tiny_disk)
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    with pytest.raises(LabError, match="read-only"):
        run(tiny_disk, source, limit=2)
    assert snapshot(tiny_disk) == before


def test_a_file_in_the_place_of_evals_is_one_line(tmp_path: Path, source: Path, pools: list[InProcessPool]) -> None:
    (tmp_path / "evals").write_text("")
    with pytest.raises(LabError, match="cannot write"):
        run(tmp_path, source)
