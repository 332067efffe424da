from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from lab.generate.proof import CONSTANTS, Grader, Proven, Refused, constant_function, prove_all
from lab.grading.isolation import choose
from lab.grading.pool import Pool
from lab.suites.base import Problem
from lab.venv import ensure_venv
from tests.generate.tiny import FAKE_VENV, InProcessPool, TinySuite, good_row, row, suite_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

ADD = "def f(x):\n    return x + 1\n"


def problem(test: str = "assert f(1) == 2", reference: str = ADD, kind: str = "") -> Problem:
    suite = TinySuite()
    made = suite.problem(suite.datasets[0], row("One/0", test, reference, kind))
    assert isinstance(made, Problem)
    return made


def prove(grader: Grader, given: Problem) -> Proven | Refused:
    ((proven, outcome),) = prove_all(grader, "tiny", [given], jobs=2)
    assert proven is given
    return outcome


@pytest.fixture(scope="module", params=["in process", "real"])
def grader(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grader]:
    """The stand-in that the other tests rely on must say what the real one says."""
    if request.param == "in process":
        yield InProcessPool(FAKE_VENV)
        return
    venv = ensure_venv(suite_paths(tmp_path_factory.mktemp("proof")), TinySuite(), say=lambda _line: None)
    with Pool(venv, suite="tiny", jobs=2, isolation=choose("auto")) as pool:
        yield pool


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        pytest.param(problem(test="assert f(1) == 3"), "the reference does not pass: wrong", id="reference"),
        pytest.param(problem(test="x = f(1) == 2"), "the untouched stub passes", id="stub"),
        pytest.param(problem(test="assert f(1)", kind="lazy"), "the untouched stub passes", id="stub, not constants"),
        pytest.param(problem(test="assert f(6) == 7"), "a function that always returns 7 passes", id="constant"),
        pytest.param(problem(test="assert f(0) == 1"), "a function that always returns True passes", id="True is 1"),
    ],
)
def test_refused(grader: Grader, given: Problem, reason: str) -> None:
    outcome = prove(grader, given)
    assert isinstance(outcome, Refused)
    assert reason in outcome.reason
    assert not outcome.ungraded


def test_a_test_that_never_calls_the_function_gives_no_verdict(grader: Grader) -> None:
    outcome = prove(grader, problem(test="assert 1 == 1"))
    assert isinstance(outcome, Refused)
    assert outcome.ungraded
    assert "could not be graded" in outcome.reason
    assert "0 calls" in outcome.output


@pytest.mark.parametrize("value", CONSTANTS)
def test_every_constant_is_tried(grader: Grader, value: str) -> None:
    given = problem(
        test=f"f(1)\nf(2)\nassert repr(f(3)) == {value!r}.replace('\"', \"'\")", reference=f"def f(x): return {value}"
    )
    outcome = prove(grader, given)
    assert isinstance(outcome, Refused)
    # the stub returns None as well, and is named first
    assert outcome.reason == (
        "the untouched stub passes" if value == "None" else f"a function that always returns {value} passes"
    )


def test_a_constant_may_be_the_whole_answer(grader: Grader) -> None:
    outcome = prove(grader, problem(test="assert f(6) == 7", kind="constant"))
    assert isinstance(outcome, Proven)
    assert outcome.constants == ("7",)
    assert outcome.measured.cases == 1


def test_kept(grader: Grader) -> None:
    given = good_row(3)
    outcome = prove(grader, problem(test=given["test"], reference=given["reference"]))
    assert isinstance(outcome, Proven)
    assert (outcome.constants, outcome.measured.cases) == ((), 2)


def test_a_constant_function_takes_any_call() -> None:
    namespace: dict[str, object] = {}
    exec(constant_function("g", '""'), namespace)
    g = namespace["g"]
    assert callable(g)
    assert (g(), g(1, 2), g(a=3)) == ("", "", "")


def test_every_problem_gets_its_own_outcome(grader: Grader) -> None:
    given = [dataclasses.replace(problem(), task_id=f"ones-{number}") for number in range(20)]
    given[3] = dataclasses.replace(given[3], test="assert f(1) == 3")
    outcomes = {each.task_id: outcome for each, outcome in prove_all(grader, "tiny", given, jobs=2)}
    assert outcomes.keys() == {each.task_id for each in given}
    assert [name for name, outcome in outcomes.items() if isinstance(outcome, Refused)] == ["ones-3"]


def test_leaving_early_starts_no_further_proof() -> None:
    pool = InProcessPool(FAKE_VENV)
    given = [dataclasses.replace(problem(), task_id=f"ones-{number}") for number in range(200)]
    outcomes = prove_all(pool, "tiny", given, jobs=1)
    next(iter(outcomes))
    outcomes.close()
    assert len(set(pool.graded)) < 200
