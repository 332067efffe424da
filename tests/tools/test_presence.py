from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.tools import presence
from lab.tools.presence import MAX_VERSION_CHARS, Presence, find, find_for_sandbox
from tests.tools.adapters import SMALLEST, adapter, program

WITH_VERSION = SMALLEST + 'version = ["mine", "--version"]\n'


def found(folder: Path, script: str | None, text: str = WITH_VERSION) -> Presence:
    """What is found of a tool that is this shell script."""
    if script is not None:
        program(folder / "bin/mine", f"#!/bin/sh\n{script}\n")
    return find(adapter(folder, text), search=f"{folder / 'bin'}:{os.defpath}")


def test_what_is_there(tmp_path: Path) -> None:
    mine = tmp_path / "bin/mine"
    assert found(tmp_path, "echo mine 1.2.3; echo more") == Presence(mine, "mine 1.2.3", (mine,), None)


def test_a_tool_without_a_version_command_is_not_asked(tmp_path: Path) -> None:
    mine = tmp_path / "bin/mine"
    assert found(tmp_path, "touch ../asked", SMALLEST) == Presence(mine, None, (mine,), None)
    assert not (tmp_path / "asked").exists()


def test_what_is_not_there(tmp_path: Path) -> None:
    assert found(tmp_path, None) == Presence(None, None, (), "mine is not on PATH")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mine").write_text("#!/bin/sh\n")  # may not be executed
    assert found(tmp_path, None).executable is None


def test_the_users_path_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "bin/mine")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.defpath}")
    assert find(adapter(tmp_path, WITH_VERSION)).version == "1.2.3"


@pytest.mark.parametrize("first", ["root/.venv/bin", "pyenv/shims"])
def test_a_sandbox_gets_the_interpreter_that_it_may_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """With the venv of a clone active, its `python3` lies inside the root; a shim leads who knows where."""
    for folder in (first, "plain"):
        program(tmp_path / folder / "speak", "#!/bin/sh\nexec /opt/speak\n" if "shims" in folder else "#!/bin/sh\n")
    mine = program(tmp_path / "bin/mine", "#!/usr/bin/env speak\n")
    monkeypatch.setenv(
        "PATH", os.pathsep.join(str(tmp_path / name) for name in ("bin", first, "plain")) + ":/usr/bin:/bin"
    )
    seen = find_for_sandbox(adapter(tmp_path, SMALLEST), tmp_path / "root")
    assert (seen.executable, seen.why_not) == (mine, None)
    assert tmp_path / "plain/speak" in seen.paths
    assert not any(str(path).startswith(str(tmp_path / first)) for path in seen.paths)


def test_a_tool_that_is_nowhere_else_is_found_inside_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = program(tmp_path / "root/.venv/bin/mine", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{mine.parent}:{os.defpath}")
    assert find_for_sandbox(adapter(tmp_path, SMALLEST), tmp_path / "root").executable == mine


SAID = [
    ("echo; echo '  1.0  '", "1.0"),
    ("echo warning >&2; echo 1.0", "1.0"),
    ("echo 1.0 >&2", "1.0"),
    ("printf '\\033[31m1.0\\n'", "\\x1b[31m1.0"),
    ("printf '1.0\\342\\200\\256\\377\\n'", "1.0\\u202e\\xff"),
    ("head -c 60000 /dev/zero | tr '\\0' x", "x" * MAX_VERSION_CHARS),
    ("cat; echo 1.0", "1.0"),
    ("true", None),
]


@pytest.mark.parametrize(("script", "version"), SAID)
def test_a_version_is_one_short_harmless_line(tmp_path: Path, script: str, version: str | None) -> None:
    said = found(tmp_path, script)
    assert (said.version, said.why_not) == (version, None)


def test_it_is_asked_in_a_private_home_without_the_users_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "real"))
    monkeypatch.setenv("LAB_API_KEY", "secret")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    text = WITH_VERSION.replace("none", "anthropic") + '[environment]\nQUIET = "1"\nKEY = "{key}"\n'
    said = found(tmp_path, 'echo "$HOME $PWD $QUIET/$KEY/$LAB_API_KEY$OPENAI_API_KEY"; echo x > "$HOME/left"', text)
    assert said.version is not None
    home, folder, rest = said.version.split()
    assert home == folder != str(tmp_path / "real")
    assert rest == "1//"
    assert not Path(home).exists()
    assert not (tmp_path / "real").exists()


BROKEN = [
    ("echo ok; echo 'No module named x' >&2; exit 1", "`mine --version` ended with code 1: No module named x"),
    ("printf '\\033[1mno\\n'; exit 3", "`mine --version` ended with code 3: \\x1b[1mno"),
    ("kill -9 $$", "`mine --version` ended with code -9: "),
    ("exec /opt/mine/run", "hands over to another program; name what it needs in extra_paths"),
]


@pytest.mark.parametrize(("script", "why"), BROKEN)
def test_why_it_cannot_run(tmp_path: Path, script: str, why: str) -> None:
    said = found(tmp_path, script)
    assert (said.executable, said.version, said.paths) == (tmp_path / "bin/mine", None, ())
    assert said.why_not is not None
    assert why in said.why_not
    assert said.why_not.isprintable()


def test_a_tool_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presence, "VERSION_LIMIT_S", 0.3)
    assert found(tmp_path, "sleep 60").why_not == "`mine --version` did not end within 0.3 s"


def test_a_path_that_is_too_long_is_not_there(tmp_path: Path) -> None:
    long = "/" + "a" * 250 * 15
    said = found(tmp_path, "echo 1", WITH_VERSION + f'extra_paths = ["{long}"]\n')
    assert (said.why_not or "").startswith("extra_paths names /aaa")
    program(tmp_path / "bin/mine", f"#!{long[:3000]}\n")
    assert "needs /aaa" in (found(tmp_path, None).why_not or "")


def test_a_program_that_is_none(tmp_path: Path) -> None:
    program(tmp_path / "bin/mine", "\x7fELF")
    said = found(tmp_path, None)
    assert said.why_not is not None
    assert "could not be started" in said.why_not


def test_extra_paths_answer_for_what_cannot_be_followed(tmp_path: Path) -> None:
    real = program(tmp_path / "opt/run", "#!/bin/sh\necho 7\n")
    text = WITH_VERSION + f'extra_paths = ["{real.parent}"]\n'
    said = found(tmp_path, f"exec {real}", text)
    assert said == Presence(tmp_path / "bin/mine", "7", (tmp_path / "bin/mine", real.parent), None)
    real.unlink()
    real.parent.rmdir()
    assert found(tmp_path, f"exec {real}", text).why_not == f"extra_paths names {real.parent}, which is not there"


def test_a_version_may_be_told_by_a_program_beside_it(tmp_path: Path) -> None:
    text = SMALLEST + 'version = ["python", "-V"]\n'
    program(tmp_path / "venv/bin/mine")
    program(tmp_path / "venv/bin/python", '#!/bin/sh\necho "beside $1"\n')
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/mine").symlink_to(tmp_path / "venv/bin/mine")
    assert found(tmp_path, None, text).version == "beside -V"
    (tmp_path / "venv/bin/python").unlink()
    program(tmp_path / "bin/python", "#!/bin/sh\necho on PATH\n")
    assert found(tmp_path, None, text).version == "on PATH"
    lost = found(tmp_path, None, text.replace('"python"', '"no-such-program"'))
    assert lost.why_not == "no-such-program, which would tell its version, is neither beside it nor on PATH"
