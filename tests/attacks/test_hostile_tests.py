"""The judging side is contained too: a hidden test that is hostile reaches neither the host nor the next task."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.grading.exam import sha256
from lab.grading.isolation import Isolation
from lab.grading.job import Job
from lab.grading.work import Work
from lab.verdict import Status
from tests.attacks.cases import Case
from tests.attacks.ground import ANSWER_LIMIT_S, ATTACK_LIMITS, Ground
from tests.attacks.test_attacks import assert_quiet, need

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attacks.watch import Watch

ROWS = tomllib.loads((Path(__file__).parent / "hostile_tests.toml").read_text("utf-8"))["test"]
WRONG = Work.of("def has_near_pair(numbers, threshold):\n    return None\n")


@pytest.mark.sandbox
@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_hostile_test(
    row: dict[str, Any],
    own_ground: Ground,
    attacked: Callable[[Ground], Watch],
    capfd: pytest.CaptureFixture[str],
) -> None:
    need(Isolation.BWRAP)
    host = attacked(own_ground)
    sound = own_ground.exam("near", ATTACK_LIMITS)
    test = host.fill(row["source"]).encode()
    hostile = dataclasses.replace(
        sound, task=dataclasses.replace(sound.task, cases=1), test=test, test_sha256=sha256(test), reference=b""
    )
    right = own_ground.right("near")
    with own_ground.pool(Isolation.BWRAP) as pool:
        verdict = pool.submit(Job(hostile, (right,))).result(ANSWER_LIMIT_S)[0].verdict
        after, wrong = pool.submit(Job(sound, (right, WRONG))).result(ANSWER_LIMIT_S)
        marked = host.marked()
    captured = capfd.readouterr()
    assert (after.verdict.status, wrong.verdict.status) == (Status.PASS, Status.WRONG), row["why"]
    assert marked == []
    nothing_else = Case(row["name"], row["why"], "near", "harm", frozenset(), (Isolation.BWRAP,))
    assert host.troubles(nothing_else, Isolation.BWRAP) == []
    assert_quiet(verdict, captured.out + captured.err)
