from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.support.laboratory import Laboratory

DEADLINE_S = 20.0


def statuses(laboratory: Laboratory, tool: str = "*") -> dict[str, str]:
    return {
        f"{r.task}#{r.sample}": r.verdict.status.value if r.verdict else "interrupted" for r in laboratory.results(tool)
    }


def test_reference_passes_and_stub_fails(laboratory: Laboratory) -> None:
    said = laboratory("run", "reference", "--suite", "tiny", "--jobs", "3")
    assert said.code == 0
    assert "pass ones-11: every case agreed" in said.out.splitlines()
    assert said.out.count("\npass ") == 12
    assert said.err == ""
    assert set(statuses(laboratory, "reference").values()) == {"pass"}
    assert laboratory("run", "stub", "--suite", "tiny").code == 0
    assert set(statuses(laboratory, "stub").values()) == {"wrong"}


def test_a_result_says_what_was_run(laboratory: Laboratory) -> None:
    laboratory("run", "reference", "One/4", "--suite", "tiny")
    (result,) = laboratory.results()
    assert (result.suite, result.task, result.tool, result.stop, result.first_try) == (
        "tiny",
        "ones-4",
        "reference",
        "done",
        True,
    )
    assert len(result.attempts) == 1
    assert result.attempts[0].verdict == result.verdict
    assert result.task_lock_sha256
    assert result.suite_lock_sha256
    assert result.started_at.endswith("+00:00")
    (work,) = laboratory.root.glob("runs/tiny/reference/ones-4/*/attempt-1/work/solution.py")
    assert work.read_text() == "def f(x):\n    return x + 4\n"


def test_the_same_run_is_skipped_unless_fresh(laboratory: Laboratory) -> None:
    arguments = ("run", "reference", "--suite", "tiny", "--json")
    assert laboratory(*arguments, "-n", "3").json()["skipped"] == 0
    said = laboratory(*arguments).json()
    assert (said["runs"], said["skipped"], said["statuses"]) == (13, 3, {"pass": 13})
    assert laboratory(*arguments).json()["skipped"] == 13
    assert laboratory(*arguments, "--fresh").json()["skipped"] == 0
    assert len(laboratory.results()) == 13


def test_another_lock_entry_is_another_run(laboratory: Laboratory) -> None:
    laboratory("run", "reference", "ones-1", "--suite", "tiny")
    lock = laboratory.root / "evals/tiny/lock.toml"
    head, mark, rest = lock.read_text().partition("[tasks.ones-1]")
    lock.write_text(head + mark + rest.replace('row = "', 'row = "0', 1))
    assert laboratory("run", "reference", "ones-1", "--suite", "tiny", "--json").json()["skipped"] == 0
    assert len(laboratory.results()) == 2
    (report,) = laboratory("report", "--json").json()
    assert [bool(row["other_lock_sha256"]) for row in report["rows"]] == [False, True]


def test_an_oracle_unlike_the_lock_is_infra_and_exit_1(laboratory: Laboratory) -> None:
    oracle = laboratory.root / "evals/tiny/oracle/ones-2/test.py"
    whole = oracle.read_text()
    oracle.write_text("pass\n")
    said = laboratory("run", "reference", "-n", "3", "--suite", "tiny")
    assert said.code == 1
    assert "infra ones-2: ones-2 could not be graded" in said.out
    assert statuses(laboratory) == {"ones-1#0": "pass", "ones-2#0": "infra", "ones-3#0": "pass"}
    oracle.write_text(whole)
    # what could not be graded is done again, and nothing else
    again = laboratory("run", "reference", "-n", "3", "--suite", "tiny", "--json").json()
    assert (again["skipped"], again["statuses"]) == (2, {"pass": 3})


@pytest.mark.parametrize("damage", ["half", "empty", "gone", "folder"])
def test_a_damaged_result_is_done_again(laboratory: Laboratory, damage: str) -> None:
    arguments = ("run", "reference", "ones-1", "--suite", "tiny", "--json")
    laboratory(*arguments)
    (path,) = laboratory.root.glob("runs/tiny/*/*/*/result.json")
    text = path.read_text()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "gone":
        path.write_text(text[:50] if damage == "half" else "")
    assert laboratory(*arguments).json()["skipped"] == 0
    assert statuses(laboratory) == {"ones-1#0": "pass"}


def test_replay_is_one_run_a_solution(laboratory: Laboratory) -> None:
    file = laboratory.samples(
        {"task_id": "One/1", "solution": "def f(x): return x + 1"},
        "",
        {"task_id": "ones-1", "solution": "def f(x): return 0", "model": "other"},
        {"task_id": "Two/1", "completion": "\ndef f(x): return x + 1\n"},
        {"task_id": "One/2", "solution": "\ud800"},
        {"task_id": "One/3", "solution": "x" * ((1 << 20) + 1)},
    )
    said = laboratory("run", "replay", "--samples", file, "--suite", "tiny", "--jobs", "2")
    assert said.code == 0
    assert "9 of the 13 selected tasks have no sample" in said.err
    assert statuses(laboratory) == {
        "ones-1#0": "pass",
        "ones-1#1": "wrong",
        "ones-2#0": "missing",
        "ones-3#0": "missing",
        "twos-1#0": "pass",
    }
    found = {(r.task, r.sample): r for r in laboratory.results()}
    assert [found["ones-1", n].model for n in (0, 1)] == ["mine", "other"]
    second = found["ones-1", 1].verdict
    assert second is not None
    assert (second.sample, second.line) == (1, 3)


def test_replay_goes_on_after_bad_lines(laboratory: Laboratory) -> None:
    good = {"task_id": "One/1", "solution": "def f(x): return x + 1"}
    bad = ["{", "[]", {"solution": ""}, {"task_id": 4, "solution": ""}, {"task_id": "One/1"}]
    file = laboratory.samples(
        *bad, {"task_id": "One/1", "solution": ["x"]}, {"task_id": "Nine/1", "solution": ""}, good
    )
    said = laboratory("run", "replay", "--samples", file, "--suite", "tiny")
    assert said.code == 1
    assert [line.split()[:3] for line in said.err.splitlines()[:6]] == [
        ["lab:", "line", str(number)] for number in range(1, 7)
    ]
    assert "1 samples are of tasks that tiny does not have: Nine/1" in said.err
    assert statuses(laboratory) == {"ones-1#0": "pass"}


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"not json\n", b"\x1f\x8bbroken", b'{"task_id": "Nine/1", "solution": ""}']
)
def test_a_file_without_a_usable_sample(laboratory: Laboratory, content: bytes) -> None:
    file = laboratory.root / "x.jsonl"
    file.write_bytes(content)
    said = laboratory("run", "replay", "--samples", file, "--suite", "tiny")
    assert said.code == 2
    assert not laboratory.results()


def test_replay_takes_what_grade_takes(laboratory: Laboratory) -> None:
    folder = laboratory.root / "generated" / "One_1"
    folder.mkdir(parents=True)
    for number in (0, 1):
        (folder / f"{number}.py").write_text(f"def f(x): return x + {number}")
    assert laboratory("run", "replay", "--samples", folder.parent, "--suite", "tiny").code == 0
    assert statuses(laboratory) == {"ones-1#0": "wrong", "ones-1#1": "pass"}
    file = laboratory.samples({"task_id": "One/2", "completion": "return 3"}, {"task_id": "Two/1", "completion": ""})
    said = laboratory("run", "replay", "--samples", file, "--suite", "tiny")
    assert said.code == 1
    assert "line 1 has a completion, but the prompt of ones-2 is prose" in said.err
    assert statuses(laboratory)["twos-1#0"] == "wrong"


def test_another_samples_file_is_another_run(laboratory: Laboratory) -> None:
    for answer in ("x + 1", "0"):
        file = laboratory.samples({"task_id": "One/1", "solution": f"def f(x): return {answer}"})
        assert laboratory("run", "replay", "--samples", file, "--suite", "tiny", "--json").json()["skipped"] == 0
    assert sorted(r.verdict.status.value for r in laboratory.results() if r.verdict) == ["pass", "wrong"]


def test_many_samples_of_one_task_keep_their_numbers(laboratory: Laboratory) -> None:
    answers = [number % 3 for number in range(40)]
    file = laboratory.samples(*({"task_id": "One/1", "solution": f"def f(x): return x + {n}"} for n in answers))
    laboratory("run", "replay", "--samples", file, "--suite", "tiny", "--jobs", "2")
    assert statuses(laboratory) == {f"ones-1#{n}": "pass" if answers[n] == 1 else "wrong" for n in range(40)}


def wait_for(path: Path, pattern: str) -> list[Path]:
    deadline = time.monotonic() + DEADLINE_S
    while not (found := list(path.glob(pattern))):
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.05)
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_recorded_and_the_next_run_goes_on(laboratory: Laboratory, number: signal.Signals) -> None:
    pids = laboratory.root / "pids"
    pids.mkdir()
    script = f"echo 'def f(x): return x + 1' > solution.py; test -e {pids}/on || {{ touch {pids}/$$; sleep 60; }}"
    # without a sandbox, in which it could not write to the folder of pids
    command = ["--command", f'sh -c "{script}"', "--isolation", "process"]
    arguments = ["run", *command, "--suite", "tiny", "-n", "3", "--jobs", "2"]
    process = laboratory.start(*arguments)
    while len(wait_for(pids, "*")) < 2:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, err
    assert "Traceback" not in out + err
    assert "the same command goes on from here" in err
    assert set(statuses(laboratory).values()) == {"interrupted"}
    assert {r.stop for r in laboratory.results()} == {"interrupted"}
    for pid in pids.iterdir():
        assert not Path(f"/proc/{pid.name}").exists()
    (pids / "on").touch()
    said = laboratory(*arguments, "--json").json()
    assert (said["skipped"], said["statuses"]) == (0, {"wrong": 2, "pass": 1})
    assert {r.stop for r in laboratory.results()} == {"done"}


def test_a_killed_run_leaves_results_that_say_interrupted(laboratory: Laboratory) -> None:
    process = laboratory.start("run", "--command", "sleep 3", "--suite", "tiny", "-n", "1")
    (path,) = wait_for(laboratory.root, "runs/tiny/command/*/*/result.json")
    process.kill()
    process.communicate()
    assert json.loads(path.read_text())["stop"] == "interrupted"
    shutil.rmtree(path.parent)


def test_a_root_that_cannot_be_written(laboratory: Laboratory) -> None:
    (laboratory.root / "runs").write_text("in the way")
    said = laboratory("run", "reference", "--suite", "tiny")
    assert said.code == 2
    assert "cannot write" in said.err
