from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.generate.check_script import check_script

# stands for the grader: says what it was given, from where it was started
GRADER = """
import json, os, sys
print(json.dumps([os.path.realpath(sys.argv[1]), *sys.argv[2:]]))
sys.exit(int(os.environ.get("FAKE_CODE", "0")))
"""
# stands for lab: makes a venv with the grader above, or does what FAKE_LAB says
LAB = """
import os, sys
from pathlib import Path
def main(arguments):
    with open(os.environ["FAKE_LOG"], "a") as log: log.write("built\\n")
    if os.environ.get("FAKE_LAB"):
        print("lab: no network", file=sys.stderr)
        return int(os.environ["FAKE_LAB"])
    venv = Path(arguments[0], ".venv")
    (venv / "grader").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin" / "python").symlink_to(sys.executable)
    (venv / "grader" / "__main__.py").write_text(os.environ["FAKE_GRADER"])
    (venv / "lab-ready.json").write_text("{}")
    return 0
"""


class Place:
    """A root with one suite and one task, and a fake lab that can be found through LAB_PYTHON or PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite = folder / "root" / "evals" / "demo"
        self.task = self.suite / "tasks" / "demo-0"
        self.task.mkdir(parents=True)
        self.check = self.task / "check.sh"
        self.check.write_text(check_script())
        self.check.chmod(0o755)
        self.log = folder / "log"
        self.lab = folder / "fake lab"
        (self.lab / "lab").mkdir(parents=True)
        (self.lab / "lab" / "__init__.py").touch()
        (self.lab / "lab" / "venv.py").write_text(LAB)
        self.bare = self.lab / "bin"
        self.bare.mkdir()
        for program in ("bash", "readlink"):
            (self.bare / program).symlink_to(shutil.which(program) or "")
        self.python = self.wrapper(
            "python with lab", f'PYTHONPATH={shlex.quote(str(self.lab))} exec {sys.executable} -S "$@"'
        )

    @property
    def env(self) -> dict[str, str]:
        return {
            "PATH": str(self.bare),
            "FAKE_LOG": str(self.log),
            "FAKE_GRADER": GRADER,
            "LAB_PYTHON": str(self.python),
        }

    def wrapper(self, name: str, line: str) -> Path:
        path = self.lab / name
        path.write_text(f"#!{shutil.which('bash')}\n{line}\n")
        path.chmod(0o755)
        return path

    def build(self) -> None:
        assert self.run(self.check, "work").returncode == 0

    def run(self, *command: str | Path, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            cwd=cwd or self.folder,
            env=self.env | env,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def builds(self) -> int:
        return self.log.read_text().count("built") if self.log.exists() else 0


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "a 'place' with $spaces & más"
    folder.mkdir()
    return Place(folder)


def graded(done: subprocess.CompletedProcess[str]) -> object:
    assert done.stderr == ""
    assert done.returncode == 0
    return json.loads(done.stdout)


def test_it_works_from_any_folder_and_by_any_path(place: Place) -> None:
    place.build()
    (place.folder / "link to root").symlink_to(place.folder / "root")
    (place.folder / "link to task").symlink_to(place.task)
    (place.folder / "link to check").symlink_to(place.check)
    (place.folder / "second link").symlink_to("link to check")
    (place.folder / "-odd").symlink_to(place.task)
    bash = place.bare / "bash"
    work = "a work folder"
    expected = [str(place.task), work, "--json"]
    for command, cwd in (
        ([place.check], None),
        (["./check.sh"], place.task),
        ([bash, "check.sh"], place.task),
        ([bash, "tasks/demo-0/check.sh"], place.suite),
        (["root/evals/demo/tasks/demo-0/check.sh"], None),
        (["link to root/evals/demo/tasks/demo-0/check.sh"], None),
        (["link to task/check.sh"], None),
        (["./link to check"], None),
        ([bash, "second link"], None),
        (["./-odd/check.sh"], None),
        ([place.folder / "second link"], Path("/")),
    ):
        assert graded(place.run(*command, work, "--json", cwd=cwd)) == expected, command
    assert graded(place.run("check.sh", work, "--json", PATH=f"{place.task}:{place.bare}")) == expected
    assert place.builds == 1


@pytest.mark.parametrize("code", [0, 1, 2, 3, 130])
def test_the_grader_decides_the_exit_code(place: Place, code: int) -> None:
    place.build()
    assert place.run(place.check, "work", FAKE_CODE=str(code)).returncode == code


def test_without_an_argument_it_says_its_usage_and_builds_nothing(place: Place) -> None:
    done = place.run(place.check)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "check.sh: usage: check.sh WORKDIR [--json]\n")
    assert place.builds == 0


def test_started_with_another_shell_it_turns_to_bash(place: Place) -> None:
    place.build()
    assert graded(place.run("/bin/sh", place.check, "work")) == [str(place.task), "work"]


@pytest.mark.parametrize("where", ["LAB_PYTHON", "root", "python3 on PATH", "lab on PATH"])
def test_lab_is_found(place: Place, where: str) -> None:
    no_lab = place.wrapper("python without lab", f'exec "{sys.executable}" -I -S "$@"')
    chosen = place.python if where == "LAB_PYTHON" else no_lab
    if where == "root":
        target = place.folder / "root" / ".venv" / "bin" / "python"
        target.parent.mkdir(parents=True)
        target.symlink_to(place.python)
    elif where == "python3 on PATH":
        (place.bare / "python3").symlink_to(place.python)
    elif where == "lab on PATH":
        tool = place.folder / "tool" / "bin"
        tool.mkdir(parents=True)
        (tool / "python").symlink_to(place.python)
        (tool / "lab").write_text("#!/bin/false\n")
        (tool / "lab").chmod(0o755)
        (place.bare / "lab").symlink_to(tool / "lab")
    assert graded(place.run(place.check, "work", LAB_PYTHON=str(chosen))) == [str(place.task), "work"]
    assert place.builds == 1


@pytest.mark.parametrize("lab_python", ["", "/nonexistent/python", "no-such-program"])
def test_without_a_lab_it_says_so_in_one_line(place: Place, lab_python: str) -> None:
    done = place.run(place.check, "work", LAB_PYTHON=lab_python)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "LAB_PYTHON" in done.stderr


@pytest.mark.parametrize("code", [2, 3, 130])
def test_when_lab_cannot_build_its_line_and_code_stand(place: Place, code: int) -> None:
    done = place.run(place.check, "work", FAKE_LAB=str(code))
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "lab: no network\n")


@pytest.mark.parametrize("damage", ["no python", "no ready file", "empty grader", "no grader"])
def test_half_a_venv_is_never_graded_with(place: Place, damage: str) -> None:
    place.build()
    venv = place.suite / ".venv"
    if damage == "no python":
        (venv / "bin" / "python").unlink()
        (venv / "bin" / "python").symlink_to("/nonexistent/python")
    elif damage == "no ready file":
        (venv / "lab-ready.json").unlink()
    elif damage == "empty grader":
        (venv / "grader" / "__main__.py").write_text("")
    else:
        shutil.rmtree(venv / "grader")
    done = place.run(place.check, "work", FAKE_LAB="2")
    assert (done.returncode, done.stdout) == (2, "")
    assert place.builds == 2


def test_a_python_that_cannot_be_started_is_exit_2(place: Place) -> None:
    place.build()
    python = place.suite / ".venv" / "bin" / "python"
    python.unlink()
    python.write_bytes(b"\x7fELF, but not really")
    python.chmod(0o755)
    assert place.run(place.check, "work").returncode == 2


def test_nothing_is_imported_from_the_current_folder(place: Place) -> None:
    work = place.folder / "work"
    (work / "lab").mkdir(parents=True)
    for name in ("lab/__init__.py", "fcntl.py", "os.py", "json.py"):
        (work / name).write_text("raise SystemExit('imported from the work folder')")
    assert graded(place.run(place.check, ".", cwd=work)) == [str(place.task), "."]


def test_many_at_once_build_once(place: Place) -> None:
    started = [
        subprocess.Popen([place.check, "work"], cwd=place.folder, env=place.env, stdout=subprocess.PIPE)
        for _ in range(40)
    ]
    assert {process.communicate()[0].count(b"demo-0") for process in started} == {1}
    assert {process.returncode for process in started} == {0}
    assert place.builds == 1


def test_the_fast_path_starts_no_process_of_its_own(place: Place) -> None:
    place.build()
    for name in ("readlink", "python3"):
        (place.bare / name).unlink(missing_ok=True)
    done = place.run("bash", "-x", place.check, "work", BASH_XTRACEFD="", LAB_PYTHON="")
    assert done.returncode == 0
    # bash -x marks each level of subshell with a further plus
    assert not [line for line in done.stderr.splitlines() if line.startswith("++")]
