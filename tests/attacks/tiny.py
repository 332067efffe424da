"""Five tasks to aim at, in the shape of upstream's rows, so that the suite's own repairs apply to them.

One of truth values, one compared as sets, one of floats with a tolerance, one of texts, one of lists, some empty.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

from lab.suites import get_suite
from lab.suites.base import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CASES = 30
HEAD = """import numpy as np
from math import inf

def is_floats(x) -> bool:
    # check if it is float; List[float]; Tuple[float]
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return all(isinstance(i, float) for i in x)
    if isinstance(x, np.ndarray):
        return x.dtype == np.float64 or x.dtype == np.float32
    return False


def assertion(out, exp, atol):
"""
EXACT = """    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert exact_match
"""
AS_SETS = """    if atol == 0 and is_floats(exp):
        atol = 1e-6
    out = set(out)
    exp = set(exp)
    if out != exp and atol != 0:
        assert np.allclose(out, exp, rtol=1e-07, atol=atol)
    else:
        assert out == exp, f"out: {out}, exp: {exp}"
"""
NEAR = '''def has_near_pair(numbers, threshold):
    """ Say whether two of the numbers differ by less than the threshold. """
'''


def has_near_pair(numbers: list[float], threshold: float) -> bool:
    ordered = sorted(numbers)
    return any(b - a < threshold for a, b in itertools.pairwise(ordered))


def common_items(first: list[Any], second: list[Any]) -> tuple[Any, ...]:
    return tuple(set(first) & set(second))


def mean_of(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def shout(text: str) -> str:
    return text.upper() + "!"


def keep_even(numbers: list[int]) -> list[int]:
    return [n for n in numbers if n % 2 == 0]


REFERENCES = {
    "common": "def common_items(first, second):\n    return tuple(set(first) & set(second))\n",
    "mean": "def mean_of(numbers):\n    return sum(numbers) / len(numbers)\n",
    "shout": "def shout(text):\n    return text.upper() + '!'\n",
    "evens": "def keep_even(numbers):\n    return [n for n in numbers if n % 2 == 0]\n",
}


def problems() -> dict[str, Problem]:
    """Short name to problem."""
    chance = random.Random(20)
    near = [[_floats(chance), chance.choice([0.001, 0.3, 2.0])] for _ in range(CASES)]
    words = ["a", "Straße", "dž", "two words", "", "Ünï", "x" * 50, "1"]
    humaneval, mbpp = get_suite("evalplus").datasets
    rows = {
        "common": _row(1, common_items, [[_ints(chance), _ints(chance)] for _ in range(CASES)], AS_SETS),
        "mean": _row(3, mean_of, [[_floats(chance)] for _ in range(CASES)], EXACT),
        "shout": _row(4, shout, [[chance.choice(words) + str(n)] for n in range(CASES)], EXACT),
        # the first expected value is [], which upstream's comparison takes for equal to any number
        "evens": _row(5, keep_even, [[[1, 3]], *([_ints(chance)] for _ in range(CASES - 1))], EXACT),
    }
    for name, row in rows.items():
        row["code"] = REFERENCES[name]
    made = {name: get_suite("evalplus").problem(mbpp, row) for name, row in rows.items()}
    made["near"] = get_suite("evalplus").problem(
        humaneval,
        {
            "task_id": "HumanEval/9001",
            "prompt": NEAR,
            "canonical_solution": "    ordered = sorted(numbers)\n"
            "    return any(b - a < threshold for a, b in zip(ordered, ordered[1:]))\n",
            "entry_point": "has_near_pair",
            "test": f"\n\n{HEAD}{EXACT}\n\ndef check(candidate):\n"
            + "".join(f"    {line}\n" for line in _data(has_near_pair, near))
            + "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n"
            "        assertion(candidate(*inp), exp, 0)\n",
        },
    )
    return {name: problem for name, problem in made.items() if isinstance(problem, Problem)}


def _row(number: int, function: Callable[..., Any], inputs: Sequence[list[Any]], compare: str) -> dict[str, Any]:
    name = function.__name__
    data = "\n".join(_data(function, inputs))
    loop = f"for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({name}(*inp), exp, 0)\n"
    return {
        "task_id": 9000 + number,
        "prompt": f"Write {name}.",
        "source_file": "",
        "test_imports": [],
        "test_list": [f"assert {name}(*{inputs[0]!r}) == {function(*inputs[0])!r}"],
        "test": f"{HEAD}{compare}\n\n{data}\n{loop}",
    }


def _data(function: Callable[..., Any], inputs: Sequence[list[Any]]) -> list[str]:
    return [f"inputs = {list(inputs)!r}", f"results = {[function(*one) for one in inputs]!r}"]


def _floats(chance: random.Random) -> list[float]:
    return [round(chance.uniform(-50, 50), 3) for _ in range(chance.randint(2, 9))]


def _ints(chance: random.Random) -> list[int]:
    return [chance.randint(-20, 20) for _ in range(chance.randint(1, 12))]
