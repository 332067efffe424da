"""`lab grade` over the tiny suite, graded in this process."""

from __future__ import annotations

import gzip
import json
import shutil
import signal
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from lab.bulk import grading
from tests.generate import tiny

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.support.laboratory import Laboratory

DEADLINE_S = 30.0
GOOD = {"task_id": "One/1", "solution": "def f(x): return x + 1"}
WRONG = {"task_id": "One/1", "solution": "def f(x): return 0"}


def grade(laboratory: Laboratory, samples: Path, *more: str | Path, code: int = 0) -> Any:
    """The summary, of a command that must end with `code`."""
    said = laboratory("grade", samples, "--suite", "tiny", "--jobs", "2", "--json", *more)
    assert said.code == code, said
    return said.json()


def records(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    header, *rest = (json.loads(line) for line in path.read_text().splitlines())
    return header, rest


def statuses(path: Path) -> list[str]:
    return [record["status"] for record in records(path)[1]]


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tasks of the solutions that were run, one a run."""
    tasks: list[str] = []
    before = tiny.InProcessPool._grade

    def counted(self: tiny.InProcessPool, job: Any, work: Any) -> Any:
        tasks.append(job.exam.task.id)
        return before(self, job, work)

    monkeypatch.setattr(tiny.InProcessPool, "_grade", counted)
    return tasks


def test_a_record_a_sample_in_the_order_of_the_file(laboratory: Laboratory, graded: list[str]) -> None:
    file = laboratory.samples(
        {"task_id": "Two/1", "completion": "\ndef f(x): return x + 1\n"},
        WRONG,
        "",
        {"task_id": "ones-1", "solution": GOOD["solution"]},
        {"task_id": "One/11", "solution": "def f(x): return x + 11"},
        WRONG,
        {"task_id": "One/2", "solution": "\ud800"},
        {"task_id": "One/3", "solution": "x" * ((1 << 20) + 1)},
    )
    summary = grade(laboratory, file)
    out = laboratory.root / "mine.results.jsonl"
    assert summary["results"] == str(out)
    header, rows = records(out)
    assert [(r["task"], r["sample"], r["line"], r["status"]) for r in rows] == [
        ("twos-1", 0, 1, "pass"),
        ("ones-1", 0, 2, "wrong"),
        ("ones-1", 1, 4, "pass"),
        ("ones-11", 0, 5, "pass"),
        ("ones-1", 2, 6, "wrong"),
        ("ones-2", 0, 7, "missing"),
        ("ones-3", 0, 8, "missing"),
    ]
    assert set(header) >= {"lab", "suite", "lock_sha256", "grader", "limits", "isolation"}
    assert header["suite"] == "tiny"
    assert set(header["limits"]) == {"ones-1", "ones-2", "ones-3", "ones-11", "twos-1"}
    assert all(set(row) == set(rows[0]) for row in rows)
    assert "expected" not in rows[0]
    # the two equal solutions were run once
    assert sorted(graded) == ["ones-1", "ones-1", "ones-11", "twos-1"]
    assert (summary["samples"], summary["identical"], summary["reused"]) == (7, 1, 0)
    assert not out.with_name("mine.results.jsonl.partial").exists()


def test_a_folder_of_samples(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    base = laboratory.root / "generated"
    for name, text in (("One_1/0.py", "def f(x): return x + 1"), ("One_1/1.py", "def f(x): 1"), ("Two_2/0.py", "\0")):
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    (base / "Two_2/0.py").write_bytes(b"\xff")
    monkeypatch.chdir(base)
    grade(laboratory, base)
    _, rows = records(laboratory.root / "generated.results.jsonl")
    assert [(r["task"], r["sample"], r["line"], r["status"]) for r in rows] == [
        ("ones-1", 0, None, "pass"),
        ("ones-1", 1, None, "wrong"),
        ("twos-2", 0, None, "missing"),
    ]
    (laboratory.root / "generated.results.jsonl").unlink()
    said = laboratory("grade", ".", "--suite", "tiny")
    assert f"results: {laboratory.root}/generated.results.jsonl" in said.out


def test_bad_lines_are_records_and_exit_1(laboratory: Laboratory) -> None:
    prose = {"task_id": "One/1", "completion": "return 1"}
    file = laboratory.samples("{", GOOD, {"task_id": "One/1", "solution": ["x"]}, prose, "\0\0\0", WRONG)
    summary = grade(laboratory, file, code=1)
    assert summary["invalid"] == 4
    _, rows = records(laboratory.root / "mine.results.jsonl")
    assert [(r["line"], r["status"], r["sample"]) for r in rows] == [
        (1, "invalid", None),
        (2, "pass", 0),
        (3, "invalid", None),
        (4, "invalid", None),
        (5, "invalid", None),
        (6, "wrong", 1),
    ]
    assert "the prompt of ones-1 is prose" in rows[3]["reason"]
    assert set(rows[0]) == set(rows[1])
    assert summary["scored"] == 2
    said = laboratory("grade", file, "--suite", "tiny")
    assert "lab: line 3 has a solution that is not text; it is left out" in said.err
    assert "4 bad lines left out" in said.out


def test_what_is_not_graded_is_counted_and_named(laboratory: Laboratory) -> None:
    foreign = [{"task_id": f"Nine/{n}", "solution": ""} for n in (10, 2, 2)]
    file = laboratory.samples(GOOD, *foreign, {"task_id": "Two/1", "solution": ""})
    summary = grade(laboratory, file, "--langs", "ones")
    assert (summary["unknown"], summary["unknown_tasks"]) == (3, {"Nine/10": 1, "Nine/2": 2})
    assert (summary["samples"], summary["unselected"]) == (1, 1)
    said = laboratory("grade", file, "--suite", "tiny", "--langs", "ones")
    assert "3 samples are of tasks that tiny does not have: Nine/2, Nine/10\n" in said.err
    assert "10 of the 11 selected tasks have no sample" in said.err


NOTHING_TO_GRADE: list[tuple[bytes, str]] = [
    (b"", "holds no samples"),
    (b"\n \n", "holds no samples"),
    (b"not json\n", "holds no samples: line 1 is not JSON"),
    (gzip.compress(b""), "holds no samples"),
    (gzip.compress(json.dumps(GOOD).encode())[:-9], "cannot be read"),
    (b'{"task_id": "Nine/1", "solution": ""}\n', "none of the selected tasks has a sample"),
]


@pytest.mark.parametrize(("content", "expected"), NOTHING_TO_GRADE, ids=range(len(NOTHING_TO_GRADE)))
def test_nothing_to_grade_is_exit_2_and_writes_nothing(laboratory: Laboratory, content: bytes, expected: str) -> None:
    file = laboratory.root / "x.jsonl"
    file.write_bytes(content)
    said = laboratory("grade", file, "--suite", "tiny")
    assert (said.code, said.out) == (2, "")
    assert expected in said.err
    assert {path.name for path in laboratory.root.iterdir()} == {"evals", "x.jsonl"}


def test_results_never_take_the_place_of_something_else(laboratory: Laboratory) -> None:
    file = laboratory.samples(GOOD)
    other = laboratory.root / "other.txt"
    other.write_text("dear diary")
    link = laboratory.root / "link.jsonl"
    link.symlink_to(file)
    (laboratory.root / "in-the-way.jsonl.partial").write_text("dear diary")
    (laboratory.root / "folder").mkdir()
    twin = laboratory.root / "hard.jsonl"
    twin.hardlink_to(file)
    before = file.read_bytes()
    for out in (file, link, twin, other, other / "x.jsonl", laboratory.root / "folder", "/dev/null", "/dev/full"):
        said = laboratory("grade", file, "--suite", "tiny", "--out", out)
        assert (said.code, said.out) == (2, ""), (out, said)
        assert "--out" in said.err, (out, said)
    assert laboratory("grade", file, "--suite", "tiny", "--out", laboratory.root / "in-the-way.jsonl").code == 2
    assert (file.read_bytes(), other.read_text()) == (before, "dear diary")
    assert grade(laboratory, file, "--out", laboratory.root / "new" / "deep.jsonl")["samples"] == 1
    assert statuses(laboratory.root / "new" / "deep.jsonl") == ["pass"]


def test_a_result_is_reused_while_its_terms_hold(laboratory: Laboratory, graded: list[str]) -> None:
    file = laboratory.samples(GOOD, WRONG, {"task_id": "Two/1", "solution": "def f(x): return x + 1"})
    out = laboratory.root / "mine.results.jsonl"
    grade(laboratory, file)
    first = out.read_bytes()
    graded.clear()
    assert grade(laboratory, file)["reused"] == 3
    assert (graded, out.read_bytes()) == ([], first)
    # by what is in it, not by where it stands: the same solutions in another order, with one more
    file = laboratory.samples({"task_id": "One/2", "solution": "def f(x): return x + 2"}, WRONG, GOOD)
    assert grade(laboratory, file)["reused"] == 2
    assert graded == ["ones-2"]
    assert [(r["task"], r["sample"], r["line"], r["status"]) for r in records(out)[1]] == [
        ("ones-2", 0, 1, "pass"),
        ("ones-1", 0, 2, "wrong"),
        ("ones-1", 1, 3, "pass"),
    ]
    assert grade(laboratory, file, "--fresh")["reused"] == 0


BOTH = (
    {"task_id": "One/2", "solution": "def f(x): return x + 2"},
    {"task_id": "Two/1", "solution": "def f(x): return 0"},
)


def test_what_is_not_selected_is_not_lost(laboratory: Laboratory, graded: list[str]) -> None:
    file = laboratory.samples(GOOD, WRONG, *BOTH)
    out = laboratory.root / "mine.results.jsonl"
    partial = out.with_name("mine.results.jsonl.partial")
    grade(laboratory, file)
    whole = out.read_bytes()
    for filters in (("--langs", "twos"), ("-t", "ones-2"), ("-t", "ones-2", "--fresh"), ("-t", "ones-1")):
        grade(laboratory, file, *filters)
        assert {record["task"] for record in records(out)[1]} == {"twos-1" if "twos" in filters else filters[1]}
    graded.clear()
    size = partial.stat().st_size
    for task in ("ones-2", "ones-1", "ones-2", "ones-1"):
        assert grade(laboratory, file, "-t", task)["reused"] == len(records(out)[1])
    assert partial.stat().st_size == size
    assert grade(laboratory, file)["reused"] == 4
    assert (graded, out.read_bytes(), partial.exists()) == ([], whole, False)


def test_what_is_not_selected_outlives_a_kill(laboratory: Laboratory, graded: list[str]) -> None:
    slow = {"task_id": "One/3", "solution": "import time; time.sleep(600)"}
    file = laboratory.samples(GOOD, WRONG, *BOTH, slow)
    done = ("-t", "ones-1", "-t", "ones-2", "-t", "twos-1")
    grade(laboratory, file, *done)
    partial = laboratory.root / "mine.results.jsonl.partial"
    sizes = set()
    for _ in range(3):
        process = laboratory.start("grade", str(file), "--suite", "tiny", "-t", "ones-3")
        wait_until(lambda: partial.exists() and partial.read_bytes().endswith(b'"all_cases": false}\n'))
        process.kill()
        process.communicate(timeout=DEADLINE_S)
        sizes.add(partial.stat().st_size)
    assert len(sizes) == 1
    graded.clear()
    assert grade(laboratory, file, *done)["reused"] == 4
    assert (graded, partial.exists()) == ([], False)


def test_what_is_kept_is_reused_on_its_own_terms_only(laboratory: Laboratory) -> None:
    file = laboratory.samples(GOOD, WRONG, *BOTH)
    grade(laboratory, file, "--all-cases")
    grade(laboratory, file, "-t", "twos-1")
    assert grade(laboratory, file, "-t", "ones-*", "--all-cases")["reused"] == 3
    assert grade(laboratory, file)["reused"] == 1


def test_what_the_suite_no_longer_has_is_not_kept(laboratory: Laboratory) -> None:
    file = laboratory.samples(GOOD, *BOTH)
    grade(laboratory, file)
    out = laboratory.root / "mine.results.jsonl"
    header, rows = records(out)
    gone = [row | {"task": "threes-1"} if row["task"] == "twos-1" else row for row in rows]
    out.write_text("".join(json.dumps(line) + "\n" for line in (header, *gone)))
    grade(laboratory, file, "-t", "ones-*")
    assert not out.with_name("mine.results.jsonl.partial").exists()


def change_header(out: Path, **changes: object) -> None:
    header, rows = records(out)
    out.write_text("".join(json.dumps(line) + "\n" for line in (header | changes, *rows)))


@pytest.mark.parametrize(
    "change",
    [
        {"grader": "older"},
        {"isolation": "elsewhere"},
        {"venv": "another"},
        {"all_cases": True},
        {"limits": {}},
        {"limits": None},
        {"limits": {"ones-1": {"cpu_s": 1}}},
    ],
    ids=str,
)
def test_a_result_on_other_terms_is_not_reused(laboratory: Laboratory, change: dict[str, Any]) -> None:
    file = laboratory.samples(GOOD)
    grade(laboratory, file)
    out = laboratory.root / "mine.results.jsonl"
    change_header(out, **change)
    assert grade(laboratory, file)["reused"] == 0
    assert grade(laboratory, file)["reused"] == 1


def test_other_options_and_oracles_are_other_terms(laboratory: Laboratory) -> None:
    file = laboratory.samples(GOOD, WRONG)
    assert grade(laboratory, file)["reused"] == 0
    assert grade(laboratory, file, "--all-cases")["reused"] == 0
    assert grade(laboratory, file, "--grade-timeout", "3")["reused"] == 0
    assert grade(laboratory, file, "--isolation", "process", "--grade-timeout", "3")["reused"] in {0, 2}
    assert grade(laboratory, file)["reused"] == 0
    out = laboratory.root / "mine.results.jsonl"
    header, (good, wrong) = records(out)
    out.write_text("".join(json.dumps(line) + "\n" for line in (header, good | {"oracle_sha256": "0"}, wrong)))
    assert grade(laboratory, file)["reused"] == 1


def test_infra_is_exit_1_and_tried_again(laboratory: Laboratory) -> None:
    test = laboratory.root / "evals/tiny/oracle/ones-1/test.py"
    text = test.read_text()
    test.write_text("pass\n")
    file = laboratory.samples(GOOD, {"task_id": "One/2", "solution": "def f(x): return x + 2"})
    summary = grade(laboratory, file, code=1)
    assert (summary["statuses"]["infra"], summary["pass_at_k"]) == (1, {"1": 1.0})
    assert summary["pass_at_1_infra_fails"] == 0.5
    assert "ones-1 could not be graded" in records(laboratory.root / "mine.results.jsonl")[1][0]["reason"]
    test.write_text(text)
    summary = grade(laboratory, file)
    assert (summary["reused"], summary["statuses"]["infra"], summary["pass_at_k"]) == (1, 0, {"1": 1.0})


def test_pass_at_k(laboratory: Laboratory) -> None:
    answers = [1, 1, 0, 2, 3]
    ones = [{"task_id": "One/1", "solution": f"def f(x): return x + {n}"} for n in answers]
    twos = [{"task_id": "Two/2", "solution": f"def f(x): return x + {n}"} for n in (2, 3)]
    file = laboratory.samples(*ones, *twos)
    summary = grade(laboratory, file, "--k", "2, 1")
    # 1 - C(3,2)/C(5,2) and 1 - C(1,2)/C(2,2), then their mean
    assert summary["datasets"]["ones"]["pass_at_k"] == {"1": 0.4, "2": 0.7}
    assert summary["datasets"]["twos"]["pass_at_k"] == {"1": 0.5, "2": 1.0}
    assert summary["pass_at_k"] == {"1": 0.45, "2": 0.85}
    said = laboratory("grade", file, "--suite", "tiny", "--k", "2")
    assert said.code == 0
    table = {line.split()[0]: line.split() for line in said.out.splitlines() if line.strip()}
    assert table["ones"][1:7] == ["1", "2/5", "40.0", "%", "70.0", "%"]
    assert table["all"][1:7] == ["2", "3/7", "45.0", "%", "85.0", "%"]
    said = laboratory("grade", file, "--suite", "tiny", "--k", "1,3")
    assert (said.code, said.out) == (2, "")
    assert "pass@3 needs that many samples of every task, and twos-2 has 2" in said.err
    assert grade(laboratory, file, "--k", "5", "--langs", "ones")["pass_at_k"] == {"1": 0.4, "5": 1.0}


def test_a_torn_journal_is_taken_up_where_it_is_whole(laboratory: Laboratory, graded: list[str]) -> None:
    file = laboratory.samples(GOOD, WRONG, {"task_id": "One/2", "solution": "def f(x): return x + 2"})
    out = laboratory.root / "mine.results.jsonl"
    grade(laboratory, file)
    whole = out.read_bytes()
    partial = out.with_name("mine.results.jsonl.partial")
    for size in (*range(0, len(whole), 97), len(whole)):
        out.unlink(missing_ok=True)
        partial.write_bytes(whole[:size])
        graded.clear()
        lines = whole[:size].count(b"\n")
        assert grade(laboratory, file)["reused"] == max(0, lines - 1)
        assert len(graded) == 3 - max(0, lines - 1)
        assert [r["status"] for r in records(out)[1]] == ["pass", "wrong", "pass"]
        assert not partial.exists()


@pytest.mark.parametrize("line", ['{"status": []}', '{"status": "pass", "task": {}}', "3", "[" * 100_000])
def test_a_damaged_line_of_results_is_passed_over(laboratory: Laboratory, line: str) -> None:
    file = laboratory.samples(GOOD)
    grade(laboratory, file)
    with (laboratory.root / "mine.results.jsonl").open("a") as out:
        out.write(f"{line}\n")
    assert grade(laboratory, file)["reused"] == 1


def test_two_at_once_do_not_write_one_file(laboratory: Laboratory) -> None:
    slow = {"task_id": "One/1", "solution": "import time; time.sleep(3)\ndef f(x): return x + 1"}
    file = laboratory.samples(slow)
    process = laboratory.start("grade", str(file), "--suite", "tiny")
    partial = laboratory.root / "mine.results.jsonl.partial"
    wait_until(lambda: partial.exists() and partial.stat().st_size > 0)
    said = laboratory("grade", file, "--suite", "tiny")
    assert said.code == 2
    assert "another lab grade is writing" in said.err
    process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 0


def wait_until(holds: Any) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def run_once(log: Path, number: int) -> dict[str, str]:
    """A right solution that takes a while, and writes its number down when it is run."""
    task = number % 11 + 1
    lines = ["import time", f"with open({str(log)!r}, 'a') as log: log.write('{number}\\n')", "time.sleep(0.02)"]
    return {"task_id": f"One/{task}", "solution": "\n".join([*lines, f"def f(x): return x + {task}"])}


def test_kills_lose_only_what_was_in_flight_and_double_nothing(laboratory: Laboratory) -> None:
    count = 88
    log = laboratory.root / "log"
    file = laboratory.samples(*(run_once(log, number) for number in range(count)))
    out = laboratory.root / "mine.results.jsonl"
    partial = out.with_name("mine.results.jsonl.partial")
    kills = 0
    for goal in (1, 20, 45, 70):
        process = laboratory.start("grade", str(file), "--suite", "tiny", "--jobs", "1")
        wait_for(process, partial, goal)
        process.kill()
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        assert not out.exists()
    assert kills == 4
    before = kept(partial)
    assert before >= 70
    assert grade(laboratory, file)["reused"] == before
    assert statuses(out) == ["pass"] * count
    assert [r["line"] for r in records(out)[1]] == list(range(1, count + 1))
    runs = log.read_text().split()
    assert set(runs) == {str(number) for number in range(count)}
    # a batch is in flight when the kill comes; this pool runs it as it is queued
    assert len(runs) <= count + kills * 2 * 16
    assert {path.name for path in laboratory.root.iterdir()} == {"evals", "log", file.name, out.name}


def wait_for(process: subprocess.Popen[str], partial: Path, goal: int) -> None:
    """Wait until `goal` results are kept, or it is too late."""
    wait_until(lambda: process.poll() is not None or kept(partial) >= goal)


def kept(partial: Path) -> int:
    """How many results a journal holds."""
    if not partial.exists():
        return 0
    return sum(not line.startswith(b'{"lab"') for line in partial.read_bytes().splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_is_graded(laboratory: Laboratory, number: signal.Signals) -> None:
    log = laboratory.root / "log"
    file = laboratory.samples(*(run_once(log, number) for number in range(88)))
    process = laboratory.start("grade", str(file), "--suite", "tiny", "--jobs", "1")
    partial = laboratory.root / "mine.results.jsonl.partial"
    wait_for(process, partial, 10)
    process.send_signal(number)
    out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, out) == (130, ""), err
    assert "the same command goes on from here" in err
    assert "Traceback" not in err
    before = kept(partial)
    assert grade(laboratory, file)["reused"] == before >= 10


def test_samples_that_change_meanwhile_are_not_graded_as_others(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = laboratory.samples(GOOD)

    def change(*given: Any, **options: Any) -> Any:
        file.write_text(json.dumps(WRONG) + "\n")
        return tiny.FAKE_VENV

    monkeypatch.setattr("lab.commands.grade.ensure_venv", change)
    said = laboratory("grade", file, "--suite", "tiny")
    assert said.code == 2
    assert "changed while they were graded" in said.err


def test_memory_does_not_grow_with_the_samples(laboratory: Laboratory) -> None:
    samples = ({"task_id": "One/1", "solution": f"#{n:0100000}\ndef f(x): return x + 1"} for n in range(400))
    file = laboratory.samples(*samples)
    assert file.stat().st_size > 40_000_000
    grade(laboratory, file, "-t", "One/1")
    (laboratory.root / "mine.results.jsonl").unlink()
    tracemalloc.start()
    try:
        assert grade(laboratory, file)["samples"] == 400
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # two workers with two batches each
    assert peak < 4 * 16 * 300_000


def test_batches_are_of_one_task_and_the_most_expensive_first(laboratory: Laboratory) -> None:
    suite = tiny.suite_paths(laboratory.root)
    from lab.bulk.contents import Row  # noqa: PLC0415
    from lab.selection import EVERYTHING, select  # noqa: PLC0415

    tasks = {task.id: task for task in select(suite, EVERYTHING)}
    rows = [Row(tasks[f"ones-{n % 3 + 1}"], n // 3, n + 1, n, bytes([n])) for n in range(60)]
    batches = grading.make_batches(rows, {"ones-2": 1.0, "ones-3": 7.0})
    assert sorted(row.place for batch in batches for row in batch) == list(range(60))
    assert [(batch[0].task.id, len(batch)) for batch in batches] == [
        *[("ones-3", 1)] * 20,
        *[("ones-2", 2)] * 10,
        ("ones-1", 16),
        ("ones-1", 4),
    ]
    assert all(len({row.task.id for row in batch}) == 1 for batch in batches)


def test_a_suite_without_measurements(laboratory: Laboratory) -> None:
    (laboratory.root / "evals/tiny/measured.toml").unlink()
    shutil.rmtree(laboratory.root / "evals/tiny/.venv", ignore_errors=True)
    assert grade(laboratory, laboratory.samples(GOOD))["samples"] == 1
