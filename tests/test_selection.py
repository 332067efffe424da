from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.errors import LabError
from lab.layout import Root
from lab.order import natural
from lab.selection import Filters, find_task, select

if TYPE_CHECKING:
    from tests.support.laboratory import Laboratory


FIRST_ONES = [f"ones-{number}" for number in range(1, 12)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [*FIRST_ONES, "twos-1", "twos-2"]),
        ({"sample_size": 2}, ["ones-1", "ones-2"]),
        ({"tasks": ("twos-*", "One/1")}, ["ones-1", "twos-1", "twos-2"]),
        ({"tasks": ("One/1*",)}, ["ones-1", "ones-10", "ones-11"]),
        ({"tasks": ("ones-1", "ones-1")}, ["ones-1"]),
        ({"langs": ("twos",)}, ["twos-1", "twos-2"]),
        ({"categories": ("SUMS", "sums")}, [*FIRST_ONES, "twos-1", "twos-2"]),
        ({"tags": ("Sums",), "langs": ("twos",)}, ["twos-1", "twos-2"]),
        ({"random_n": 99, "langs": ("twos",)}, ["twos-1", "twos-2"]),
    ],
)
def test_filters(laboratory: Laboratory, filters: dict[str, Any], expected: list[str]) -> None:
    suite = Root(laboratory.root).suite("tiny")
    assert [task.id for task in select(suite, Filters(**filters))] == expected


def test_random_is_the_same_everywhere_and_differs_by_seed(laboratory: Laboratory) -> None:
    suite = Root(laboratory.root).suite("tiny")
    draws = [tuple(task.id for task in select(suite, Filters(random_n=4, seed=seed))) for seed in range(20)]
    assert draws[0] == ("ones-4", "ones-7", "ones-9", "ones-10")
    assert len(set(draws)) > 10
    assert all(list(draw) == sorted(draw, key=natural) for draw in draws)
    # a smaller draw of the same seed is part of a larger one
    assert {task.id for task in select(suite, Filters(random_n=2, seed=0))} < set(draws[0])


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ({"tasks": ("ones-77",)}, "ones-7"),
        ({"tasks": ("One/77",)}, "One/7"),
        ({"tasks": ("x*",)}, "ones-1"),
        ({"langs": ("threes",)}, "There are: ones, twos"),
        ({"categories": ("x",)}, "There are: sums"),
    ],
)
def test_nothing_matches_says_what_there_is(laboratory: Laboratory, filters: dict[str, Any], says: str) -> None:
    with pytest.raises(LabError, match=says):
        select(Root(laboratory.root).suite("tiny"), Filters(**filters))


def test_find_task_by_either_id(laboratory: Laboratory) -> None:
    root = Root(laboratory.root)
    assert find_task(root, "ones-3")[1] == find_task(root, "One/3", "tiny")[1]
    assert find_task(root, "ones-3")[1].upstream_id == "One/3"


@pytest.mark.parametrize("lock", ["", "tasks = 3\n", "[tasks]\nones-1 = 3\n"])
def test_a_broken_lock_is_one_line(laboratory: Laboratory, lock: str) -> None:
    (laboratory.root / "evals/tiny/lock.toml").write_text(lock)
    said = laboratory("scenarios", "--suite", "tiny")
    assert said.code == 2
    assert "Run lab gen again" in said.err
