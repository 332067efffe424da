"""From a program to the files that it needs: links, `#!` lines, npm folders, venvs and their base Python.

What cannot be followed is said, for a sandbox that shows too little fails in ways that nobody understands.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from lab.grading.sandbox import SYSTEM_FOLDERS

HEAD_BYTES = 4096
MAX_SCRIPT_BYTES = 1 << 20
MAX_STEPS = 4
"""A program, its interpreter, and the interpreter of that: more is a circle."""
MIN_PREFIX_PARTS = 2
NODES = {"node", "bun", "deno"}
SHELLS = {"sh", "bash", "dash", "ash", "zsh", "ksh"}
# how pip and uv write the line of an interpreter whose path is too long for the kernel, or holds a space
LONG_LINE = re.compile(r"#!/bin/sh\n'''exec' (?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>\S+)) \"\$0\" \"\$@\"\n")
HANDS_OVER = re.compile(r"^\s*(?:\S+=\S*\s+)*exec\s+(?P<word>[^<>&\d\s]\S*)", re.MULTILINE)
BASE_PYTHON = re.compile(r"^home\s*=\s*(.+?)\s*$", re.MULTILINE)
DATA_OF_USERS = {".local"}
"""Folders of a home that have a bin/ and hold much beside programs."""


class Lost(Exception):
    """A program that cannot be followed to all that it needs; the message is a clause that says why."""


def paths_of(program: Path, search: str, *, steps: int = 0) -> tuple[Path, ...]:
    """The files and folders beyond the system's that `program`, an absolute path, needs to run.

    `search` is the PATH on which its interpreter is looked for. Raises Lost.
    """
    if steps == MAX_STEPS:
        raise Lost(f"{program} is interpreted by ever more programs")
    real = program.resolve()
    head = _head(real)
    found = dict.fromkeys(path for place in (program, real) if (path := _venv(place)) is not None)
    for venv in tuple(found):
        found |= dict.fromkeys(_base_python(venv))
    interpreter = _interpreter(real, head, search) if head.startswith(b"#!") else None
    if not found:
        found[_folder(real, interpreter)] = None
    if interpreter is not None:
        if interpreter.name in SHELLS and _hands_over(real, search):
            raise Lost(f"{real} is a shell script that hands over to another program")
        found |= dict.fromkeys(paths_of(interpreter, search, steps=steps + 1))
        if not any(interpreter.is_relative_to(folder) for folder in found):
            found[interpreter] = None  # where `env` finds it, beside where it leads
    return tuple(path for path in found if not _is_system(path))


def is_there(path: Path) -> bool:
    """Whether a path leads to something; one that is too long, or may not be looked at, does not."""
    return os.path.exists(path)  # noqa: PTH110 - Path.exists raises for those, up to Python 3.13


def _folder(real: Path, interpreter: Path | None) -> Path:
    """What a program needs that lies in no venv: its npm folder, its own prefix, or itself."""
    parts = real.parts
    if "node_modules" in parts:
        # the outermost: packages may be hoisted into it, and bundle others below
        return Path(*parts[: parts.index("node_modules") + 1])
    if interpreter is None:
        return _prefix(real) or real
    if interpreter.name not in NODES:
        return real
    # a checkout that was linked: node reads its package.json, and packages below it
    package = next((folder for folder in real.parents if (folder / "package.json").is_file()), None)
    return real if package is None or _is_broad(package) else package


def _prefix(real: Path) -> Path | None:
    """`/opt/node` for `/opt/node/bin/node` where that folder is an installation of its own; None otherwise."""
    prefix = real.parent.parent
    own = real.parent.name == "bin" and ((prefix / "lib").is_dir() or (prefix / "share").is_dir())
    # /opt with a bin/ in it is not one
    return prefix if own and len(prefix.parts) > MIN_PREFIX_PARTS and not _is_broad(prefix) else None


def _is_broad(folder: Path) -> bool:
    """Whether a folder holds more than an installation: the user's home, what holds it, or its data."""
    home = Path.home().resolve()
    return home.is_relative_to(folder) or (folder.name in DATA_OF_USERS and folder.parent == home)


def _venv(program: Path) -> Path | None:
    """The venv in whose bin/ a program is, as it is spelled."""
    folder = program.parent.parent
    return folder if (folder / "pyvenv.cfg").is_file() else None


def _base_python(venv: Path) -> tuple[Path, ...]:
    """The prefixes of the Python that a venv was made from, as its file names it and where its links lead."""
    try:
        match = BASE_PYTHON.search((venv / "pyvenv.cfg").read_text("utf-8", "replace"))
    except OSError as error:
        raise Lost(f"{venv / 'pyvenv.cfg'} cannot be read: {error.strerror}") from error
    if match is None:
        raise Lost(f"{venv / 'pyvenv.cfg'} does not name the Python that the venv was made from")
    named, led = Path(match[1]).parent, (venv / "bin/python").resolve().parent.parent
    for prefix in (named, led):
        if not _is_system(prefix) and (not prefix.is_absolute() or _is_broad(prefix.resolve())):
            raise Lost(f"the Python of {venv} lies in {prefix}, which holds more than a Python")
    if not (venv / "bin/python").exists():
        raise Lost(f"the Python of {venv} is gone")
    return tuple(dict.fromkeys((named, led)))


def _interpreter(script: Path, head: bytes, search: str) -> Path:
    """The program that a `#!` line names, absolute and unresolved."""
    text = os.fsdecode(head)
    if match := LONG_LINE.match(text):
        return _existing(Path(match["quoted"] or match["plain"]), script)
    words = text.partition("\n")[0][2:].split()
    if not words or not words[0].startswith("/"):
        raise Lost(f"the first line of {script} names no interpreter")
    if Path(words[0]).name != "env":
        return _existing(Path(words[0]), script)
    # options of env, and variables that it sets, come before the program
    name = next((word for word in words[1:] if not word.startswith("-") and "=" not in word), None)
    found = shutil.which(name, path=search) if name else None
    if found is None:
        raise Lost(f"{script} needs {name or 'an interpreter'}, which is not on PATH")
    return Path(found).absolute()


def _existing(interpreter: Path, script: Path) -> Path:
    if not is_there(interpreter):
        raise Lost(f"{script} needs {interpreter}, which is gone")
    return interpreter


def _head(real: Path) -> bytes:
    try:
        with real.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise Lost(f"{real} cannot be read: {error.strerror}") from error


def _hands_over(script: Path, search: str) -> bool:
    """Whether a shell script becomes another program, as a version manager's shim does, that is not the system's."""
    with script.open("rb") as file:
        text = os.fsdecode(file.read(MAX_SCRIPT_BYTES))
    for match in HANDS_OVER.finditer(text):
        found = shutil.which(match["word"].strip("\"';"), path=search)
        if found is None or not _is_system(Path(found).resolve()):
            return True
    return False


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in SYSTEM_FOLDERS)
