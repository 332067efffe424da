"""The design's rule: per case CPU max(4 s, 4 x), all CPU max(10 s, 5 x), wall 3 x + 20 s, memory max(4 GiB, 2 x)."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lab.grading.limits import PROOF_LIMITS, Measured, limits_from

SMALLEST = {"case_cpu_s": 4, "cpu_s": 10, "wall_s": 50, "memory_mb": 4096, "value_bytes": 1 << 20}


@pytest.mark.parametrize(
    ("measured", "differs"),
    [
        ({}, {}),
        ({"cpu_s": 2.0, "case_cpu_s": 1.0}, {}),
        ({"cpu_s": 2.01}, {"cpu_s": 20, "wall_s": 80}),
        ({"cpu_s": 4.0}, {"cpu_s": 20, "wall_s": 80}),
        ({"cpu_s": 4.01}, {"cpu_s": 30, "wall_s": 110}),
        ({"cpu_s": 12.0}, {"cpu_s": 60, "wall_s": 200}),
        ({"cpu_s": 23.0}, {"cpu_s": 120, "wall_s": 380}),
        ({"cpu_s": 60.0}, {"cpu_s": 300, "wall_s": 920}),
        ({"cpu_s": 1000.0}, {"cpu_s": 300, "wall_s": 920}),
        ({"case_cpu_s": 1.01}, {"case_cpu_s": 10}),
        ({"case_cpu_s": 2.51}, {"case_cpu_s": 20}),
        ({"case_cpu_s": 6.0}, {"case_cpu_s": 30}),
        ({"case_cpu_s": 1000.0}, {"case_cpu_s": 300}),
        ({"peak_mb": 2048.0}, {}),
        ({"peak_mb": 2048.1}, {"memory_mb": 5120}),
        ({"peak_mb": 2560.0}, {"memory_mb": 5120}),
        ({"peak_mb": 5000.0}, {"memory_mb": 10240}),
        ({"value_bytes": 1}, {}),
        ({"value_bytes": 1 << 18}, {}),
        ({"value_bytes": (1 << 18) + 1}, {"value_bytes": 1 << 21}),
        ({"value_bytes": 100 << 20}, {"value_bytes": 1 << 29}),
        ({"wall_s": 999.0, "cases": 10**6}, {}),
    ],
    ids=str,
)
def test_limits_follow_what_was_measured(measured: dict[str, Any], differs: dict[str, int]) -> None:
    assert dataclasses.asdict(limits_from(Measured(**measured))) == SMALLEST | differs


def test_a_little_more_or_less_of_everything_gives_the_same_limits() -> None:
    first = Measured(cpu_s=0.2, case_cpu_s=0.02, peak_mb=30, value_bytes=900)
    second = Measured(cpu_s=1.7, case_cpu_s=0.9, peak_mb=95, value_bytes=5000)
    assert limits_from(first) == limits_from(second)


def test_a_proof_may_use_at_least_what_any_task_may() -> None:
    largest = limits_from(Measured(cpu_s=1e6, case_cpu_s=1e6))
    for name in ("case_cpu_s", "cpu_s", "wall_s"):
        assert getattr(PROOF_LIMITS, name) >= getattr(largest, name)


def test_limits_are_whole_numbers() -> None:
    for value in dataclasses.asdict(limits_from(Measured(cpu_s=3.3, peak_mb=3000.7, value_bytes=10**6))).values():
        assert type(value) is int
