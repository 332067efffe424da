"""Venvs for all tests of grading: made once, whatever the number of xdist workers."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lab.grading.isolation import Isolation, bwrap_trouble
from lab.grading.site import read_venv
from lab.layout import Root, SuitePaths
from lab.suites import get_suite
from lab.venv import ensure_venv
from tests.attacks import tiny
from tests.attacks.ground import Ground, make_ground
from tests.support.once import made_once

STARTER = Path(__file__).parents[2] / "evals" / "starter"


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """A suite with a venv that has numpy."""
    problems = tiny.problems()
    cases = dict.fromkeys(problems, tiny.CASES)
    folder = made_once(tmp_path_factory, "ground", lambda folder: make_ground(folder, problems, cases))
    suite = SuitePaths(folder / "evals" / "attacked")
    return Ground(suite, read_venv(suite), problems, cases)


@pytest.fixture(scope="session")
def starter(tmp_path_factory: pytest.TempPathFactory) -> Root:
    """A root that holds the suite `starter` as it is committed, with its venv."""

    def make(folder: Path) -> None:
        ignored = shutil.ignore_patterns(".*", "measured.toml")
        shutil.copytree(STARTER, folder / "evals" / "starter", ignore=ignored)
        ensure_venv(Root(folder).suite("starter"), get_suite("starter"), say=lambda _: None)

    return Root(made_once(tmp_path_factory, "starter", make))


@pytest.fixture
def level(request: pytest.FixtureRequest) -> Isolation:
    """The isolation that a test is to run at: parametrize it indirectly with LEVELS."""
    wanted = Isolation(request.param)
    if wanted is Isolation.BWRAP and (trouble := bwrap_trouble()):
        pytest.skip(f"bubblewrap does not run here: {trouble}")
    return wanted
