from __future__ import annotations

import ast
import doctest
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.datasets.jsonl import read_rows
from lab.datasets.schema import check_rows, digest
from lab.errors import LabError
from lab.suites import get_suite
from lab.suites.base import Problem, Unusable
from lab.suites.starter import SUITE
from lab.suites.starter.suite import STARTERCOMPLETE, STARTERPROSE
from tests.suites.sloppy import SLOPPY

if TYPE_CHECKING:
    from lab.suites.base import Dataset, Row, Suite

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "evals" / "starter" / "samples"
CONSTANTS = ["None", "True", "False", "0", "7", "''", "[]"]
HASTY_IS_RIGHT = {*SLOPPY, "StarterComplete/12"}
"""The area of a rectangle has nothing that haste could miss: it is there for small models."""


def rows_of(dataset: Dataset) -> tuple[Row, ...]:
    assert dataset.embedded is not None
    return check_rows(dataset, read_rows(dataset.embedded), origin="embedded", fix="")


def problems() -> dict[str, tuple[Problem, Row]]:
    found = {}
    for dataset in SUITE.datasets:
        for row in rows_of(dataset):
            problem = SUITE.problem(dataset, row)
            assert isinstance(problem, Problem), problem
            found[problem.upstream_id] = (problem, row)
    return found


PROBLEMS = problems()
each_problem = pytest.mark.parametrize("upstream_id", PROBLEMS)


def samples(name: str) -> dict[str, str]:
    lines = (SAMPLES / name).read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert all(record.keys() == {"task_id", "solution"} for record in records)
    assert len({record["task_id"] for record in records}) == len(records)
    return {record["task_id"]: record["solution"] for record in records}


CAREFUL, HASTY = samples("careful.jsonl"), samples("hasty.jsonl")


def load(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "solution"}
    exec(compile(source, "solution.py", "exec", dont_inherit=True), names)  # the texts of this repository
    return names


def passes_hidden(problem: Problem, source: str) -> bool:
    function = load(source)[problem.entry_point]
    try:
        exec(compile(problem.test, "test.py", "exec", dont_inherit=True), {problem.entry_point: function})
    except Exception:  # noqa: BLE001  # whatever a wrong answer makes of it
        return False
    return True


def passes_visible(problem: Problem, row: Row, source: str) -> bool:
    names = load(source)
    if "test_list" in row:
        for example in row["test_list"]:
            try:
                exec(example, dict(names))
            except Exception:  # noqa: BLE001
                return False
        return bool(row["test_list"])
    function = next(
        node
        for node in ast.parse(problem.stub).body
        if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point
    )
    examples = doctest.DocTestParser().get_doctest(ast.get_docstring(function) or "", names, "stub", None, None)
    outcome = doctest.DocTestRunner(verbose=False).run(examples, out=lambda _text: None)
    return outcome.attempted > 0 and outcome.failed == 0


def hidden_inputs(test: str) -> list[list[Any]]:
    """The list that the hidden test binds to `inputs`, at its top or in `check`."""
    (value,) = (
        node.value
        for node in ast.walk(ast.parse(test))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "inputs"
    )
    found: list[list[Any]] = ast.literal_eval(value)
    return found


def test_is_a_suite() -> None:
    suite: Suite = SUITE
    assert get_suite("starter") is suite


def test_is_numbered_without_gaps() -> None:
    assert [problem.task_id for problem, _ in PROBLEMS.values()] == [
        f"{dataset.name}-{number}" for dataset in SUITE.datasets for number in range(dataset.rows_count or 0)
    ]
    assert list(PROBLEMS) == [
        f"{name}/{number}" for name, count in (("StarterComplete", 14), ("StarterProse", 12)) for number in range(count)
    ]


@pytest.mark.parametrize("dataset", SUITE.datasets, ids=lambda dataset: dataset.name)
def test_carries_the_rows_it_was_written_for(dataset: Dataset) -> None:
    rows = rows_of(dataset)
    assert digest(rows) == dataset.rows_sha256
    assert len(rows) == dataset.rows_count


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_rows_are_made_again_to_the_byte(hash_seed: str, tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-B", ROOT / "scripts" / "make_starter_rows", tmp_path],
        check=True,
        capture_output=True,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
    )
    for dataset in SUITE.datasets:
        assert dataset.embedded is not None
        assert (tmp_path / dataset.embedded.name).read_bytes() == dataset.embedded.read_bytes()


@each_problem
def test_has_a_hundred_different_cases(upstream_id: str) -> None:
    calls = {repr(call) for call in hidden_inputs(PROBLEMS[upstream_id][0].test)}
    assert len(calls) >= 100


@each_problem
def test_prompt_shows_the_stub_and_nothing_of_the_reference(upstream_id: str) -> None:
    problem, _ = PROBLEMS[upstream_id]
    assert problem.entry_point in problem.prompt
    assert problem.stub in problem.prompt
    body = [line.strip() for line in problem.reference.removeprefix(problem.stub).splitlines()]
    telling = [line for line in body if len(line) > 12 and not line.startswith(("def ", "import ", "from "))]
    assert telling
    assert not [line for line in telling if line in problem.prompt]


@each_problem
def test_reference_and_careful_answer_pass(upstream_id: str) -> None:
    problem, row = PROBLEMS[upstream_id]
    for source in (problem.reference, CAREFUL[upstream_id]):
        assert passes_visible(problem, row, source)
        assert passes_hidden(problem, source)
    assert CAREFUL[upstream_id].strip() not in problem.reference


@each_problem
def test_hasty_answer_passes_what_is_shown(upstream_id: str) -> None:
    problem, row = PROBLEMS[upstream_id]
    assert passes_visible(problem, row, HASTY[upstream_id])
    assert passes_hidden(problem, HASTY[upstream_id]) == (upstream_id in HASTY_IS_RIGHT)


def test_hasty_answers_mostly_fail() -> None:
    assert list(CAREFUL) == list(HASTY) == list(PROBLEMS)
    assert len(HASTY_IS_RIGHT) <= 0.4 * len(PROBLEMS)


@pytest.mark.parametrize("upstream_id", SLOPPY)
def test_sloppy_answer_passes_only_what_is_shown(upstream_id: str) -> None:
    problem, row = PROBLEMS[upstream_id]
    assert passes_visible(problem, row, SLOPPY[upstream_id])
    assert not passes_hidden(problem, SLOPPY[upstream_id])


@each_problem
def test_stub_and_constants_fail(upstream_id: str) -> None:
    problem, _ = PROBLEMS[upstream_id]
    assert not passes_hidden(problem, problem.stub)
    for constant in CONSTANTS:
        assert not passes_hidden(problem, f"def {problem.entry_point}(*args):\n    return {constant}\n"), constant


@pytest.mark.parametrize(
    ("returned", "expected", "agrees"),
    [
        (0.1 + 0.2, 0.3, True),
        (0.3001, 0.3, False),
        (None, 0.3, False),
        ("0.3", 0.3, False),
        (3, 3.0, True),
        (float("nan"), 3.0, False),
        ([0.1 + 0.2], [0.3], True),
        ((0.1 + 0.2,), [0.3], False),
        ([0.1 + 0.2, 0.3], [0.3], False),
        ([], [0.3], False),
        (["0.3"], [0.3], False),
        (7, [], False),
        ([], [], True),
        ((), [], False),
        (10**18 + 1, 10**18, False),
        ([10**18 + 1], [10**18], False),
        (1e18, 10**18 + 1, False),
    ],
)
def test_comparison_is_sound(returned: object, expected: object, agrees: bool) -> None:
    for upstream_id in ("StarterComplete/0", "StarterProse/0"):
        problem, _ = PROBLEMS[upstream_id]
        names = {problem.entry_point: load(problem.reference)[problem.entry_point]}
        exec(problem.test, names)
        if agrees:
            names["assertion"](returned, expected, 0)
        else:
            with pytest.raises(AssertionError):
                names["assertion"](returned, expected, 0)


@pytest.mark.parametrize(("dataset", "row_id"), [(STARTERCOMPLETE, "HumanEval/0"), (STARTERPROSE, -1)])
def test_refuses_a_foreign_id(dataset: Dataset, row_id: object) -> None:
    with pytest.raises(LabError, match="is not an id of"):
        SUITE.problem(dataset, rows_of(dataset)[0] | {"task_id": row_id})


def test_says_why_a_row_is_unusable() -> None:
    broken = SUITE.problem(STARTERCOMPLETE, rows_of(STARTERCOMPLETE)[0] | {"entry_point": "nowhere"})
    assert isinstance(broken, Unusable)
    assert "nowhere" in broken.reason
    assert broken.task_id == "startercomplete-0"
