"""Tools as their installers lay them out, found by lab and started in the real sandbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from lab.grading.isolation import Isolation
from lab.running.agent import agent_of
from lab.running.agent_sandbox import sandbox_trouble
from lab.running.holder import Network
from lab.tools.presence import find
from tests.running.agents import Ground
from tests.tools.adapters import SMALLEST, adapter, program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.sandbox
# from where its link leads, as node does
SAY = 'echo "$0: $*" > solution.py; . "$(dirname "$(readlink -f "$0")")/../../other/lib.sh"\n'


def binary(path: Path) -> Path:
    """A program that is no script: the system's shell under another name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(os.path.realpath("/bin/sh"), path)
    return path


def link(place: Path, target: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))


def npm(home: Path, node: Path) -> list[Path]:
    """A package below a prefix of npm, whose `#!` line is for a node on PATH."""
    modules = home / ".npm/lib/node_modules"
    script = program(modules / "mine/bin/mine.js", "#!/usr/bin/env node\n" + SAY)
    (modules / "other").mkdir()
    (modules / "other/lib.sh").write_text("echo hoisted >> solution.py\n")
    link(home / ".npm/bin/mine", script)
    return [home / ".npm/bin", node.parent]


def npm_with_nvm(home: Path) -> list[Path]:
    node = binary(home / ".nvm/v20/bin/node")
    (home / ".nvm/v20/lib").mkdir()
    return npm(home, node)


def npm_with_a_linked_node(home: Path) -> list[Path]:
    node = binary(home / "opt/node-20/bin/node")
    (home / "opt/node-20/lib").mkdir()
    link(home / ".local/bin/node", node)
    return npm(home, home / ".local/bin/node")


def npm_with_a_lone_node(home: Path) -> list[Path]:
    return npm(home, binary(home / "n/node"))


def lone_binary(home: Path) -> list[Path]:
    link(home / ".local/bin/mine", binary(home / "share/versions/7"))
    return [home / ".local/bin"]


LAYOUTS = (npm_with_nvm, npm_with_a_linked_node, npm_with_a_lone_node)


def left(tmp_path: Path, folders: list[Path], command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What solution.py holds after the tool that these folders have was run in the sandbox."""
    if (why := sandbox_trouble()) is not None:
        pytest.skip(why)
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), os.defpath]))
    ground = Ground(tmp_path / "ground")
    ground.make()
    mine = adapter(tmp_path, SMALLEST.replace('["mine"]', command))
    agent = agent_of(
        mine,
        find(mine),
        isolation=Isolation.BWRAP,
        network=Network.MODEL,
        proxy=None,
        model=None,
        timeout_s=60.0,
        root=ground.root,
        suite=ground.root.suite("tiny"),
    )
    tried, folder = ground.attempt(agent)
    assert tried.exit_code == 0, (folder / "trace/stderr").read_text()
    return (folder / "work/solution.py").read_text()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_package_of_npm_has_its_node_and_what_was_hoisted(
    tmp_path: Path, layout: Callable[[Path], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    text = left(tmp_path, layout(home), '["mine", "a b"]', monkeypatch)
    assert text.endswith("/mine: a b\nhoisted\n")


def test_a_lone_binary_is_started_by_its_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    command = '["mine", "-c", "echo $0 > solution.py"]'
    assert left(tmp_path, lone_binary(home), command, monkeypatch).endswith("/mine\n")


def test_a_program_of_a_venv_has_its_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    venv = home / ".local/pipx/venvs/mine"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = (venv / "lib").glob("python*/site-packages")
    (packages / "mine.py").write_text("def main():\n    open('solution.py', 'w').write('from its package')\n")
    script = program(venv / "bin/mine", f"#!{venv}/bin/python\nimport mine\nmine.main()\n")
    link(home / ".local/bin/mine", script)
    assert left(tmp_path, [home / ".local/bin"], '["mine"]', monkeypatch) == "from its package"
