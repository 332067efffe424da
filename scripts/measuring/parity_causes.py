"""Why EvalPlus and lab disagree on a sample: causes that were found, and their evidence, measured anew each time."""

from __future__ import annotations

import dataclasses
import gzip
import json
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring.programs import Failed, run

if TYPE_CHECKING:
    from collections.abc import Sequence

CAUSES = Path(__file__).with_suffix(".toml")
TRIAL = Path(__file__).with_name("parity_trial.py")
ROWS = {"HumanEval": "HumanEvalPlus.jsonl.gz", "Mbpp": "MbppPlus.jsonl.gz"}
"""The first part of an upstream id to EvalPlus's own rows, with inputs and references."""
MIN_LIMIT_S, FACTOR = 1.0, 4.0
"""EvalPlus 0.3.1, config.py and eval/__init__.py: a case may take the greater of 1 s and 4 times its reference."""


@dataclasses.dataclass(frozen=True)
class Cause:
    """Why EvalPlus failed what lab passes."""

    task: str
    """Upstream id."""
    solutions: tuple[str, ...]
    """sha256 of the text of each sample that it is the cause for."""
    cause: str
    """In a sentence."""
    kind: str
    """What is measured: time or memory."""
    frames: int = 0
    """For memory: how many frames EvalPlus has above the solution,"""
    slots: int = 0
    """and how many variables and operands they have room for."""


@dataclasses.dataclass(frozen=True)
class Evidence:
    """What was measured, and whether it bears the cause out."""

    holds: bool
    text: str


def read_causes(path: Path = CAUSES) -> tuple[Cause, ...]:
    """Raises Failed where the file is not as it should be."""
    try:
        tables = tomllib.loads(path.read_text("utf-8"))["causes"]
        causes = tuple(Cause(**{**table, "solutions": tuple(table["solutions"])}) for table in tables)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"{path}: {error}") from error
    if strange := {cause.kind for cause in causes} - {"time", "memory"}:
        raise Failed(f"{path}: there is no evidence called {', '.join(sorted(strange))}")
    return causes


def find_cause(causes: Sequence[Cause], task: str, solution_sha256: str) -> Cause | None:
    return next((cause for cause in causes if cause.task == task and solution_sha256 in cause.solutions), None)


def measure(cause: Cause, solution: str, shared: Path) -> Evidence:
    """Run the solution beside EvalPlus's reference on EvalPlus's inputs. Raises Failed where it does not run."""
    row = _row(shared, cause.task)
    job = {
        "kind": cause.kind,
        "frames": cause.frames,
        "slots": cause.slots,
        "solution": solution,
        "reference": row["prompt"] + row["canonical_solution"],
        **{name: row[name] for name in ("entry_point", "base_input", "plus_input")},
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(job), "utf-8")
        found = json.loads(run([sys.executable, "-I", TRIAL, path], cwd=Path(folder)).out.splitlines()[-1])
    return judge_time(found) if cause.kind == "time" else judge_memory(found)


def judge_time(found: dict[str, Any]) -> Evidence:
    """Whether a case takes more CPU seconds than EvalPlus gives it seconds, and all answers are the reference's."""
    limits = [(taken, max(MIN_LIMIT_S, FACTOR * reference)) for taken, reference in found["cases"]]
    taken, limit = max(limits, key=lambda pair: pair[0] / pair[1])
    return Evidence(
        taken > limit and found["agrees"],
        f"the case furthest over its limit takes {taken:.2f} CPU seconds, where EvalPlus's rule gives {limit:.2f} s "
        f"here; {_answers(found)}",
    )


def judge_memory(found: dict[str, Any]) -> Evidence:
    """Whether base passes and plus fails for want of memory, and all answers are the reference's with enough."""
    words = {True: "pass", False: "fail"}
    return Evidence(
        found["base"] and not found["plus"] and found["agrees"],
        f"in a process that may take no more address space, below frames as large as EvalPlus's, the base inputs "
        f"{words[found['base']]} and the plus inputs {words[found['plus']]}; without that limit {_answers(found)}",
    )


def _answers(found: dict[str, Any]) -> str:
    how = "every answer is the reference's" if found["agrees"] else "NOT every answer is the reference's"
    return f"{how} ({found['inputs']} inputs)"


def _row(shared: Path, task: str) -> dict[str, Any]:
    with gzip.open(shared / "data" / ROWS[task.partition("/")[0]], "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            if row["task_id"] == task:
                return row
    raise Failed(f"EvalPlus's rows have no {task}")
