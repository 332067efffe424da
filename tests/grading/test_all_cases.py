from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.grading.all_cases import NOTE, Failures, going_on

if TYPE_CHECKING:
    from collections.abc import Callable

FLAT = "inputs = [1, 2, 3]\nfor x in inputs:\n    assert f(x) == x\n"
IN_CHECK = "def check(candidate):\n    for x in [1, 2, 3]:\n        y = candidate(x)\n        assert y == x\ncheck(f)\n"
NO_LOOP = "def same(a, b):\n    assert a == b\nassert f(1) == 1\nsame(f(2), 2)\nassert f(3) == 3\n"
HELPER = "def ref(x):\n    for y in [x]:\n        assert y\n    return x\n" + FLAT.replace("== x", "== ref(x)")
SHAPES = [FLAT, IN_CHECK, NO_LOOP, HELPER]


class Gone(Exception):
    ends_test = True


class Raised(Exception):
    ends_test = False


def run(test: str, f: Callable[[int], int]) -> dict[str, Any]:
    calls: list[int] = []

    def proxy(x: int) -> int:
        calls.append(x)
        return f(x)

    def read(error: BaseException) -> dict[str, Any]:
        status = "judge" if isinstance(error, NameError) else "wrong"
        return {"status": status, "reason": type(error).__name__, "seen": len(calls)}

    failures = Failures(read, lambda: len(calls))
    try:
        exec(compile(going_on(test.encode(), "f"), "test", "exec"), {"f": proxy, NOTE: failures.note})
    except Exception as error:  # noqa: BLE001 - as the judge does
        return failures.decide(read(error))
    return failures.decide({"status": "pass", "seen": len(calls)})


@pytest.mark.parametrize("test", SHAPES)
def test_every_case_runs(test: str) -> None:
    def raising(x: int) -> int:
        if x == 2:
            raise Raised
        return x

    assert run(test, lambda x: x) == {"status": "pass", "seen": 3}
    assert run(test, lambda _: 0) == {
        "status": "wrong",
        "reason": "AssertionError",
        "seen": 1,
        "failed_case": 0,
        "failed": 3,
    }
    assert run(test, lambda x: x % 2) == {
        "status": "wrong",
        "reason": "AssertionError",
        "seen": 2,
        "failed_case": 1,
        "failed": 2,
    }
    assert run(test, raising) == {"status": "wrong", "reason": "Raised", "seen": 2, "failed_case": 1, "failed": 1}


@pytest.mark.parametrize("test", SHAPES)
def test_a_candidate_that_is_gone_ends_the_test(test: str) -> None:
    def gone_at(case: int) -> Callable[[int], int]:
        def f(x: int) -> int:
            if x == case:
                raise Gone
            return 0

        return f

    assert run(test, gone_at(1)) == {"status": "wrong", "reason": "Gone", "seen": 1}
    # the first failing case stands, and the one that ended it all is counted
    first = {"status": "wrong", "reason": "AssertionError", "seen": 1, "failed_case": 0, "failed": 2}
    assert run(test, gone_at(2)) == first


def test_a_test_that_fails_by_itself_is_not_gone_over() -> None:
    test = "for x in [1, 2]:\n    f(x)\n    nowhere\n"
    assert run(test, lambda x: x) == {"status": "judge", "reason": "NameError", "seen": 1}
