"""An adapter file, from TOML to a checked record. What is wrong with it is said with its line."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from lab.apis import Api
from lab.errors import LabError, did_you_mean
from lab.files import NotRegularFile, read_regular
from lab.layout import NAME
from lab.tools import placeholders
from lab.tools.adapter import Adapter, ConfigFile
from lab.tools.built_in import TAKEN
from lab.tools.statements import line_of

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_ADAPTER_BYTES = 64 << 10
MAX_PATH_BYTES = 4095
MADE_ANEW = ("/proc", "/dev")
"""What a sandbox has of its own: the machine's would show all processes, with what they were started with."""
OF_A_MODEL = {"model", "base_url", "key"}
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
KEPT_FROM_TOOLS = ("LAB_", "LD_")
"""lab's own settings, and those that would change how lab's programs are loaded before the tool starts."""
FOLDERS = ("{home}", "{work}")
TASK_FILES = ("{work}/prompt.txt", "{work}/solution.py")
SYNTAX_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
FAULT_PLACE = re.compile(r" - at `\$(?P<path>.*)`$")


class _File(msgspec.Struct, frozen=True):
    path: str
    text: str


class _Keys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of an adapter file."""

    name: str
    api: Literal["openai-chat", "openai-responses", "anthropic", "gemini", "none"]
    command: tuple[str, ...]
    summary: str = ""
    home: str = ""
    install: str = ""
    version: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    files: tuple[_File, ...] = ()
    extra_paths: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()


KEYS = _Keys.__struct_fields__


def read_adapter(path: Path) -> Adapter:
    """Read and check one adapter file. Raises LabError, as `FILE:LINE: what` wherever a line is to blame."""
    try:
        data = read_regular(path, MAX_ADAPTER_BYTES)
        text = data.decode("utf-8")
    except FileNotFoundError as error:
        raise LabError(f"{path} is not there", "See lab tools") from error
    except NotRegularFile as error:
        raise LabError(f"{path} {error}", "It should be a TOML file of one adapter") from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise LabError(f"{path}:{line}: not UTF-8", "Save it as UTF-8") from error
    checked = _Reader(path, text).read()
    return Adapter(
        name=checked.name,
        summary=checked.summary,
        home=checked.home,
        install=checked.install,
        version=checked.version,
        api=None if checked.api == "none" else Api(checked.api),
        command=checked.command,
        environment=checked.environment,
        files=tuple(ConfigFile(file.path, file.text) for file in checked.files),
        extra_paths=checked.extra_paths,
        limits=checked.limits,
        sha256=hashlib.sha256(data).hexdigest(),
        source=path,
    )


class _Reader:
    """The checks, in the order in which a person would want to hear of what is wrong."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    def read(self) -> _Keys:
        keys = self._keys()
        self._check_name(keys.name)
        self._check_commands(keys)
        self._check_environment(keys)
        self._check_files(keys)
        for number, extra in enumerate(keys.extra_paths):
            self._check_extra_path(("extra_paths", number), extra)
        return keys

    def _keys(self) -> _Keys:
        try:
            table = tomllib.loads(self._text)
        except RecursionError as error:
            raise LabError(f"{self._path}:1: nested too deeply", "An adapter is flat") from error
        except ValueError as error:  # a number beyond what int reads is no TOMLDecodeError
            what = str(error)
            place = SYNTAX_LINE.search(what)
            number = int(place[1]) if place else self._text.count("\n") + 1
            what = what[: place.start()] if place else what
            raise LabError(f"{self._path}:{number}: not TOML: {what}", "Correct that line") from error
        self._check_known(table, KEYS, ())
        for number, file in enumerate(files if isinstance(files := table.get("files"), list) else ()):
            if isinstance(file, dict):
                self._check_known(file, _File.__struct_fields__, ("files", number))
        try:
            return msgspec.convert(table, _Keys)
        except msgspec.ValidationError as error:
            what = str(error)
            place = FAULT_PLACE.search(what)
            at = _parts(place["path"]) if place else ()
            key = f"{at[0]}: " if at else ""
            what = what[: place.start()] if place else what
            raise self._fault(at, key + what[0].lower() + what[1:], "See docs/agents.md") from error

    def _check_known(self, table: Collection[str], known: Collection[str], at: tuple[str | int, ...]) -> None:
        for key in table:
            if key not in known:
                raise self._fault((*at, key), f"there is no key {key!r} in an adapter", did_you_mean(key, known))

    def _check_name(self, name: str) -> None:
        if name != self._path.stem:
            raise self._fault(
                ("name",), f"the name is {name!r}, the file's is {self._path.stem!r}", "Make them the same"
            )
        if not NAME.fullmatch(name):
            raise self._fault(("name",), f"{name!r} is not a name", "Use letters, digits, dot, dash and underscore")
        if name in TAKEN:
            raise self._fault(("name",), f"{name} is built in", "Choose another name")

    def _check_commands(self, keys: _Keys) -> None:
        for key, words in (("command", keys.command), ("version", keys.version)):
            for number, word in enumerate(words):
                allowed = placeholders.PLACEHOLDERS if key == "command" and number else ()
                self._check_text((key, number), word, keys, allowed)
        if not keys.command or not keys.command[0].strip():
            raise self._fault(("command",), "command names no program", 'Write it like command = ["agent", "{prompt}"]')
        for key, words in (("command", keys.command), ("version", keys.version)):
            if words and "/" in words[0] and not words[0].startswith("/"):
                raise self._fault(
                    (key,), f"{words[0]!r} is a relative path", "Name a program on PATH, or a path from /"
                )

    def _check_environment(self, keys: _Keys) -> None:
        for name, value in keys.environment.items():
            at = ("environment", name)
            if not VARIABLE.fullmatch(name):
                raise self._fault(at, f"{name!r} is not the name of a variable", "Use letters, digits and underscore")
            if name.startswith(KEPT_FROM_TOOLS):
                raise self._fault(at, f"{name} cannot be set", f"Not: {', '.join(f'{k}*' for k in KEPT_FROM_TOOLS)}")
            self._check_text(at, value, keys, placeholders.PLACEHOLDERS)

    def _check_files(self, keys: _Keys) -> None:
        without_prompt = [name for name in placeholders.PLACEHOLDERS if name != "prompt"]
        for number, file in enumerate(keys.files):
            at = ("files", number, "path")
            folder, _, rest = file.path.partition("/")
            if folder not in FOLDERS:
                raise self._fault(
                    at, f"{file.path!r} is neither in the home nor in the work folder", "Begin it with {home}/"
                )
            if any(part in {"", ".", ".."} for part in rest.split("/")):
                raise self._fault(at, f"{file.path!r} is not the plain path of a file", "Write it without //, . and ..")
            if file.path in TASK_FILES:
                raise self._fault(at, f"{file.path} is the task's own", "Choose another name")
            # a model's name may hold a slash, and dots
            self._check_text(at, rest, keys, ())
            self._check_text(("files", number, "text"), file.text, keys, without_prompt)

    def _check_extra_path(self, at: tuple[str | int, ...], extra: str) -> None:
        if (size := len(extra.encode())) > MAX_PATH_BYTES:
            raise self._fault(at, f"of {size} bytes, which is longer than a path can be", "Write a shorter one")
        if not extra.startswith("/") or "\0" in extra:
            raise self._fault(at, f"{extra!r} is not an absolute path", "Begin it with /")
        if any(Path(os.path.normpath(extra)).is_relative_to(folder) for folder in MADE_ANEW):
            raise self._fault(at, f"{extra} is the sandbox's own", f"Name nothing below {' and '.join(MADE_ANEW)}")

    def _check_text(self, at: tuple[str | int, ...], text: str, keys: _Keys, allowed: Collection[str]) -> None:
        if "\0" in text and at[-1] != "text":
            raise self._fault(at, f"{at[0]} holds a NUL character", "Remove it")
        for name in placeholders.names(text):
            if name not in placeholders.PLACEHOLDERS:
                advice = placeholders.advice(name, allowed or placeholders.PLACEHOLDERS)
                raise self._fault(at, f"there is no placeholder {{{name}}}", advice)
            if name not in allowed:
                raise self._fault(at, f"{{{name}}} cannot stand here", _why_not(name, at))
            if keys.api == "none" and name in OF_A_MODEL:
                raise self._fault(at, f"{{{name}}} has no value: api is none", "Say which API the tool speaks")

    def _fault(self, at: tuple[str | int, ...], what: str, fix: str) -> LabError:
        return LabError(f"{self._path}:{line_of(self._text, at)}: {what}", fix)


def _why_not(name: str, at: tuple[str | int, ...]) -> str:
    if at[-1] == "text" and name == "prompt":
        return "A file cannot quote any text that there is; use {prompt_file}"
    return "Write this word in full"


def _parts(path: str) -> tuple[str | int, ...]:
    """`.files[0].path` as keys. The key of a table of texts is not told: `.environment[...]`."""
    return tuple(
        int(part) if part.isdecimal() else part for part in re.findall(r"[^.\[\]]+", path.replace("[...]", ""))
    )
