"""scripts/parity on two made-up problems; the real samples are never graded in tests."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from measuring import parity, parity_causes, shared
from measuring.parity_causes import Cause, measure, read_causes
from measuring.programs import Failed

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """
import time
def f(x):
    end = time.process_time() + 0.05
    while time.process_time() < end: pass
    return x
"""
DEEP = "def f(x):\n    if x == 0:\n        return 0\n    else:\n        return 1 + f(x - 1)\n"
EVER_DEEP = DEEP.replace("f(", "g(") + "def f(x): return g(200) * 0 + x\n"
PLAIN = "def f(x): return x"
WRONG = "def f(x): return -1"
SAMPLES = [
    ("HumanEval/1", PLAIN, "pass", "pass"),
    ("HumanEval/1", WRONG, "fail", "pass"),
    ("HumanEval/1", SLOW, "pass", "fail"),
    ("Mbpp/2", PLAIN, "pass", "pass"),
]
STATUSES = ["pass", "wrong", "pass", "pass"]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="address space is not limited elsewhere")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write_gzip(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A shared folder."""
    (tmp_path / "bench").mkdir()
    for dataset, part in (("humaneval", "HumanEval"), ("mbpp", "Mbpp")):
        of_it = [sample for sample in SAMPLES if sample[0].startswith(part)]
        row = {"prompt": "def f(x):\n", "canonical_solution": "    return x\n", "entry_point": "f"}
        inputs = {"base_input": [[1], [2]], "plus_input": [[200]]}
        write_gzip(tmp_path / "data" / parity_causes.ROWS[part], [{"task_id": of_it[0][0], **row, **inputs}])
        rows = [
            {"task_id": task, "model": "m", "solution": text, "base_status": base, "plus_status": plus}
            for task, text, base, plus in of_it
        ]
        write_gzip(tmp_path / "samples" / shared.LABELLED[dataset], rows)
    return tmp_path


def results(folder: Path, statuses: list[str]) -> Path:
    path = folder / "results.jsonl"
    records = [{"lab": "1", "grader": "g", "isolation": "bwrap"}]
    for (task, text, _, _), status in zip(SAMPLES, statuses, strict=False):
        records.append({"upstream_id": task, "solution_sha256": sha256(text), "status": status, "reason": "so"})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def run(folder: Path, statuses: list[str], monkeypatch: pytest.MonkeyPatch, *causes: Cause) -> tuple[int, str]:
    monkeypatch.setattr(parity, "read_causes", lambda: causes)
    out = folder / "parity.md"
    arguments = ["--shared", folder, "--out", out, "--results", results(folder, statuses)]
    code = parity.main([str(argument) for argument in arguments])
    return code, out.read_text() if out.exists() else ""


FOUND = Cause("HumanEval/1", (sha256(SLOW),), "It is slow.", "time")


@pytest.mark.parametrize(
    ("statuses", "causes", "limit_s", "code", "words"),
    [
        (STATUSES, (FOUND,), 0.02, 0, "| all | 4 | 3 | 1 | 75.00 % |"),
        (STATUSES, (FOUND,), 0.02, 0, "| humanevalplus | 3 | 2 | 1 | 66.67 % |"),
        (STATUSES, (FOUND,), 0.02, 0, "| wrong | 0 | 1 |"),
        (STATUSES, (FOUND,), 0.02, 0, "- Cause: It is slow."),
        (STATUSES, (FOUND,), 1000, 1, "IT DOES NOT HOLD"),
        (STATUSES, (), 0.02, 1, "- Cause: NOT FOUND."),
        (["wrong", "wrong", "timeout", "pass"], (FOUND,), 0.02, 1, "- Cause: NOT FOUND."),
        (["pass", "pass", "timeout", "pass"], (FOUND,), 0.02, 1, "- Cause: NOT FOUND."),
        (["pass", "infra", "timeout", "pass"], (FOUND,), 0.02, 1, "| mbppplus | 1 | 1 | 0 | 100.00 % |"),
        (["pass", "wrong", "infra", "pass"], (FOUND,), 0.02, 1, "lab: infra, so."),
        (["pass", "wrong", "timeout", "pass"], (), 0.02, 0, "## Disagreements: 0"),
        (STATUSES[:3], (FOUND,), 0.02, 2, ""),
    ],
)
def test_a_disagreement_needs_a_cause_that_holds(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    statuses: list[str],
    causes: tuple[Cause, ...],
    limit_s: float,
    code: int,
    words: str,
) -> None:
    monkeypatch.setattr(parity_causes, "MIN_LIMIT_S", limit_s)
    said, text = run(folder, statuses, monkeypatch, *causes)
    assert said == code
    assert words in text


@on_linux
@pytest.mark.parametrize(
    ("solution", "holds"),
    [(DEEP, True), (PLAIN, False), (DEEP.replace("return 0", "return 1"), False), (EVER_DEEP, False)],
)
def test_memory_runs_out_only_where_the_recursion_is_deep(folder: Path, solution: str, holds: bool) -> None:
    cause = Cause("Mbpp/2", (), "", "memory", frames=27, slots=412)
    assert measure(cause, solution, folder).holds is holds


def test_a_wrong_answer_is_no_evidence_however_slow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parity_causes, "MIN_LIMIT_S", 0.02)
    assert measure(FOUND, SLOW, folder).holds
    assert not measure(FOUND, SLOW.replace("return x", "return -x"), folder).holds


def test_the_causes_of_the_project_are_read(tmp_path: Path) -> None:
    assert {cause.task for cause in read_causes()} == {"HumanEval/31", "Mbpp/566", "Mbpp/583"}
    path = tmp_path / "causes.toml"
    for text in ("", "[[causes]]\ntask = 'x'", "causes = 3", "[[causes]]\ntask='x'\nsolutions=[]\ncause=''\nkind='y'"):
        path.write_text(text)
        with pytest.raises(Failed, match=r"causes\.toml"):
            read_causes(path)
