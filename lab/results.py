"""result.json: what one run of a tool on one task came to. Reading, writing, finding."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from lab.files import NotRegularFile, read_regular, write_atomic
from lab.layout import NAME
from lab.proxy.summary import Tokens, Usage  # noqa: TC001 - msgspec reads the annotations
from lab.verdict import Verdict  # noqa: TC001 - msgspec reads the annotations

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.layout import Root

SCHEMA = 1
FILE_NAME = "result.json"
MAX_RESULT_BYTES = 4 << 20

Stop = Literal["done", "timeout", "budget", "interrupted", "model-failure"]


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One try inside a run. `verdict` is None where the attempt was not graded."""

    verdict: Verdict | None = None
    stop: Stop = "done"
    exit_code: int | None = None
    """Of the tool's process, negative for a signal; None where there was no process or it was killed."""
    wall_s: float = 0.0
    peak_mb: float | None = None
    usage: Usage | None = None
    """What it asked of its model; None where lab does not see the tool's requests."""
    notes: tuple[str, ...] = ()
    """What of the work could not be kept as it was left, and why; what lab stopped the tool for."""


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    """A try that its model failed, done again off the books: it counts in no figure, but it was paid for."""

    attempt: int
    """1-based: the attempt that was repeated."""
    wall_s: float = 0.0
    usage: Usage | None = None


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one run; the keys are fixed by the design and scripted against.

    Seconds, MiB, milliseconds and US dollars; null where unknown, never zero.
    """

    schema: int = SCHEMA
    lab: str
    suite: str
    task: str
    tool: str
    tool_version: str | None = None
    model: str | None = None
    settings: dict[str, Any] = {}
    settings_sha256: str = ""
    identity: str = ""
    """sha256 of everything that makes a run the same run."""
    sample: int = 0
    """0-based among the independent runs of this tool on this task."""
    suite_lock_sha256: str = ""
    """Of the whole lock.toml as it was at the time."""
    task_lock_sha256: str = ""
    """Of the task's own entry in it: what must agree for two results to be comparable."""
    limits: dict[str, Any] = {}
    """Of the grading: the task's own, as task.toml names them, with --grade-timeout as `wall_s` where it was given."""
    verdict: Verdict | None = None
    """Of the last attempt that was graded; None in a run that was interrupted."""
    attempts: tuple[Attempt, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    first_try: bool = False
    """Whether the first attempt passed."""
    stop: Stop = "done"
    """Of the last attempt; `budget` where a failed one was not followed by another for want of money."""
    api: str | None = None
    adapter_sha256: str | None = None
    requests: int | None = None
    """This, the tokens, the cost and the wall time are sums over the attempts, without the repeats."""
    tokens: Tokens | None = None
    unknown_tokens: int | None = None
    """Requests whose tokens are not known: where there are any, `tokens` are at least what was used."""
    cost_usd: float | None = None
    earlier_usage: Usage | None = None
    """What was asked in earlier goes at this same run and is in no other figure, for it was done again."""
    ttfb_ms: float | None = None
    """The median of the attempts' medians."""
    wall_s: float = 0.0
    """Of the tool, not of the grading."""
    peak_mb: float | None = None
    """The most resident memory of the tool's process tree in any attempt."""
    isolation: str = "none"
    """Of the tool's process; that of the grading stands in the verdict."""
    network: str = "host"
    started_at: str = ""


@dataclasses.dataclass(frozen=True)
class Unreadable:
    """A result.json that could not be used, and why, in words for one line."""

    path: Path
    reason: str


def write_result(path: Path, result: Result) -> None:
    """Write `result` whole; keys of an earlier record that this version does not know are kept.

    Raises LabError where the disk refuses.
    """
    record = _record(result)
    stored = _stored(path)
    if stored is not None and stored.get("identity") == result.identity:
        record = _keep_unknown(stored, record)
    write_atomic(path, json.dumps(record, indent=1) + "\n")


def read_result(path: Path) -> Result | Unreadable:
    """The record at `path`, or why it cannot be used: half-written, foreign, newer. Never raises."""
    try:
        raw = msgspec.json.decode(read_regular(path, MAX_RESULT_BYTES))
        schema = raw.get("schema") if isinstance(raw, dict) else None
        if isinstance(schema, int) and schema > SCHEMA:
            return Unreadable(path, f"has schema {schema}, newer than this lab's {SCHEMA}")
        return msgspec.convert(raw, Result)
    except FileNotFoundError:
        return Unreadable(path, "is missing")
    except (NotRegularFile, OSError) as error:
        return Unreadable(path, str(error))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Unreadable(path, f"is not a result: {error}")


def find_results(root: Root, suite: str) -> Iterator[Result | Unreadable]:
    """Every result of a suite, in order of path, read at exactly `<tool>/<task>/<run-id>/result.json`.

    What agents left deeper down is never looked at, and no symbolic link is followed.
    """
    for tool in _folders(root.runs / suite):
        for task in _folders(tool):
            for run in _folders(task):
                path = run / FILE_NAME
                found = read_result(path)
                if isinstance(found, Result) and (found.suite, found.tool, found.task) != (suite, tool.name, task.name):
                    found = Unreadable(path, f"is about {found.suite}/{found.tool}/{found.task}, not about its folder")
                yield found


def suites_with_runs(root: Root) -> list[str]:
    """The names of the suites that have a folder of runs."""
    return [folder.name for folder in _folders(root.runs)]


def to_json(result: Result) -> dict[str, Any]:
    """The record as a JSON object, as it stands in the file."""
    return _record(result)


def json_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of result.json. Further keys may stand in it: of a newer lab, or somebody's own."""
    schema = msgspec.json.schema(Result)
    # the expected value is the answer key's: it is not part of the record
    del schema["$defs"]["Verdict"]["properties"]["expected"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "result.json of lab"} | schema


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if e.is_dir(follow_symlinks=False) and NAME.fullmatch(e.name)]
    except OSError:
        return []
    return [folder / name for name in sorted(names)]


def _record(result: Result) -> dict[str, Any]:
    record: dict[str, Any] = msgspec.to_builtins(result)
    for holder in (record, *record["attempts"]):
        if holder["verdict"] is not None:
            # the expected value is the answer key's: it is not part of the record
            holder["verdict"].pop("expected", None)
    return record


def _stored(path: Path) -> dict[str, Any] | None:
    try:
        raw = msgspec.json.decode(read_regular(path, MAX_RESULT_BYTES))
    except (NotRegularFile, OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _keep_unknown(stored: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """`record`, with the keys that only `stored` has, in the record and in its verdict."""
    kept = {key: value for key, value in stored.items() if key not in record} | record
    old, new = stored.get("verdict"), record.get("verdict")
    if isinstance(old, dict) and isinstance(new, dict):
        kept["verdict"] = {k: v for k, v in old.items() if k not in new and k != "expected"} | new
    return kept
