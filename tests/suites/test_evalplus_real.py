"""The evalplus suite on upstream's own rows."""

from __future__ import annotations

import ast
import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.datasets.jsonl import find_file, read_rows
from lab.datasets.schema import check_rows, digest
from lab.suites.base import Problem
from lab.suites.evalplus import SUITE, signature
from lab.suites.evalplus.datasets import HUMANEVALPLUS, MBPPPLUS
from lab.suites.evalplus.known import CONSTANT_ANSWERS, WEIGHTS_S
from tests.suites.test_evalplus import function, passes

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.suites.base import Dataset, Row

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = [pytest.mark.real, pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not here")]
MARKER = "MARKER_zq7"


@cache
def all_rows() -> dict[str, tuple[Row, ...]]:
    return {
        dataset.name: check_rows(dataset, read_rows(find_file(DATA, dataset)), origin="shared", fix="")
        for dataset in SUITE.datasets
    }


def rows_of(dataset: Dataset) -> tuple[Row, ...]:
    return all_rows()[dataset.name]


@cache
def problems() -> dict[str, Problem]:
    made = [SUITE.problem(dataset, row) for dataset in SUITE.datasets for row in rows_of(dataset)]
    assert [one for one in made if not isinstance(one, Problem)] == []
    return {one.upstream_id: one for one in made if isinstance(one, Problem)}


@pytest.mark.parametrize("dataset", SUITE.datasets, ids=lambda dataset: dataset.name)
def test_rows_are_those_the_module_was_written_for(dataset: Dataset) -> None:
    assert digest(rows_of(dataset)) == dataset.rows_sha256
    assert len(rows_of(dataset)) == dataset.rows_count


def test_every_row_becomes_a_problem() -> None:
    made = problems()
    assert len(made) == len({problem.task_id for problem in made.values()}) == 542
    assert made.keys() >= WEIGHTS_S.keys() | CONSTANT_ANSWERS.keys()


def test_entry_points_are_evalpluses_own() -> None:
    own: dict[str, str] = {}
    for name in ("HumanEvalPlus", "MbppPlus"):
        with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            own |= {row["task_id"]: row["entry_point"] for row in map(json.loads, lines)}
    assert {name: problem.entry_point for name, problem in problems().items()} == own


def test_repairs_are_where_they_belong() -> None:
    special = {
        "HumanEval/32": ("root-of-polynomial",),
        "Mbpp/737": ("assert-match",),
        "Mbpp/787": ("assert-match",),
        "Mbpp/794": ("assert-match",),
        "Mbpp/558": ("float-tolerance", "padded-digits"),
        "Mbpp/581": ("float-tolerance", "perpendicular-height"),
    }
    for name, problem in problems().items():
        names = tuple(repair.name for repair in problem.repairs)
        assert names == special.get(name, ("float-tolerance",)), name
        assert problem.upstream_test not in {None, problem.test}


def test_stubs_import_and_do_nothing() -> None:
    for name, problem in problems().items():
        stub = function(problem, problem.stub)
        assert stub.__doc__, name
        assert problem.stub in problem.prompt
        # a docstring and nothing else: whatever it is called with, it returns None
        (defined,) = [
            node
            for node in ast.parse(problem.stub).body
            if isinstance(node, ast.FunctionDef) and node.name == problem.entry_point
        ]
        assert len(defined.body) == 1, name


def marked(row: Row) -> Row:
    """The row with markers in every column that must not show, still a row that a problem can be made of."""
    test = f"{row['test']}\n# {MARKER}\n{MARKER} = '{MARKER}'\n"
    if "canonical_solution" in row:
        return row | {
            "canonical_solution": f"{row['canonical_solution']}\n    {MARKER} = 1  # {MARKER}\n",
            "test": test,
        }
    code = signature.parse(row["code"], "the reference")
    for node in ast.walk(code):
        if isinstance(node, ast.FunctionDef):
            node.body[:0] = ast.parse(f"'{MARKER}'\n{MARKER} = 1").body
    return row | {
        "code": f"# {MARKER}\nimport {MARKER}\n{ast.unparse(code)}\ndef {MARKER}(): pass\n# {MARKER}\n",
        "source_file": MARKER,
        "test_imports": [*row["test_imports"], f"import {MARKER}"],
        "test_list": [row["test_list"][0], *(f"{text}, '{MARKER}'" for text in row["test_list"][1:])],
        "test": test,
    }


@pytest.mark.parametrize("dataset", SUITE.datasets, ids=lambda dataset: dataset.name)
def test_agent_sees_nothing_but_prompt_signature_and_one_example(dataset: Dataset) -> None:
    for row in rows_of(dataset):
        made = SUITE.problem(dataset, marked(row))
        assert isinstance(made, Problem), made
        assert MARKER in made.reference
        assert MARKER in made.test
        assert MARKER not in made.prompt + made.stub
        unmarked = problems()[made.upstream_id]
        assert (made.prompt, made.stub) == (unmarked.prompt, unmarked.stub)


def test_entry_point_of_a_helper_first_reference() -> None:
    by_id = {row["task_id"]: row for row in rows_of(MBPPPLUS)}
    for number in (6, 123, 301, 580, 592, 630, 751, 797):
        first = next(node for node in ast.parse(by_id[number]["code"]).body if isinstance(node, ast.FunctionDef))
        problem = problems()[f"Mbpp/{number}"]
        assert problem.entry_point != first.name
        assert f"def {first.name}(" not in problem.stub


CHEAP = [
    "HumanEval/2",
    "HumanEval/32",
    "Mbpp/56",
    "Mbpp/88",
    "Mbpp/126",
    "Mbpp/558",
    "Mbpp/581",
    "Mbpp/737",
    "Mbpp/794",
]


@pytest.mark.parametrize("name", CHEAP)
def test_reference_passes_the_repaired_test(name: str) -> None:
    problem = problems()[name]
    assert passes(problem, function(problem, problem.reference))
    assert not passes(problem, function(problem, problem.stub))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("HumanEval/2", lambda *_: []),
        ("HumanEval/45", lambda *_: []),
        ("Mbpp/120", lambda *_: []),
        ("Mbpp/737", lambda *_: None),
        ("Mbpp/787", lambda *_: 7),
        ("Mbpp/794", lambda *_: None),
    ],
)
def test_upstream_lets_a_constant_pass_and_the_repaired_test_does_not(name: str, wrong: Callable[..., object]) -> None:
    problem = problems()[name]
    assert passes(problem, wrong, text=problem.upstream_test)
    assert not passes(problem, wrong)


@pytest.mark.parametrize("name", ["HumanEval/29", "HumanEval/163"])
def test_seven_for_every_empty_list_no_longer_passes(name: str) -> None:
    problem = problems()[name]
    reference = function(problem, problem.reference)
    assert passes(problem, lambda *given: reference(*given) or 7, text=problem.upstream_test)
    assert not passes(problem, lambda *given: reference(*given) or 7)


def test_root_far_below_zero_is_none() -> None:
    problem = problems()["HumanEval/32"]
    # without the absolute value any point where the polynomial is negative would do
    assert not passes(problem, lambda xs: -1e6 if xs[-1] > 0 else 1e6)
    assert not passes(problem, lambda _: float("nan"))


def test_reference_finds_its_roots_however_a_python_sums_floats() -> None:
    problem = problems()["HumanEval/32"]
    # as since Python 3.12, nearly
    exactly = "from math import fsum as sum\n"
    (row,) = (row for row in rows_of(HUMANEVALPLUS) if row["task_id"] == "HumanEval/32")
    upstream = row["prompt"] + row["canonical_solution"]
    assert not passes(problem, function(problem, exactly + upstream))
    assert passes(problem, function(problem, exactly + problem.reference))


def test_evalpluses_second_answers_pass() -> None:
    padded = "def f(a, b):\n    a, b = str(a), str(b)\n    n = max(len(a), len(b))\n"
    padded += "    return sum(abs(int(x) - int(y)) for x, y in zip(a.zfill(n), b.zfill(n)))\ndigit_distance_nums = f"
    height = "def surface_Area(b, h):\n    return round(b ** 2 + 2 * b * ((b / 2) ** 2 + h ** 2) ** 0.5)"
    for name, source in {"Mbpp/558": padded, "Mbpp/581": height}.items():
        problem = problems()[name]
        assert passes(problem, function(problem, source))
        assert not passes(problem, function(problem, source), text=problem.upstream_test)


def test_humaneval_prompt_is_the_stub_to_the_letter() -> None:
    for row in rows_of(HUMANEVALPLUS):
        assert problems()[row["task_id"]].stub == row["prompt"]
