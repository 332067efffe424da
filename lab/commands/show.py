"""`lab show`: read one task as a person would."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.syntax import Syntax

from lab.console import markup, out, print_json, safe
from lab.errors import ExitCode, LabError
from lab.files import NotRegularFile, read_regular
from lab.selection import find_task
from lab.tasks import read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from lab.environment import Environment
    from lab.layout import Root, SuitePaths
    from lab.tasks import Task

MAX_TEXT_BYTES = 64 << 20
SHOWN_CHARS = 20_000
RULE_CHARS = 100
SHOWN_LINE_CHARS = 400


@dataclasses.dataclass(frozen=True)
class ShowOptions:
    """The options of `lab show`."""

    task: str
    suite: str | None = None
    oracle: bool = False
    as_json: bool = False


def show(root: Root, _environment: Environment, options: ShowOptions) -> ExitCode:
    """Print a task, and with `oracle` its answer key. Raises LabError where there is no such task."""
    suite, task = find_task(root, options.task, options.suite)
    paths = suite.task(task.id)
    texts = {"prompt.txt": paths.prompt, "solution.py": paths.stub}
    if options.oracle:
        texts |= {"reference.py": paths.reference, "test.py": paths.test}
        texts |= {"upstream.py": paths.upstream} if paths.upstream.exists() else {}
    if options.as_json:
        files = {name: _read(path) for name, path in texts.items()}
        print_json({**dataclasses.asdict(task), "repairs": _repairs(suite, task), "files": files})
        return ExitCode.DONE
    console = out()
    console.print(f"[bold]{markup(task.id)}[/] ({markup(task.upstream_id)} of {markup(task.dataset)})")
    console.print(markup(f"function {task.entry_point}, {task.cases or 'an unknown number of'} hidden cases"))
    limits = task.limits
    console.print(markup(f"limits: {limits.cpu_s:g} s of CPU, {limits.case_cpu_s:g} s a case, {limits.memory_mb} MiB"))
    for repair in _repairs(suite, task):
        console.print(markup(f"repair {repair['name']}: {repair['reason']} (source: {repair['source']})"))
    for name, path in texts.items():
        _print_text(console, name, path)
    return ExitCode.DONE


def _repairs(suite: SuitePaths, task: Task) -> list[dict[str, str]]:
    if not task.repairs:
        return []
    known = read_toml(suite.settings).get("repairs", {})
    return [
        {"name": name, **{key: str(known.get(name, {}).get(key, "not recorded")) for key in ("reason", "source")}}
        for name in task.repairs
    ]


def _print_text(console: Console, name: str, path: Path) -> None:
    text = safe(_read(path), keep="\n\t").rstrip("\n")
    lines = [line if len(line) <= SHOWN_LINE_CHARS else line[:SHOWN_LINE_CHARS] + " ..." for line in text.splitlines()]
    shown = "\n".join(lines)[:SHOWN_CHARS]
    console.print(Rule(name, align="left"), width=min(console.width, RULE_CHARS))
    if name.endswith(".py") and console.is_terminal:
        console.print(Syntax(shown, "python", theme="ansi_dark", background_color="default", word_wrap=True))
    else:
        console.out(shown, highlight=False)
    if len(shown) < len(text):
        console.print(markup(f"(cut: the whole text is in {path})"))


def _read(path: Path) -> str:
    try:
        return read_regular(path, MAX_TEXT_BYTES).decode("utf-8", "replace")
    except (NotRegularFile, FileNotFoundError) as error:
        raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
