"""The suite-level TOML files: what they say before a generation, and what they are to say after it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

import tomli_w

import lab
from lab.errors import LabError
from lab.generate.proof import Proven
from lab.grading.limits import Measured
from lab.layout import NAME
from lab.order import natural
from lab.tasks import LockEntry, read_lock, read_toml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lab.datasets import Rows
    from lab.generate.proof import Refused
    from lab.grading.site import Venv
    from lab.layout import SuitePaths
    from lab.suites.base import Dataset, Problem, Suite

Table = dict[str, Any]
Value = TypeVar("Value")

LOCK_SCHEMA = 1


@dataclasses.dataclass
class Ledger:
    """What is known of a suite, one entry a task or dataset. Changed in place while a generation goes on."""

    lock: dict[str, LockEntry]
    rows: dict[str, Table]
    """Dataset to sha256 and known, as in the lock."""
    sources: dict[str, Table]
    """Dataset to where its rows came from."""
    measured: dict[str, Table]
    tags: dict[str, Table]
    dropped: dict[str, Table]
    repairs: dict[str, Table]
    """Repair to reason and source."""
    constant_answers: dict[str, str]
    unproven: set[str]

    def known_proof(self, task_id: str, key: str, venv: Venv | None) -> Proven | None:
        """An earlier proof of exactly this problem, made here by the same grader in the same venv.

        Without a venv (nothing is to be proven) any grader's proof counts.
        """
        table = self.measured.get(task_id, {})
        if table.get("proof") != key or (venv and (table.get("grader"), table.get("venv")) != _identity(venv)):
            return None
        try:
            measured = Measured(**{f.name: table[f.name] for f in dataclasses.fields(Measured)})
            return Proven(measured, tuple(str(value) for value in table["constants"]))
        except (KeyError, TypeError):
            return None

    def seconds(self, problem: Problem) -> float:
        """CPU seconds that the problem's reference is known to take, whoever says so; 0 where nobody does."""
        seconds = self.measured.get(problem.task_id, {}).get("cpu_s", problem.weight)
        return float(seconds) if isinstance(seconds, int | float) else problem.weight

    def prove(self, problem: Problem, key: str, proof: Proven, venv: Venv) -> None:
        """Note a proof."""
        grader, fingerprint = _identity(venv)
        self.measured[problem.task_id] = {
            "proof": key,
            "grader": grader,
            "venv": fingerprint,
            "constants": list(proof.constants),
            # as it is: limits rounded from a rounded number could differ the next time
            **dataclasses.asdict(proof.measured),
        }

    def note_rows(self, dataset: Dataset, rows: Rows) -> None:
        """Note which rows a dataset's tasks are made from now; the same rows from elsewhere are no news."""
        identity = {"sha256": rows.digest, "known": rows.known}
        if self.rows.get(dataset.name) == identity and dataset.name in self.sources:
            return
        self.rows[dataset.name] = identity
        self.sources[dataset.name] = {
            "origin": rows.origin,
            "rows": len(rows.rows),
            "hub_id": dataset.hub_id or "",
            "licence": dataset.licence,
        }

    def keep(self, problem: Problem, entry: LockEntry, *, proven: bool) -> None:
        """Note that a problem is a task of the suite."""
        name = problem.task_id
        self.lock[name] = entry
        self.dropped.pop(name, None)
        self.tags.pop(name, None)
        if problem.tags:
            self.tags[name] = {space: list(values) for space, values in sorted(problem.tags.items())}
        self.repairs |= {r.name: {"reason": r.reason, "source": r.source} for r in problem.repairs}
        self.constant_answers.pop(name, None)
        if problem.constant_answer is not None:
            self.constant_answers[name] = problem.constant_answer
        (self.unproven.discard if proven else self.unproven.add)(name)

    def drop(self, task_id: str, upstream_id: str, refused: Refused) -> None:
        """Note that a problem is not kept; what lab could not grade stays as it was."""
        if not refused.ungraded:
            self.forget(task_id)
        texts = {"upstream_id": upstream_id, "reason": refused.reason, "output": refused.output}
        # what graded code said may hold what UTF-8 cannot
        self.dropped[task_id] = {k: v.encode("utf-8", "backslashreplace").decode("utf-8") for k, v in texts.items()}

    def forget(self, task_id: str) -> None:
        """Take a problem out of every file."""
        for table in (self.lock, self.measured, self.tags, self.dropped, self.constant_answers):
            table.pop(task_id, None)
        self.unproven.discard(task_id)

    def lock_toml(self, suite: Suite) -> str:
        """The suite's identity: the same bytes for the same rows and selection, on any machine."""
        tasks = {name: _lock_table(entry) for name, entry in _in_order(self.lock).items()}
        head = {"name": suite.name, "schema": LOCK_SCHEMA}
        return tomli_w.dumps({"suite": head, "rows": _in_order(self._live(self.rows)), "tasks": tasks})

    def suite_toml(self, suite: Suite) -> str:
        """What the suite is made from and by what."""
        used = {name for entry in self.lock.values() for name in entry.repairs}
        table: Table = {
            "name": suite.name,
            "generator": lab.__version__,
            "requirements": suite.requirements,
            "counts": {"kept": len(self.lock), "dropped": len(self.dropped), "unproven": len(self.unproven)},
            "unproven": sorted(self.unproven, key=natural),
            "datasets": _in_order(self._live(self.sources)),
            "repairs": {name: table for name, table in sorted(self.repairs.items()) if name in used},
            "constant_answers": _in_order(self.constant_answers),
        }
        return tomli_w.dumps(table)

    def measured_toml(self) -> str:
        """What the proofs measured on this machine."""
        return tomli_w.dumps({"tasks": _in_order(self.measured)})

    def documents(self, suite: Suite, paths: SuitePaths) -> dict[Path, str]:
        """The text of every suite-level file; the lock comes last, as it must be written last."""
        return {
            paths.measured: self.measured_toml(),
            paths.tags: tomli_w.dumps({name: self.tags[name] for name in _in_order(self.lock) if name in self.tags}),
            paths.dropped: tomli_w.dumps(_in_order(self.dropped)),
            paths.settings: self.suite_toml(suite),
            paths.lock: self.lock_toml(suite),
        }

    def _live(self, tables: Mapping[str, Table]) -> dict[str, Table]:
        """Of tables by dataset, those of a dataset that still has a task or a dropped problem."""
        stems = {name.rpartition("-")[0] for name in (*self.lock, *self.dropped)}
        return {name: table for name, table in tables.items() if name in stems}


def read_ledger(paths: SuitePaths, say: Callable[[str], None]) -> Ledger:
    """What the suite's files say. One that is broken counts as empty, and is said: gen is what mends it."""
    settings = _read(paths.settings, say)
    try:
        lock = read_lock(paths) if paths.lock.exists() else {}
    except LabError:
        say(f"{paths.lock} is broken: every task is made anew")
        lock = {}
    head = _read(paths.lock, say) if lock else {}
    unproven = settings.get("unproven")
    return Ledger(
        # a name becomes a path, and what is gone is deleted there
        lock={name: entry for name, entry in lock.items() if NAME.fullmatch(name)},
        rows=_tables(head.get("rows")),
        sources=_tables(settings.get("datasets")),
        measured=_tables(_read(paths.measured, say).get("tasks")),
        tags=_tables(_read(paths.tags, say)),
        dropped={name: table for name, table in _tables(_read(paths.dropped, say)).items() if NAME.fullmatch(name)},
        repairs=_tables(settings.get("repairs")),
        constant_answers={str(k): str(v) for k, v in _table(settings.get("constant_answers")).items()},
        unproven={str(name) for name in unproven} if isinstance(unproven, list) else set(),
    )


def _read(path: Path, say: Callable[[str], None]) -> Table:
    if not path.exists():
        return {}
    try:
        return read_toml(path)
    except LabError as error:
        say(f"{error.what}: it is written anew")
        return {}


def _table(value: object) -> Table:
    return value if isinstance(value, dict) else {}


def _tables(value: object) -> dict[str, Table]:
    return {name: table for name, table in _table(value).items() if isinstance(table, dict)}


def _in_order(tables: Mapping[str, Value]) -> dict[str, Value]:
    return {name: tables[name] for name in sorted(tables, key=natural)}


def _identity(venv: Venv) -> tuple[str, str]:
    return venv.grader, venv.fingerprint


def _lock_table(entry: LockEntry) -> Table:
    return dataclasses.asdict(entry) | {"repairs": list(entry.repairs)}
