"""The grounds that are attacked, and the watch set on them."""

from __future__ import annotations

import gzip
import json
import tempfile
from typing import TYPE_CHECKING

import pytest

from lab.suites import get_suite
from lab.suites.base import Problem
from tests.attacks import tiny, watch
from tests.attacks.cases import SHARED, shared_cases
from tests.attacks.ground import Ground, make_ground
from tests.attacks.watch import Listeners, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

UPSTREAM_FILES = {"humanevalplus": "HumanEvalPlus-OriginFmt", "mbppplus": "MbppPlus-OriginFmt"}


@pytest.fixture(autouse=True)
def _orphans() -> None:
    watch.adopt_orphans()


@pytest.fixture(scope="session")
def own_ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    problems = tiny.problems()
    return make_ground(tmp_path_factory.mktemp("own"), problems, dict.fromkeys(problems, tiny.CASES))


@pytest.fixture(scope="session")
def shared_ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    names = {case.task for case in shared_cases()}
    problems = {name: problem for name, problem in _upstream_problems() if name in names}
    return make_ground(tmp_path_factory.mktemp("shared"), problems, {})


def _upstream_problems() -> Iterator[tuple[str, Problem]]:
    suite = get_suite("evalplus")
    for dataset in suite.datasets:
        with gzip.open(SHARED / "data" / f"{UPSTREAM_FILES[dataset.name]}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for line in lines:
                problem = suite.problem(dataset, json.loads(line))
                if isinstance(problem, Problem):
                    yield problem.upstream_id, problem


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    made = Listeners()
    yield made
    made.close()


@pytest.fixture
def attacked(
    tmp_path: Path, listeners: Listeners, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Ground], Watch]]:
    """Sets the watch on a ground, with the caller's home, keys and folder for temporary files in place."""
    watches: list[Watch] = []

    def look(ground: Ground) -> Watch:
        watches.append(Watch(ground, tmp_path, listeners))
        monkeypatch.setenv("HOME", str(watches[0].home))
        monkeypatch.setenv("LAB_API_KEY", watch.API_KEY)
        monkeypatch.setattr(tempfile, "tempdir", str(watches[0].scratch))
        return watches[0]

    yield look
    for one in watches:
        one.clean()
