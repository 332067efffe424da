"""Any command line as a tool: `--command 'agent {prompt_file}'`."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from lab.environment import agent_variables
from lab.errors import LabError
from lab.grading.isolation import Isolation
from lab.grading.sandbox import SYSTEM_FOLDERS
from lab.running.agent import Agent, holder_of
from lab.tools import placeholders
from lab.tools.adapter import Adapter
from lab.tools.presence import find, find_for_sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.layout import Root, SuitePaths
    from lab.running.holder import Network

PLACEHOLDERS = ("prompt", "prompt_file", "work")
WORK_FILES = {"prompt.txt", "solution.py"}


def command_agent(
    name: str,
    words: Sequence[str],
    *,
    isolation: Isolation,
    network: Network,
    timeout_s: float,
    root: Root,
    suite: SuitePaths,
) -> Agent:
    """The tool of a command line, as `parse_command` gave it: it speaks to no model that lab knows of.

    Its sandbox shows the program with what it needs, and the files that the words after it name in full. A plain
    process has all of the user's environment but lab's own settings: its home, too, for that is where such a program
    is set up. Raises LabError where its sandbox would show the root.
    """
    adapter = _adapter(name, words)
    presence = find(adapter) if isolation is Isolation.PROCESS else find_for_sandbox(adapter, root.folder)
    if presence.executable is None:
        raise LabError(f"there is no program {words[0]}", "Check --command and PATH")
    if isolation is Isolation.BWRAP and presence.why_not is not None:
        raise LabError(f"{words[0]} has no sandbox here: {presence.why_not}", "Or use --isolation process")
    shown = dataclasses.replace(presence, paths=(*presence.paths, *_named_files(words)))
    return Agent(
        name=name,
        adapter=adapter,
        program=presence.executable,
        version=None,
        given={"command": list(words)},
        holder=holder_of(shown, isolation, network, relayed=False, root=root, variables=agent_variables()),
        proxy=None,
        model=None,
        timeout_s=timeout_s,
        root=root,
        suite=suite,
    )


def parse_command(text: str) -> tuple[str, ...]:
    """Split a command line as a shell would, without running one, and check its program and placeholders.

    A program named by a relative path is made absolute: the command runs in another folder. Raises LabError.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise LabError(f"--command cannot be split into words: {error}", "Check its quotes") from error
    if not words or not words[0]:
        raise LabError("--command is empty", "Write it like --command 'agent {prompt_file}'")
    for word in words:
        for name in placeholders.names(word):
            if name not in PLACEHOLDERS:
                advice = placeholders.advice(name, PLACEHOLDERS)
                raise LabError(f"--command has no placeholder {{{name}}}", advice)
    program = shutil.which(words[0])
    if program is None:
        raise LabError(f"there is no program {words[0]}", "Check --command and PATH; shell syntax needs sh -c '...'")
    if os.sep in words[0]:
        words[0] = str(Path(program).absolute())
    return tuple(words)


def local_files(words: Sequence[str]) -> list[str]:
    """Words after the program that name a file in the current folder, which the command will not see."""
    return [w for w in words[1:] if w not in WORK_FILES and not w.startswith("/") and Path(w).is_file()]


def _adapter(name: str, words: Sequence[str]) -> Adapter:
    """A command line as the record that other tools have."""
    return Adapter(
        name=name,
        summary="a command line",
        home="",
        install="",
        version=(),
        api=None,
        command=tuple(words),
        environment={},
        files=(),
        extra_paths=(),
        limits=(),
        sha256="",
        source=Path("--command"),
    )


def _named_files(words: Sequence[str]) -> Iterator[Path]:
    """The files that words after the program name in full, but for the system's: a script of one's own, say."""
    for word in words[1:]:
        path = Path(word)
        if path.is_absolute() and not any(path.is_relative_to(folder) for folder in (*SYSTEM_FOLDERS, "/etc")):
            with contextlib.suppress(OSError, ValueError):  # too long for a path, or with a NUL byte: a text, then
                if path.is_file():
                    yield path
