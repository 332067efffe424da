"""check.sh and the grader that a venv carries: its exit codes, its one line, its record; and `lab check` beside it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from lab.errors import ExitCode
from lab.grading.check import USAGE, exit_code
from lab.grading.usage import tree_usage
from lab.layout import Root
from lab.verdict import Status, Verdict
from tests.grading.test_verdicts import DESIGN_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lab.layout import SuitePaths, TaskPaths

TASK = "startercomplete-0"
LIMIT_S = 120
BARE = {"PATH": "/usr/local/bin:/usr/bin:/bin"}


@pytest.fixture
def suite(starter: Root) -> SuitePaths:
    return starter.suite("starter")


@pytest.fixture
def task(suite: SuitePaths) -> TaskPaths:
    return suite.task(TASK)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "a work folder"
    folder.mkdir()
    return folder


def ran(command: list[Any], cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=BARE | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
        stdin=subprocess.DEVNULL,
    )


def carried(suite: SuitePaths, *arguments: Any) -> list[Any]:
    """The grader as check.sh starts it."""
    return [suite.venv_python, "-I", "-S", suite.carried_grader, *arguments]


def lab_check(root: Root, solution: Path) -> list[Any]:
    return [sys.executable, "-m", "lab", "--root", root.folder, "check", TASK, solution]


def left(work: Path, text: str) -> Path:
    (work / "solution.py").write_text(text)
    return work


GRADED: dict[str, tuple[Callable[[TaskPaths], str], int, str]] = {
    "the reference": (lambda task: task.reference.read_text(), 0, f"pass {TASK}: 120 of 120 cases agreed"),
    "the stub": (lambda task: task.stub.read_text(), 1, f"wrong {TASK}: case 1 of 120: "),
    "a syntax error": (lambda _: "def (", 1, f"error {TASK}: solution.py cannot be used: SyntaxError"),
    "an exit": (lambda _: "raise SystemExit(0)", 1, f"error {TASK}: solution.py cannot be used: SystemExit"),
    "an escape": (
        lambda task: f"{task.reference.read_text()}\ndef merge_bookings(*_): return '\\x1b[2J\\n\\u202e'\n",
        1,
        f"wrong {TASK}: case 1 of 120: ",
    ),
}


@pytest.mark.parametrize("name", GRADED)
def test_one_line_and_the_exit_code(suite: SuitePaths, task: TaskPaths, work: Path, name: str) -> None:
    text, code, line = GRADED[name]
    for command in (carried(suite, task.task, left(work, text(task))), ["bash", task.check, work]):
        done = ran(command)
        assert (done.returncode, done.stderr) == (code, ""), done
        assert done.stdout.startswith(line)
        assert done.stdout.count("\n") == 1
        assert done.stdout.removesuffix("\n").isprintable()


@pytest.mark.parametrize("make", [lambda _: None, lambda path: path.symlink_to("/etc/passwd"), os.mkfifo, os.mkdir])
def test_a_folder_without_a_solution_is_not_passed(
    starter: Root, suite: SuitePaths, task: TaskPaths, work: Path, make: Callable[[Path], object]
) -> None:
    make(work / "solution.py")
    done = ran(carried(suite, task.task, work))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith(f"missing {TASK}: ")
    by_lab = ran(lab_check(starter, work), HOME=str(work))
    assert (by_lab.returncode, by_lab.stdout, by_lab.stderr) == (1, done.stdout, "")


def test_a_path_that_is_not_there_is_a_mistake_of_who_typed_it(
    starter: Root, suite: SuitePaths, task: TaskPaths, work: Path
) -> None:
    done = ran(carried(suite, task.task, work / "folder"))
    assert (done.returncode, done.stdout) == (2, "")
    for path in (work / "folder", work / "solution.py"):
        by_lab = ran(lab_check(starter, path), HOME=str(work))
        assert (by_lab.returncode, by_lab.stdout) == (2, "")
        assert f"there is no file or folder {path}" in by_lab.stderr


def test_the_record_has_the_designs_keys_and_no_answer(suite: SuitePaths, task: TaskPaths, work: Path) -> None:
    wrong = f"{task.reference.read_text()}\ndef merge_bookings(*_): return 'mine'\n"
    for command in (carried(suite, task.task, left(work, wrong), "--json"), ["bash", task.check, work, "--json"]):
        done = ran(command)
        assert done.returncode == 1
        record = json.loads(done.stdout)
        assert sorted(record) == sorted(DESIGN_KEYS)
        assert (record["status"], record["failed_case"], record["cases_total"]) == ("wrong", 0, 120)
        assert (record["task"], record["upstream_id"], record["suite"]) == (TASK, "StarterComplete/0", "starter")
        assert (record["sample"], record["line"], record["boundary"]) == (None, None, "values")
        assert done.stdout.count("\n") == 1


def test_from_any_folder_and_by_relative_paths(suite: SuitePaths, task: TaskPaths, work: Path) -> None:
    left(work, task.reference.read_text())
    for command, cwd in (
        (["bash", task.check, "."], work),
        (["bash", task.check, work.name], work.parent),
        (["bash", "check.sh", work], task.task),
        (["bash", os.path.relpath(task.check, work.parent), work.name], work.parent),
        ([task.check, work], suite.folder),
    ):
        done = ran(list(command), cwd=cwd)
        assert (done.returncode, done.stdout) == (0, f"pass {TASK}: 120 of 120 cases agreed\n"), (command, done)


def test_the_callers_python_settings_change_nothing(task: TaskPaths, work: Path, tmp_path: Path) -> None:
    left(work, task.reference.read_text())
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("json", "selectors", "lab", "sitecustomize", "solution"):
        (trap / f"{name}.py").write_text("raise SystemExit(0)")
        (work / f"{name}.py").write_text("raise SystemExit(0)") if name != "solution" else None
    hostile = {"PYTHONPATH": str(trap), "PYTHONSTARTUP": str(trap / "lab.py"), "PYTHONHOME": str(trap)}
    done = ran(["bash", task.check, work], cwd=trap, **hostile)
    assert (done.returncode, done.stdout) == (0, f"pass {TASK}: 120 of 120 cases agreed\n"), done


def test_helpers_beside_a_solution_are_found(suite: SuitePaths, task: TaskPaths, work: Path) -> None:
    (work / "helper.py").write_text(task.reference.read_text())
    done = ran(carried(suite, task.task, left(work, "from helper import merge_bookings\n")))
    assert done.returncode == 0, done


@pytest.mark.parametrize(
    "arguments",
    [[], ["{task}"], ["{task}", "{work}", "more"], ["{task}", "--what"], ["--help"], ["{task}", "/nonexistent"]],
)
def test_usage(suite: SuitePaths, task: TaskPaths, work: Path, arguments: list[str]) -> None:
    done = ran(carried(suite, *(argument.format(task=task.task, work=work) for argument in arguments)))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{USAGE}\n")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def own(starter: Root, tmp_path: Path) -> SuitePaths:
    """A suite of one's own to break; its venv is the shared one, and only read."""
    suite = Root(tmp_path / "root").suite("starter")
    shutil.copytree(starter.suite("starter").folder, suite.folder, ignore=shutil.ignore_patterns(".venv"))
    suite.venv.symlink_to(starter.suite("starter").venv)
    return suite


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


BROKEN: dict[str, tuple[Callable[[SuitePaths], object], str]] = {
    "another test": (lambda s: s.task(TASK).test.write_text("pass"), "could not be graded: its hidden test is not"),
    "no oracle": (lambda s: shutil.rmtree(s.oracle), "could not be graded"),
    "no lock": (lambda s: s.lock.unlink(), "there is no suite"),
    "no settings": (lambda s: s.task(TASK).settings.unlink(), "task.toml is missing"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_graded_is_2_and_says_what_to_do(own: SuitePaths, work: Path, name: str) -> None:
    change, why = BROKEN[name]
    reference = own.task(TASK).reference.read_text()
    change(own)
    done = ran(carried(own, own.task(TASK).task, left(work, reference)))
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr
    assert "lab gen" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_test_that_cannot_judge_is_2(own: SuitePaths, work: Path) -> None:
    before = own.task(TASK).test.read_bytes()
    text = b"def (:\n"
    own.task(TASK).test.write_bytes(text)
    from lab.grading.exam import sha256  # noqa: PLC0415 - used here alone

    edit(own.lock, sha256(before), sha256(text))
    done = ran(carried(own, own.task(TASK).task, left(work, own.task(TASK).reference.read_text())))
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.startswith(f"infra {TASK}: the hidden test cannot be parsed: SyntaxError")


def test_a_crash_of_the_grader_is_2_and_never_1(starter: Root, own: SuitePaths, work: Path, tmp_path: Path) -> None:
    grader = tmp_path / "grader"
    shutil.copytree(starter.suite("starter").carried_grader, grader)
    shutil.rmtree(grader / "lab" / "grading" / "__pycache__")
    edit(grader / "lab" / "grading" / "check.py", "def _check(", "def _other(")
    done = ran([own.venv_python, "-I", "-S", grader, own.task(TASK).task, left(work, "x = 1")])
    assert (done.returncode, done.stdout) == (2, "")
    assert "could not be graded: the grader failed: NameError" in done.stderr


def test_an_interrupt_is_130(suite: SuitePaths, task: TaskPaths, work: Path) -> None:
    command = [str(part) for part in carried(suite, task.task, left(work, "while True: pass\n"))]
    with subprocess.Popen(command, env=BARE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until = time.monotonic() + 30
        while tree_usage(process.pid).cpu_s < 0.8 and time.monotonic() < until:  # the candidate is at it
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130, (out, err)
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.PASS, ExitCode.DONE),
        (Status.INFRA, ExitCode.NOTHING_DONE),
        *((status, ExitCode.PARTLY) for status in Status if status not in {Status.PASS, Status.INFRA}),
    ],
)
def test_each_status_has_its_exit_code(status: Status, code: ExitCode) -> None:
    assert exit_code(Verdict(status, "", "", "", "", "")) is code


def test_lab_check_agrees(starter: Root, suite: SuitePaths, task: TaskPaths, work: Path) -> None:
    texts = [text(task) for text, _, _ in GRADED.values()]
    for text in texts:
        by_script = ran(carried(suite, task.task, left(work, text), "--json"))
        lab = lab_check(starter, work / "solution.py")
        by_lab = ran([*lab, "--json"], HOME=str(work))
        assert by_lab.returncode == by_script.returncode, by_lab
        records = [json.loads(done.stdout) for done in (by_script, by_lab)]
        for record in records:
            for measured in ("cpu_s", "wall_s", "peak_mb"):
                del record[measured]
        assert records[0] == records[1]
    plain = ran(lab, HOME=str(work))
    assert plain.stdout == ran(carried(suite, task.task, work)).stdout
    assert "expected" not in plain.stdout
    oracle = ran([*lab, "--oracle"], HOME=str(work))
    assert "(expected " in oracle.stdout


def test_many_at_once_all_answer_right(suite: SuitePaths, task: TaskPaths, tmp_path: Path) -> None:
    processes = []
    for number in range(12):
        folder = tmp_path / str(number)
        folder.mkdir()
        left(folder, task.reference.read_text() if number % 2 else "x = 1\n")
        command = [str(part) for part in carried(suite, task.task, folder)]
        processes.append(subprocess.Popen(command, env=BARE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    outputs = [process.communicate(timeout=LIMIT_S) for process in processes]
    assert [process.returncode for process in processes] == [1, 0] * 6, outputs
    assert {err for _, err in outputs} == {""}
