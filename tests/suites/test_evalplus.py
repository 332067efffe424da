"""The evalplus suite on handwritten rows in upstream's two shapes."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lab.errors import LabError
from lab.suites.base import Problem, Unusable
from lab.suites.evalplus import SUITE
from lab.suites.evalplus.datasets import HUMANEVALPLUS, MBPPPLUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.suites.base import Row

IS_FLOATS = """\
import numpy as np
from math import inf

def is_floats(x) -> bool:
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    return False


def assertion(out, exp, atol):
"""
EXACT_FIRST = f"""\
{IS_FLOATS}    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match


"""
EXACT_LAST = f"""\
{IS_FLOATS}    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f"out: {{out}}, exp: {{exp}}"


"""
NOT_NONE = """\
import numpy as np

def assertion(out, exp, atol):
    if isinstance(out, bool):
        exact_match = out == exp
    else:
        exact_match = exp == (out is not None)


"""


def completion_row(**changes: Any) -> Row:
    prompt = 'def half(x: float) -> float:\n    """ Half of x.\n    >>> half(3)\n    1.5\n    """\n'
    check = (
        "def check(candidate):\n    inputs = [[3]]\n    results = [1.5]\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)"
    )
    row = {
        "task_id": "HumanEval/1",
        "prompt": prompt,
        "canonical_solution": "    return x / 2\n",
        "entry_point": "half",
        "test": EXACT_FIRST + check,
    }
    return row | changes


def prose_row(
    *, name: str = "half", inputs: str = "[[3]]", results: str = "[1.5]", atol: str = "0", **changes: Any
) -> Row:
    loop = (
        f"inputs = {inputs}\nresults = {results}\n"
        "for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
        f"    assertion({name}(*inp), exp, {atol})"
    )
    row = {
        "task_id": 1,
        "code": f"import math\n\ndef helper(x):\n    return x / 2\n\ndef {name}(x):\n    return helper(x)",
        "prompt": "Write a function to halve a number. ",
        "source_file": "x.ipynb",
        "test_imports": ["import math"],
        "test_list": [f"assert math.isclose({name}(3), 1.5)", f"assert {name}(5) == 2.5"],
        "test": changes.pop("harness", EXACT_LAST) + loop,
    }
    return row | changes


def problem(row: Row) -> Problem:
    made = SUITE.problem(HUMANEVALPLUS if "entry_point" in row else MBPPPLUS, row)
    assert isinstance(made, Problem), made
    return made


def passes(problem: Problem, candidate: Callable[..., Any], *, text: str | None = None) -> bool:
    """Whether the hidden test, as a module with the candidate as its preset global, runs to its end."""
    try:
        exec(compile(text or problem.test, "test.py", "exec"), {problem.entry_point: candidate})
    except Exception:  # noqa: BLE001 - whatever the test raises is a failed case
        return False
    return True


def function(problem: Problem, source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"__name__": "solution"}
    exec(compile(source, "solution.py", "exec"), names)
    found: Callable[..., Any] = names[problem.entry_point]
    return found


@pytest.mark.parametrize("row", [completion_row(), prose_row()], ids=["completion", "prose"])
def test_row_becomes_a_problem_whose_reference_passes_and_whose_stub_fails(row: Row) -> None:
    made = problem(row)
    assert made.test.endswith("\n")
    assert made.upstream_test is not None
    assert [repair.name for repair in made.repairs] == ["float-tolerance"]
    assert all(repair.reason and repair.source for repair in made.repairs)
    for text in (made.test, made.upstream_test):
        assert passes(made, function(made, made.reference), text=text)
        assert not passes(made, function(made, made.stub), text=text)
        assert not passes(made, lambda x: x / 3, text=text)
    assert made.entry_point in made.prompt
    assert made.prompt.endswith(made.stub)


def test_ids_and_stub_of_a_completion() -> None:
    made = problem(completion_row())
    assert (made.task_id, made.upstream_id) == ("humanevalplus-1", "HumanEval/1")
    assert made.stub == completion_row()["prompt"]
    assert made.reference == made.stub + completion_row()["canonical_solution"]


def test_ids_and_stub_of_prose() -> None:
    made = problem(prose_row())
    assert (made.task_id, made.upstream_id) == ("mbppplus-1", "Mbpp/1")
    assert made.entry_point == "half"
    assert made.stub == (
        'def half(x):\n    """Write a function to halve a number.\n\n    Example:\n\n'
        '        assert math.isclose(half(3), 1.5)\n    """\n'
    )


@pytest.mark.parametrize(
    ("code", "imports", "signature"),
    [
        ("def half(x, /, y=-1, *z, k: int = 2, **rest): return SECRET", "", "(x, /, y=-1, *z, k: int=2, **rest)"),
        (
            "import os\nfrom typing import Any, List as L\ndef half(x: L[int]) -> 'L[int]': return os.sep",
            "from typing import List as L",
            "(x: L[int]) -> 'L[int]'",
        ),
        (
            "import collections.abc\ndef half(x: collections.abc.Set): ...",
            "import collections.abc",
            "(x: collections.abc.Set)",
        ),
        ("import math\ndef half(x=math.pi): return x", "import math", "(x=math.pi)"),
        ("def half(x): return 1\ndef half(y): return 2", "", "(y)"),
        ("import functools\n@functools.cache\ndef half(x): return x", "", "(x)"),
    ],
)
def test_stub_keeps_the_signature_and_what_it_needs(code: str, imports: str, signature: str) -> None:
    stub = problem(prose_row(code=code)).stub
    head, _, rest = stub.partition("def half")
    assert head.strip() == imports
    assert rest.startswith(f"{signature}:\n")
    assert "SECRET" not in stub
    ast.parse(stub)


@pytest.mark.parametrize(
    "text", ['odd """ quotes"', "ends in a backslash \\", "\\N{x} \\d", '"starts so', "two\nlines\n\n  and more"]
)
def test_any_prose_fits_into_the_docstring(text: str) -> None:
    made = problem(prose_row(prompt=text, test_list=[f"assert half({text!r}) == 1"]))
    docstring = ast.get_docstring(ast.parse(made.stub).body[0])  # type: ignore[arg-type]
    assert docstring is not None
    assert docstring.startswith(text.strip().split("\n")[0])
    assert f"assert half({text!r}) == 1" in docstring


SHARED = [
    ("[]", 7, False),
    ("[]", [], True),
    ("()", [], False),
    ("()", 0.0, False),
    ("[]", np.int64(7), False),
    ("[7]", np.int64(7), False),
    ("[7]", np.array(7), False),
    ("7", np.int64(7), True),
    ("7", np.array(7), True),
    ("True", np.bool_(True), True),
    ("True", 7, False),
    ("False", None, False),
    ("1.5", 1.5 + 1e-9, True),
    ("1.5", np.float64(1.5 + 1e-9), True),
    ("1.5", np.float32(1.5), True),
    ("1.5", [1.5 + 1e-9], False),
    ("1.5", 1.5 + 1e-5, False),
    ("1.5", math.nan, False),
    ("1.5", math.inf, False),
    ("1.5", "1.5", False),
    ("1.5", 1.5 + 1e-9j, False),
    ("2.0", 2, True),
    ("2.000000001", 2, False),
    ("1.000000001", True, False),
    ("inf", math.inf, True),
    ("inf", 1.5, False),
    ("inf", -math.inf, False),
    ("[1.5, 2.5]", [1.5, 2.5 + 1e-9], True),
    ("[1.5, 2.5]", [np.float64(1.5), np.float64(2.5 + 1e-9)], True),
    ("[1.5, 2.5]", (1.5, 2.5 + 1e-9), False),
    ("[1.5, 2.5]", [1.5, 2.5 + 1e-9, 3.5], False),
    ("[1.5]", [1.5, 1.5 + 1e-9], False),
    ("[1.5]", [], False),
    ("[1.5, 1.5]", 1.5, False),
    ("[1.5, 2.5]", [[1.5, 2.5], [1.5, 2.5]], False),
    ("[1.5, 2.5]", [1.5, None], False),
    ("[1.000000001, 2.5]", [True, 2.5], False),
    ("[inf, 2.5]", [1.0, 2.5], False),
    ("[inf, 2.5]", [math.inf, 2.5 + 1e-9], True),
    ("1000000000", 1000000001, False),
    ("[1, 2]", [1, 2 + 1e-9], False),
    ("(1, 2)", [1, 2], False),
    ("'a'", np.str_("a"), True),
]


@pytest.mark.parametrize("harness", [EXACT_FIRST, EXACT_LAST], ids=["exact-first", "exact-last"])
@pytest.mark.parametrize(("expected", "returned", "verdict"), SHARED)
def test_tolerance_is_for_floats_only(harness: str, expected: str, returned: object, verdict: bool) -> None:
    made = problem(prose_row(harness=harness, results=f"[{expected}]"))
    assert passes(made, lambda _: returned) is verdict


@pytest.mark.parametrize(
    ("expected", "returned", "verdict"),
    [
        ("1000000000", 1000000001, False),
        ("1000000000", 1000000000 + 1e-5, False),
        ("2.5", 2.50001, True),
        ("2.5", 2.51, False),
        ("2.5", [], False),
        ("(1, 2.5)", (1, 2.50001), True),
        ("(1, 2.5)", (1.00001, 2.5), False),
    ],
)
def test_a_tolerance_of_upstream_leaves_integers_exact(expected: str, returned: object, verdict: bool) -> None:
    made = problem(prose_row(results=f"[{expected}]", atol="0.0001"))
    assert passes(made, lambda _: returned) is verdict


def test_upstream_lets_a_wrong_answer_pass_where_the_repaired_test_does_not() -> None:
    made = problem(prose_row(results="[[]]"))
    assert passes(made, lambda _: 7, text=made.upstream_test)
    assert not passes(made, lambda _: 7)


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        ((1, 2), True),
        ([2, 1, 1], True),
        ({1, 2}, True),
        ((n for n in (2, 1)), True),
        ([1], False),
        (7, False),
        ([], False),
    ],
)
def test_249_compares_as_sets(returned: object, verdict: bool) -> None:
    made = problem(prose_row(task_id=249, results="[[1, 2]]"))
    assert "compare-as-sets" in {repair.name for repair in made.repairs}
    assert passes(made, lambda _: returned) is verdict


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        (
            prose_row(task_id=558, name="digit_distance_nums", inputs="[[1, 23], [5, 7]]", results="[1, 2]"),
            {(1, 2): True, (4, 2): True, (3, 2): False, (4, 3): False},
        ),
        (
            prose_row(task_id=581, name="surface_Area", inputs="[[3, 4], [4, 5]]", results="[33, 56]"),
            {(33, 56): True, (35, 59): True, (34, 56): False, (None, None): False},
        ),
    ],
    ids=["558", "581"],
)
def test_second_answer_is_accepted_and_no_third(row: Row, answers: dict[tuple[int, int], bool]) -> None:
    made = problem(row)
    for returned, verdict in answers.items():
        left = iter(returned)
        assert passes(made, lambda *_, left=left: next(left)) is verdict, returned


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        ((True, False), True),
        (("match", None), True),
        ((np.bool_(True), np.bool_(False)), True),
        ((None, None), False),
        ((7, 7), False),
        (([], []), False),
        ((False, True), False),
        ((np.bool_(False), np.bool_(False)), False),
    ],
)
def test_737_asserts(returned: tuple[object, object], verdict: bool) -> None:
    made = problem(prose_row(task_id=737, harness=NOT_NONE, inputs="[[1], [2]]", results="[True, False]"))
    assert [repair.name for repair in made.repairs] == ["assert-match"]
    left = iter(returned)
    assert passes(made, lambda _: next(left)) is verdict


def without(row: Row, column: str, text: str) -> Row:
    return row | {column: row[column].replace(text, "")}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (completion_row(entry_point="a b"), "not the name of a function"),
        (completion_row(entry_point="class"), "not the name of a function"),
        (completion_row(entry_point="third"), "does not define third"),
        (completion_row(prompt="def half(x):\n"), "prompt is not Python"),
        (completion_row(canonical_solution="    return ((("), "reference is not Python"),
        (completion_row(prompt='"\0"\n'), "prompt is not Python"),
        (completion_row(test="def check(candidate:"), "no longer fits"),
        (without(completion_row(), "test", "assert np.allclose(out, exp, rtol=1e-07, atol=atol)"), "float-tolerance"),
        (completion_row(test=completion_row()["test"] * 2), "stands 2 times"),
        (completion_row(test=completion_row()["test"] + "\nhalf = None"), "has a half of its own"),
        (completion_row(test=completion_row()["test"] + "\nfrom x import y as half"), "has a half of its own"),
        (completion_row(test=completion_row()["test"] + "\ndef half(): pass"), "has a half of its own"),
        (completion_row(test=completion_row()["test"] + "\ndef f():\n    global half"), "has a half of its own"),
        (completion_row(test=completion_row()["test"] + "\ndef f():\n    return half(1)"), "has a half of its own"),
        (completion_row(test=completion_row()["test"] + "\n)"), "hidden test is not Python"),
        (completion_row(task_id="HumanEval/32"), "root-of-polynomial"),
        (prose_row(code="def half(x): return ("), "reference is not Python"),
        (prose_row(code="def other(x): return x"), "calls none of the functions"),
        (prose_row(test_list=[]), "calls none of the functions"),
        (prose_row(test_list=["assert half("]), "test_list is not Python"),
        (prose_row(test_list=["assert half(helper(3)) == 1"]), "calls half and helper"),
        (prose_row(code="LIMIT = 3\ndef half(x=LIMIT): return x"), "needs LIMIT"),
        (prose_row(prompt="nul \0"), "stub is not Python"),
        (prose_row(prompt="half a pair \ud800"), "stub is not Python"),
        (prose_row(name="third", code="def half(x): ...", test_list=["assert half(1)"]), "never calls half"),
    ],
)
def test_unusable_row_says_why(row: Row, reason: str) -> None:
    made = SUITE.problem(HUMANEVALPLUS if "entry_point" in row else MBPPPLUS, row)
    assert isinstance(made, Unusable)
    assert reason in made.reason


def test_local_variable_of_the_entry_points_name_is_no_binding() -> None:
    # Mbpp/88's ref_func counts into a local that is called like the function under test
    row = prose_row()
    made = problem(row | {"test": f"def ref_func(x):\n  half = x\n  return half\n\n{row['test']}"})
    assert passes(made, lambda x: x / 2)


@pytest.mark.parametrize("row_id", ["1", "HumanEval/", "HumanEval/01", "HumanEval/1\n", "../../x", "Mbpp/1"])
def test_foreign_id_is_an_error(row_id: str) -> None:
    with pytest.raises(LabError, match="is not an id of humanevalplus"):
        SUITE.problem(HUMANEVALPLUS, completion_row(task_id=row_id))


def test_negative_number_is_an_error() -> None:
    with pytest.raises(LabError, match="is not an id of mbppplus"):
        SUITE.problem(MBPPPLUS, prose_row(task_id=-1))


def test_requirements_are_pinned_with_hashes() -> None:
    lines = [line for line in SUITE.requirements.splitlines() if not line.startswith("#")]
    assert lines[0].startswith("numpy==")
    assert all(line.strip().startswith("--hash=sha256:") for line in lines[1:])
    assert all(line.endswith("\\") for line in lines[:-1])
