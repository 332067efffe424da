"""What of a tool is on this machine: its program, its version, and the files that its sandbox must show."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lab.console import safe
from lab.environment import UNATTENDED, agent_variables
from lab.errors import LabError
from lab.process import run
from lab.tools import placeholders
from lab.tools.trail import Lost, is_there, paths_of

if TYPE_CHECKING:
    from lab.tools.adapter import Adapter

VERSION_LIMIT_S = 30.0
MAX_VERSION_CHARS = 100
MAX_WHY_CHARS = 300
MAX_OUTPUT_BYTES = 1 << 16
SHIMS = "shims"
"""What pyenv and asdf call the folder of their scripts, which hand over to the real programs."""


@dataclasses.dataclass(frozen=True)
class Presence:
    """What was found of one tool."""

    executable: Path | None
    """Absolute, not resolved; None where it is not on PATH."""
    version: str | None
    """The first line of what its version command prints, escaped, at most 100 characters; None where not asked."""
    paths: tuple[Path, ...]
    """What its sandbox must show read-only beyond the system's folders."""
    why_not: str | None
    """Why it cannot run here, in a line; None where it can."""


class _Mute(Exception):
    """A tool that did not say its version; the message says why."""


def find(adapter: Adapter, *, search: str | None = None) -> Presence:
    """Look for a tool on `search`, a PATH, the user's by default, and ask it for its version: that takes seconds."""
    path = agent_variables().get("PATH", os.defpath) if search is None else search
    found = shutil.which(adapter.command[0], path=path)
    if found is None:
        return Presence(None, None, (), f"{adapter.command[0]} is not on PATH")
    program = Path(found).absolute()
    extra = tuple(map(Path, adapter.extra_paths))
    missing = next((place for place in extra if not is_there(place)), None)
    if missing is not None:
        return _cannot(program, f"extra_paths names {missing}, which is not there")
    try:
        paths = paths_of(program, path)
    except Lost as error:
        # with paths of its own the adapter answers for what cannot be followed
        if not extra:
            return _cannot(program, f"{error}; name what it needs in extra_paths of an adapter of your own")
        paths = (program.resolve(),)
    try:
        version = _version(adapter, program, path)
    except _Mute as error:
        return _cannot(program, str(error))
    return Presence(program, version, tuple(dict.fromkeys((*paths, *extra))), None)


def find_for_sandbox(adapter: Adapter, root: Path) -> Presence:
    """The same for a sandbox, which shows neither what lies inside `root` nor the shims of version managers.

    Programs and interpreters elsewhere on PATH come before those: with lab's venv active, `python3` is one of them.
    """
    path = agent_variables().get("PATH", os.defpath)
    folders = [Path(folder) for folder in path.split(os.pathsep) if folder]
    shown = [f for f in folders if f.name != SHIMS and not f.resolve().is_relative_to(root.resolve())]
    found = find(adapter, search=os.pathsep.join(map(str, shown)))
    return found if found.executable is not None else find(adapter)


def _cannot(program: Path, why: str) -> Presence:
    return Presence(program, None, (), safe(why)[:MAX_WHY_CHARS])


def _version(adapter: Adapter, program: Path, search: str) -> str | None:
    """What the tool says of its version, asked in a private home with nothing to read. Raises _Mute."""
    if not adapter.version:
        return None
    asked = " ".join(adapter.version)
    argv = [str(_asked_program(adapter, program, search)), *adapter.version[1:]]
    with tempfile.TemporaryDirectory(prefix="lab-version-", ignore_cleanup_errors=True) as home:
        settings = {name: text for name, text in adapter.environment.items() if not placeholders.names(text)}
        env = UNATTENDED | settings | {"PATH": search, "HOME": home, "TMPDIR": home}
        try:
            said = run(argv, env=env, cwd=home, timeout_s=VERSION_LIMIT_S, max_output_bytes=MAX_OUTPUT_BYTES)
        except LabError as error:
            raise _Mute(error.what) from error
    if said.timed_out:
        raise _Mute(f"`{asked}` did not end within {VERSION_LIMIT_S:g} s")
    if said.code != 0:
        raise _Mute(f"`{asked}` ended with code {said.code}: {_lines(said.stderr or said.stdout)[-1]}")
    # a tool that warns of something does so on its other output
    return _lines(said.stdout if said.stdout.strip() else said.stderr)[0][:MAX_VERSION_CHARS] or None


def _asked_program(adapter: Adapter, program: Path, search: str) -> Path:
    """The tool itself, or one beside it, such as the Python of its venv; else one on PATH."""
    word = adapter.version[0]
    if word == adapter.command[0]:
        return program
    beside = program.resolve().with_name(Path(word).name)
    found = word if Path(word).is_absolute() else shutil.which(beside) or shutil.which(word, path=search)
    if found is None:
        raise _Mute(f"{word}, which would tell its version, is neither beside it nor on PATH")
    return Path(found)


def _lines(output: bytes) -> list[str]:
    """What was printed, a line each, escaped; at least one."""
    lines = (safe(line.strip()) for line in output.decode("utf-8", "backslashreplace").splitlines())
    return [line for line in lines if line] or [""]
