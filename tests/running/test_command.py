from __future__ import annotations

import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.grading import scratch
from lab.running import child, keep
from lab.running.command import parse_command
from lab.running.keep import keep_work
from tests.running.agents import processes_with

if TYPE_CHECKING:
    from lab.results import Result
    from tests.support.laboratory import Laboratory


def test_a_relative_program_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = tmp_path / "agent"
    agent.write_text("#!/bin/sh\n")
    agent.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert parse_command("./agent 'one word' {prompt_file}") == (str(agent), "one word", "{prompt_file}")
    with pytest.raises(LabError, match="prompt_file"):
        parse_command("./agent {promptfile}")


def run(laboratory: Laboratory, script: str, *more: str) -> Result:
    """Run a shell script as the tool over ones-1, and give its result."""
    said = laboratory("run", "--command", f"sh -c {shlex.quote(script)}", "-t", "ones-1", "--suite", "tiny", *more)
    assert said.code == 0, said.err
    (result,) = laboratory.results("command")
    return result


def attempt(laboratory: Laboratory) -> Path:
    (folder,) = laboratory.root.glob("runs/tiny/command/*/*/attempt-1")
    return folder


def status(result: Result) -> str:
    assert result.verdict is not None
    return result.verdict.status.value


SOLVE = "echo 'def f(x): return x + 1' > solution.py"


BOTH = [pytest.param("bwrap", marks=pytest.mark.sandbox), "process"]


@pytest.mark.parametrize("isolation", BOTH)
def test_the_work_folder_is_fresh_outside_the_root_and_holds_two_files(laboratory: Laboratory, isolation: str) -> None:
    script = f"pwd; ls -a; cat prompt.txt; {SOLVE}; echo note >&2; mkdir sub; echo 1 > sub/x; chmod +x sub/x"
    result = run(laboratory, script, "--isolation", isolation)
    assert (status(result), result.stop, result.attempts[0].exit_code) == ("pass", "done", 0)
    folder = attempt(laboratory)
    work, *rest = (folder / "trace/stdout").read_text().splitlines()
    assert rest == [".", "..", "prompt.txt", "solution.py", "Write f (One/1)."]
    assert (result.isolation, result.network) == (isolation, "model" if isolation == "bwrap" else "host")
    if isolation == "bwrap":
        assert work == "/work"
    else:
        assert not Path(work).is_relative_to(laboratory.root)
        assert not Path(work).exists()
    assert (folder / "trace/stderr").read_text() == "note\n"
    assert (folder / "work/sub/x").read_text() == "1\n"
    assert os.access(folder / "work/sub/x", os.X_OK)
    assert sorted(p.name for p in (folder / "work").iterdir()) == ["prompt.txt", "solution.py", "sub"]


def test_no_shell_is_involved_unless_named(laboratory: Laboratory) -> None:
    said = laboratory("run", "echoer", "--command", "echo $HOME; {prompt_file}", "-n", "1", "--suite", "tiny")
    assert said.code == 0
    (stdout,) = laboratory.root.glob("runs/tiny/echoer/*/*/attempt-1/trace/stdout")
    assert stdout.read_text().startswith("$HOME; /")


def test_labs_own_settings_are_kept_from_the_tool(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "secret-1")
    monkeypatch.setenv("HF_TOKEN", "secret-2")
    monkeypatch.setenv("OTHER", "kept")
    run(laboratory, "env; cat /proc/self/fd/0 2>/dev/null; ls -l /proc/self/fd | wc -l", "--isolation", "process")
    said = (attempt(laboratory) / "trace/stdout").read_text()
    assert "secret" not in said
    assert str(laboratory.root) not in said
    assert "OTHER=kept" in said


@pytest.mark.sandbox
def test_a_script_of_ones_own_is_seen_and_its_folder_is_not(laboratory: Laboratory) -> None:
    own = laboratory.root.parent / "own"
    own.mkdir()
    (own / "agent.sh").write_text(f"{SOLVE}; ls {own}")
    (own / "secret").touch()
    said = laboratory(
        "run", "--command", f"sh {own}/agent.sh", "-t", "ones-1", "--suite", "tiny", "--isolation", "bwrap"
    )
    assert said.code == 0, said.err
    assert status(laboratory.results("command")[0]) == "pass"
    assert (attempt(laboratory) / "trace/stdout").read_text() == "agent.sh\n"


@pytest.mark.sandbox
def test_a_script_inside_the_root_is_refused(laboratory: Laboratory) -> None:
    script = laboratory.root / "agent.sh"
    script.touch()
    said = laboratory("run", "--command", f"sh {script}", "-n", "1", "--suite", "tiny", "--isolation", "bwrap")
    assert said.code == 2
    assert "agent.sh" in said.err
    assert "lies inside the root" in said.err


@pytest.mark.parametrize("name", ["prompt.txt", "solution.py"])
def test_a_task_that_lost_a_file_is_one_line(laboratory: Laboratory, name: str) -> None:
    (laboratory.root / "evals/tiny/tasks/ones-1" / name).unlink()
    said = laboratory("run", "lost", "ones-1", "--suite", "tiny", "--command", "true")
    assert said.code == 1
    verdict = laboratory.results("lost")[0].verdict
    assert verdict is not None
    assert verdict.status.value == "infra"
    assert f"{name} cannot be read" in verdict.reason
    assert "Run lab gen again" in verdict.reason


def test_a_timeout_is_a_stop_and_what_was_left_is_graded(laboratory: Laboratory) -> None:
    started = time.monotonic()
    result = run(laboratory, f"{SOLVE}; sleep 60", "--timeout", "0.5")
    assert time.monotonic() - started < 20
    assert (status(result), result.stop, result.attempts[0].exit_code) == ("pass", "timeout", None)
    assert 0.5 <= result.wall_s < 5


def test_the_process_group_does_not_outlive_the_tool(laboratory: Laboratory) -> None:
    # in a sandbox it is not the process group that sees to it, and test_agent does
    result = run(laboratory, f"{SOLVE}; sleep 60 & echo $!", "--isolation", "process")
    pid = (attempt(laboratory) / "trace/stdout").read_text().strip()
    assert (status(result), result.stop) == ("pass", "done")
    deadline = time.monotonic() + 5
    while Path(f"/proc/{pid}").exists() and "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.sandbox
def test_nothing_outlives_a_lab_that_was_killed(laboratory: Laboratory) -> None:
    mark = f"mark-{os.getpid()}-{laboratory.root.parent.name}"
    script = f"setsid sh -c 'sleep 98; : {mark}' & sleep 99; : {mark}"
    command = f"sh -c {shlex.quote(script)}"
    process = laboratory.start("run", "--command", command, "-n", "1", "--suite", "tiny", "--isolation", "bwrap")
    deadline = time.monotonic() + 20
    while len(processes_with(mark)) < 5:  # lab, bubblewrap twice, and the two shells
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()
    while processes_with(mark):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_daemon_that_holds_the_pipe_does_not_hold_lab(laboratory: Laboratory) -> None:
    started = time.monotonic()
    assert status(run(laboratory, f"{SOLVE}; setsid sleep 8 &")) == "pass"
    assert time.monotonic() - started < 6


@pytest.mark.parametrize(
    ("isolation", "code"), [pytest.param("bwrap", 143, marks=pytest.mark.sandbox), ("process", -15)]
)
def test_exit_code_and_signal_are_recorded_and_decide_nothing(
    laboratory: Laboratory, isolation: str, code: int
) -> None:
    result = run(laboratory, f"{SOLVE}; kill -TERM $$", "--isolation", isolation)
    assert (status(result), result.attempts[0].exit_code) == ("pass", code)
    said = laboratory("run", "other", "--command", "sh -c 'exit 7'", "-t", "ones-1", "--suite", "tiny")
    assert said.code == 0
    assert "wrong ones-1: " in said.out
    assert "exit code 7" in said.out


def test_output_is_capped(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "MAX_OUTPUT_BYTES", 1000)
    result = run(laboratory, f"{SOLVE}; head -c 300000 /dev/zero; echo done >&2")
    assert (attempt(laboratory) / "trace/stdout").read_bytes() == bytes(1000)
    assert (attempt(laboratory) / "trace/stderr").read_text() == "done\n"
    assert result.attempts[0].notes == ("299000 bytes of output were not kept",)


LEFT = [
    ("rm solution.py", "there is no solution.py"),
    ("rm solution.py; mkdir solution.py", "is not a regular file"),
    ("ln -sf /etc/passwd solution.py", "symbolic link"),
    ("rm solution.py; mkfifo solution.py", "is not a regular file"),
    ("printf '\\377\\376' > solution.py", "UTF-8"),
    ("truncate -s 2G solution.py", "larger than"),
]


@pytest.mark.parametrize(("script", "reason"), LEFT)
def test_a_solution_that_is_none(laboratory: Laboratory, script: str, reason: str) -> None:
    result = run(laboratory, script)
    assert status(result) == "missing"
    assert result.verdict is not None
    assert reason in result.verdict.reason
    kept = attempt(laboratory) / "work" / "solution.py"
    assert not kept.is_symlink()
    assert not kept.is_file() or kept.stat().st_size < 100


def test_links_pipes_and_large_files_are_noted_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left, target, secret = tmp_path / "left", tmp_path / "kept", tmp_path / "secret"
    secret.mkdir()
    (secret / "key").write_text("key")
    left.mkdir()
    (left / "file").write_text("ordinary")
    (left / "link").symlink_to(secret / "key")
    (left / "folder-link").symlink_to(secret)
    os.mkfifo(left / "pipe")
    (left / "big").write_bytes(bytes(200))
    (left / os.fsdecode(b"odd-\xff\n")).symlink_to("x")
    locked = left / "locked"
    locked.mkdir()
    (locked / "inner").write_text("inner")
    locked.chmod(0)
    monkeypatch.setattr(keep, "MAX_FILE_BYTES", 100)
    notes = keep_work(left, target)
    assert sorted(str(p.relative_to(target)) for p in target.rglob("*")) == ["file", "locked", "locked/inner"]
    assert len(notes) == 5
    assert not any("\n" in note.encode().decode() and False for note in notes)
    for name in ("link", "folder-link", "pipe", "big", "odd-"):
        assert any(note.startswith(name) for note in notes), name
    locked.chmod(0)
    scratch.remove(str(left))
    assert not left.exists()
    assert (secret / "key").exists()


def test_the_caps_hold_for_all_files_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tmp_path / "left"
    deep = left.joinpath(*"abcd")
    deep.mkdir(parents=True)
    (deep / "x").write_text("x")
    for number in range(30):
        (left / f"file-{number:02}").write_bytes(bytes(10))
    monkeypatch.setattr(keep, "MAX_DEPTH", 2)
    monkeypatch.setattr(keep, "MAX_TOTAL_BYTES", 95)
    notes = keep_work(left, tmp_path / "kept")
    assert sum(p.stat().st_size for p in (tmp_path / "kept").rglob("*") if p.is_file()) == 90
    assert len(notes) == keep.MAX_NOTES + 1
    assert not (tmp_path / "kept" / "a" / "b" / "c" / "d").exists()
    monkeypatch.setattr(keep, "MAX_ENTRIES", 5)
    assert any("more than 5" in note for note in keep_work(left, tmp_path / "again"))


@pytest.mark.parametrize("tool", [("reference",), ("mine", "--command", "true"), ("idle",)], ids=lambda words: words[0])
def test_that_nothing_is_held_is_said_once(
    laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch, tool: tuple[str, ...]
) -> None:
    monkeypatch.setattr("lab.grading.isolation._probe", lambda: (None, "it is not installed"))
    (laboratory.root / "tools").mkdir()
    (laboratory.root / "tools/idle.toml").write_text('name = "idle"\napi = "none"\ncommand = ["true"]\n')
    said = laboratory("run", *tool, "-t", "ones-1", "--suite", "tiny", "--isolation", "auto")
    (line,) = said.err.splitlines()
    assert "graded code has limits only" in line
    assert ("the tool runs without a sandbox" in line) == (tool != ("reference",))
