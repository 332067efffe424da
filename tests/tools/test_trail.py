from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from lab.tools.trail import Lost, paths_of
from tests.tools.adapters import program

ELF = "\x7fELF, or something like it"
NODE = "#!/usr/bin/env node\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, somewhere below which most tools are installed."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def venv(folder: Path, base: Path, *, name: str = "python3") -> Path:
    """A venv of the Python whose prefix is `base`."""
    python = base / "bin" / name
    if not python.exists():
        program(python, ELF)
        (base / "lib").mkdir()
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"home = {base / 'bin'}\nversion = 3.11.7\n")
    (folder / "bin/python").symlink_to(python)
    return folder


def link(place: Path, target: str | Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return place


def test_programs_of_the_system_need_nothing(home: Path) -> None:
    assert paths_of(Path("/bin/sh"), "") == ()


def test_a_lone_binary_is_itself_wherever_its_link_lies(home: Path) -> None:
    real = program(home / "go/bin/tomo", ELF)
    assert paths_of(real, "") == (real,)
    assert paths_of(link(home / ".local/bin/tomo", "../../go/bin/tomo"), "") == (real,)
    # a folder with a bin/ and a lib/ that is no installation of its own
    for folder in (home / ".local", home):
        (folder / "lib").mkdir()
        real = program(folder / "bin/claude", ELF)
        assert paths_of(real, "") == (real,)


def test_a_binary_in_an_installation_of_its_own_is_all_of_it(home: Path) -> None:
    real = program(home / "opt/agent-1/bin/agent", ELF)
    (home / "opt/agent-1/lib").mkdir()
    assert paths_of(link(home / "bin/agent", real), "") == (home / "opt/agent-1",)


def test_an_npm_program_is_its_node_modules_and_its_node(home: Path) -> None:
    prefix, node = home / ".npm-global", home / ".nvm/versions/node/v20"
    modules = prefix / "lib/node_modules"
    program(modules / "@x/agent/bin/agent.js", NODE)
    program(modules / "@x/agent/node_modules/y/z.js", NODE)
    (node / "lib").mkdir(parents=True)
    program(node / "bin/node", ELF)
    agent = link(prefix / "bin/agent", "../lib/node_modules/@x/agent/bin/agent.js")
    assert paths_of(agent, str(node / "bin")) == (modules, node)
    # a package that a package brings is in the outermost
    inner = link(prefix / "bin/inner", modules / "@x/agent/node_modules/y/z.js")
    assert paths_of(inner, str(node / "bin")) == (modules, node)
    # where PATH finds node by a link, the link's place is needed too
    alias = link(home / "bin/node", node / "bin/node")
    assert paths_of(agent, str(home / "bin")) == (modules, node, alias)
    with pytest.raises(Lost, match=r"needs node, which is not on PATH"):
        paths_of(agent, str(prefix / "bin"))


def test_a_linked_checkout_is_its_package(home: Path) -> None:
    node = program(home / "n/node", ELF)
    agent = program(home / "src/agent/dist/cli.js", "#!/usr/bin/env -S node --no-warnings\n")
    assert paths_of(agent, str(node.parent)) == (agent, node)
    (home / "package.json").write_text("{}")
    assert paths_of(agent, str(node.parent)) == (agent, node)  # never the home
    (home / "src/agent/package.json").write_text("{}")
    assert paths_of(agent, str(node.parent)) == (home / "src/agent", node)


def test_a_program_of_a_venv_is_the_venv_and_its_base_python(home: Path) -> None:
    tool = venv(home / ".local/share/pipx/venvs/mini", home / ".pyenv/versions/3.11.7")
    script = program(tool / "bin/mini", f"#!{tool}/bin/python\n")
    expected = (tool, home / ".pyenv/versions/3.11.7")
    assert paths_of(script, "") == expected
    assert paths_of(link(home / ".local/bin/mini", script), "") == expected
    # a script elsewhere, of that Python
    other = program(home / "bin/other.py", f"#!{tool}/bin/python -I\n")
    assert paths_of(other, "") == (other, *expected)
    # uv names its Pythons by a link
    base = link(home / ".uv/cpython-3.11", home / ".pyenv/versions/3.11.7")
    (tool / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    assert paths_of(script, "") == (tool, base, home / ".pyenv/versions/3.11.7")


@pytest.mark.parametrize("quote", ['"', ""])
def test_the_long_line_of_pip_is_read(home: Path, quote: str) -> None:
    tool = venv(home / "venv", home / "python")
    line = f"#!/bin/sh\n'''exec' {quote}{tool}/bin/python{quote} \"$0\" \"$@\"\n' '''\n"
    script = program(home / "bin/agent", line + "import agent\n")
    assert paths_of(script, "") == (script, tool, home / "python")


def test_this_pythons_own_venv() -> None:
    if sys.prefix == sys.base_prefix:
        pytest.skip("the tests do not run in a venv")
    paths = paths_of(Path(sys.prefix) / "bin/python", "")
    assert paths[0] == Path(sys.prefix)
    system = Path(sys.base_prefix).is_relative_to("/usr")
    assert system or Path(sys.base_prefix).resolve() in {path.resolve() for path in paths}


SHIM = '#!/usr/bin/env bash\nset -e\nprogram="${0##*/}"\nexec "/home/u/.pyenv/libexec/pyenv" exec "$program" "$@"\n'
HANDING_OVER = [SHIM, "#!/bin/sh\nexec /opt/agent/run\n", "#!/bin/bash\n\n  A=1 B=2 exec agent\n"]


@pytest.mark.parametrize("text", HANDING_OVER)
def test_a_script_that_hands_over_cannot_be_followed(home: Path, text: str) -> None:
    with pytest.raises(Lost, match=r"shims/mini is a shell script that hands over to another program"):
        paths_of(program(home / ".pyenv/shims/mini", text), os.defpath)


@pytest.mark.parametrize(
    "text",
    [
        "curl {}\n",
        "exec 2>&1\ncurl\n",
        "exec >log\n",
        "# exec x\n",
        "echo exec x\n",
        "exec sh -c x\n",
        "exec '/bin/sh'",
    ],
)
def test_a_script_of_the_users_own_is_itself(home: Path, text: str) -> None:
    script = program(home / "agent", "#!/bin/sh\n" + text)
    assert paths_of(script, os.defpath) == (script,)


def test_what_cannot_be_followed_is_said(home: Path) -> None:
    base = home / "python"
    tool = venv(home / "venv", base)
    script = program(tool / "bin/agent", f"#!{tool}/bin/python\n")
    config = tool / "pyvenv.cfg"
    for text, why in (
        ("", "does not name the Python"),
        (f"home = {home}/bin\n", "holds more than a Python"),
        (f"home = {home}/.local/bin\n", "holds more than a Python"),
        ("home = bin\n", "holds more than a Python"),
    ):
        config.write_text(text)
        with pytest.raises(Lost, match=why):
            paths_of(script, "")
    config.write_text(f"home = {base}/bin\n")
    (base / "bin/python3").unlink()
    with pytest.raises(Lost, match="is gone"):
        paths_of(script, "")
    for number, (text, why) in enumerate(
        (
            ("#!\n", "names no interpreter"),
            ("#!python\n", "names no interpreter"),
            ("#!/usr/bin/env\n", "needs an interpreter, which is not on PATH"),
            ("#!/usr/bin/env A=1 -x nothing\n", "needs nothing, which is not on PATH"),
            (f"#!{home}/gone\n", "is gone"),
        )
    ):
        with pytest.raises(Lost, match=why):
            paths_of(program(home / f"bin/{number}", text), os.defpath)


def test_a_circle_of_interpreters_ends(home: Path) -> None:
    one = program(home / "one", f"#!{home}/two\n")
    program(home / "two", f"#!{home}/one\n")
    with pytest.raises(Lost, match="ever more programs"):
        paths_of(one, "")
