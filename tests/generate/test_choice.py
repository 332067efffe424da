from __future__ import annotations

import pytest

from lab.errors import LabError
from lab.generate.choice import Amount, belongs, choose, choose_datasets, task_id
from lab.suites.base import Dataset
from tests.generate.tiny import TinySuite

IDS = [f"ones-{number}" for number in range(20)]


@pytest.mark.parametrize(
    ("amount", "present", "broken", "expected"),
    [
        pytest.param(Amount(), [], [], IDS[:8], id="a first generation takes eight"),
        pytest.param(Amount(), ["twos-0"], [], IDS[:8], id="another dataset's tasks do not count"),
        pytest.param(Amount(), ["ones-9", "ones-3"], [], ["ones-3", "ones-9"], id="later what the suite has"),
        pytest.param(Amount(), ["ones-3", "ones-77"], [], ["ones-3"], id="what is gone upstream is not chosen"),
        pytest.param(Amount(every=True), ["ones-3"], [], IDS, id="all"),
        pytest.param(Amount(limit=2), ["ones-9"], [], IDS[:2], id="the first N, whatever the suite has"),
        pytest.param(Amount(limit=99), [], [], IDS, id="more than there are"),
        pytest.param(Amount(limit=2), ["ones-9"], ["ones-9"], ["ones-0", "ones-1", "ones-9"], id="the interrupted too"),
    ],
)
def test_choose(amount: Amount, present: list[str], broken: list[str], expected: list[str]) -> None:
    assert choose(IDS, amount, present=set(present), broken=set(broken)) == expected


def test_datasets_keep_the_suites_order() -> None:
    assert [d.name for d in choose_datasets(TinySuite(), ["twos", "ones"])] == ["ones", "twos"]
    assert [d.name for d in choose_datasets(TinySuite(), [])] == ["ones", "twos"]


def test_unknown_dataset_names_those_that_there_are() -> None:
    with pytest.raises(LabError, match=r"'threes'.*ones, twos"):
        choose_datasets(TinySuite(), ["threes"])


@pytest.mark.parametrize(("upstream", "expected"), [("HumanEval/12", "d-12"), (7, "d-7"), ("Big2Code/3", "d-3")])
def test_task_id(upstream: str | int, expected: str) -> None:
    assert task_id(Dataset("d", {}, "k"), {"k": upstream}) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("big-1", True), ("big-complete-1", False), ("big", False), ("big-x", False), ("big-", False)],
)
def test_belongs(name: str, expected: bool) -> None:
    assert belongs(name, Dataset("big", {}, "k")) is expected
