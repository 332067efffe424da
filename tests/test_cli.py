from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import lab
from lab import cli
from lab.error_handler import guard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.laboratory import Laboratory

COMMANDS = ("gen", "scenarios", "show", "check", "grade", "run", "report", "trace", "tools", "doctor")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0
    said = capsys.readouterr().out
    assert "Usage: lab" in said
    assert "--root" in said


def test_help_teaches_by_examples(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("gen", "scenarios", "show", "check", "grade", "run", "report", "trace"):
        cli.main([command, "--help"])
        assert re.search(rf"^\s+lab {command}\b", capsys.readouterr().out, re.MULTILINE), command


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"lab {lab.__version__}\n"


BAD_USAGE = [
    ("rum reference", "did you mean 'run'"),
    ("run reference --suite tiny --frsh", "--fresh"),
    ("run refrence --suite tiny", "did you mean reference?"),
    ("run --suite tiny", "there are: reference, stub, replay"),
    ("run reference --suite tinny", "did you mean tiny?"),
    ("run reference", "--suite is missing"),
    ("run reference --suite evalplus", "run lab gen --suite evalplus first"),
    ("run reference ones-l --suite tiny", "did you mean ones-"),
    ("run reference --suite tiny --langs one", "did you mean ones?"),
    ("run reference --suite tiny --langs ones,,twos", "--langs"),
    ("run reference --suite tiny --filter-category sum", "did you mean sums?"),
    ("run reference --suite tiny --filter-tags pandas", "there are: sums"),
    ("run reference --suite tiny --isolation none", "isolation"),
    ("run replay --suite tiny", "add --samples file"),
    ("run stub --suite tiny --samples x.jsonl", "--samples is for the tool replay"),
    ("run replay --suite tiny --samples no.jsonl", "there is no samples file no.jsonl"),
    ("run stub --suite tiny --command true", "cannot be the name of a command"),
    ("run ../x --suite tiny --command true", "cannot be the name of a command"),
    ("run --suite tiny --command no-such-program", "there is no program no-such-program"),
    ("run --suite tiny --command ''", "--command is empty"),
    ('run --suite tiny --command "true \'"', "cannot be split"),
    ("run --suite tiny --command 'true {promt_file}'", "did you mean prompt_file"),
    ("grade --suite tiny", "missing argument 'samples'"),
    ("grade x.jsonl", "--suite is missing"),
    ("grade x.jsonl --suite tiny", "there is no samples file x.jsonl"),
    ("grade x.jsonl --suite tiny -t ones-l", "did you mean ones-"),
    ("grade . --suite tiny", "holds no samples"),
    *((f"grade x.jsonl --suite tiny --k {value}", "--k") for value in ("0", "1,", "x", "-1", "1.5", "9" * 10)),
    ("check ones-1", "missing argument 'solution'"),
    ("check ones-1 nowhere.py", "there is no file or folder nowhere.py"),
    ("check one-1 nowhere.py", "did you mean ones-1"),
    ("show One/99", "there is no task one/99"),
    ("show ones-1 --suite nix", "there is no suite nix"),
    ("report --suite tiny", "run lab run reference --suite tiny first"),
    ("report --suite tinny", "did you mean tiny?"),
    ("report", "there are no runs"),
    ("gen", "--suite"),
    ("gen --suite tinny", "did you mean"),
    *(
        (f"run reference --suite tiny {option} {value}", option)
        for option in ("--jobs", "--timeout", "--grade-timeout", "-n", "--random")
        for value in ("0", "-1", "nan", "x", "1e400" if "timeout" in option else "1.5")
    ),
    *((f"gen --suite tiny --limit {value}", "--limit") for value in ("0", "-3", "x")),
    ("run reference --suite tiny --seed -1", "--seed"),
]


@pytest.mark.parametrize(("line", "expected"), BAD_USAGE)
def test_bad_usage_is_one_line_and_exit_2(laboratory: Laboratory, line: str, expected: str) -> None:
    said = laboratory(*shlex.split(line))
    assert said.code == 2
    assert said.out == ""
    assert re.fullmatch(r"lab: [^\n]+\n", said.err)
    assert expected.lower() in said.err.lower()
    assert not laboratory.results()


@pytest.mark.parametrize("jobs", ["many", "0", "9" * 5000])
def test_malformed_environment(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, jobs: str) -> None:
    monkeypatch.setenv("LAB_JOBS", jobs)
    said = laboratory("tools")
    assert (said.code, said.out) == (2, "")
    assert "LAB_JOBS" in said.err


def test_root_may_stand_after_the_command(laboratory: Laboratory, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scenarios", "--root", str(laboratory.root)]) == 0
    assert "ones-11" in capsys.readouterr().out


def test_scenarios(laboratory: Laboratory) -> None:
    said = laboratory("scenarios", "--suite", "tiny", "-n", "3", "--json")
    assert [task["id"] for task in said.json()] == ["ones-1", "ones-2", "ones-3"]
    assert said.json()[0]["tags"] == {"tiny.domain": ["sums"]}
    assert "Two/2" in laboratory("scenarios").out


def test_show(laboratory: Laboratory) -> None:
    said = laboratory("show", "One/2")
    assert "Write f (One/2)." in said.out
    assert "return x + 2" not in said.out
    assert "(cut" not in said.out
    assert "return x + 2" in laboratory("show", "ones-2", "--oracle").out
    files = laboratory("show", "ones-2", "--oracle", "--json").json()["files"]
    assert set(files) == {"prompt.txt", "solution.py", "reference.py", "test.py"}


def test_hostile_texts_are_shown_as_text(laboratory: Laboratory) -> None:
    prompt = laboratory.root / "evals/tiny/tasks/ones-1/prompt.txt"
    prompt.write_text("[bold]not markup[/bold] \x1b[31mred\x07 \u202eback\n")
    said = laboratory("show", "ones-1").out
    assert "[bold]not markup[/bold] \\x1b[31mred\\x07 \\u202eback" in said


def test_check(laboratory: Laboratory, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text("def f(x):\n    return x + 3")
    wrong.write_text("def f(x):\n    return 4")
    assert laboratory("check", "ones-3", right).code == 0
    said = laboratory("check", "One/3", wrong)
    assert said.code == 1
    assert said.out.startswith("wrong ones-3: ")
    record = laboratory("check", "ones-3", wrong, "--json").json()
    assert record["status"] == "wrong"
    assert "expected" not in record
    (tmp_path / "link.py").symlink_to(right)
    assert laboratory("check", "ones-3", tmp_path / "link.py", "--json").json()["status"] == "missing"


def test_tools_and_doctor(laboratory: Laboratory) -> None:
    assert [tool["name"] for tool in laboratory("tools", "--json").json()][:3] == ["reference", "stub", "replay"]
    assert "reference" in laboratory("tools").out
    found = laboratory("doctor", "--json").json()
    assert found["isolation"] in {"bwrap", "process"}
    assert "not built" in found["venvs"]["tiny"]
    assert "grading venv of tiny" in laboratory("doctor").out


def test_a_bug_is_exit_3_with_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> int:
        raise ZeroDivisionError("of all\nthings")

    assert guard(broken) == 3
    said = capsys.readouterr().err
    found = re.fullmatch(r"lab: a bug in lab: ZeroDivisionError: of all things\. The details are in (\S+); .*\n", said)
    assert found
    with open(found[1], encoding="utf-8") as log:  # noqa: PTH123
        assert "Traceback" in log.read()


@pytest.mark.parametrize(
    ("error", "code"),
    [(KeyboardInterrupt(), 130), (OSError(28, "No space left", "/x/y"), 2), (BrokenPipeError(), 1)],
)
def test_exit_codes_of_errors(error: BaseException, code: int, capfd: pytest.CaptureFixture[str]) -> None:
    script = (
        "import sys; from lab.error_handler import guard\n"
        f"def action(): raise {type(error).__name__}(*{error.args!r})\n"
        "sys.exit(guard(action))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.touch(0o000), "cannot read {path}: permission denied. Get leave to read it, "),
        (lambda path: path.parent.chmod(0o000), "cannot read {path}: permission denied. Get leave to read it, "),
        (lambda path: path.touch(0o444), "cannot write {path}: permission denied. Free space or "),
        (lambda _: None, "cannot write {path}: permission denied. Free space or "),
    ],
    ids=["no leave to read", "no leave to look", "no leave to write", "nothing there"],
)
def test_a_refusal_says_what_was_refused(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    tmp_path.chmod(0o755)
    make(path)
    script = (
        "import os\n"
        "from lab.error_handler import guard\n"
        # root may read everything, and nobody may not come here but by a relative path
        f"os.chdir({str(tmp_path)!r}); os.getuid() or (os.setgid(65534), os.setuid(65534))\n"
        "def action(): raise PermissionError(13, 'Permission denied', 'folder/file')\n"
        "raise SystemExit(guard(action))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    path.parent.chmod(0o755)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"lab: {said.format(path='folder/file')}"), done.stderr


def test_a_reader_that_goes_away_is_no_error(laboratory: Laboratory) -> None:
    process = laboratory.start("scenarios")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait() == 1
    with process.stderr as stderr:
        assert stderr.read() == ""
