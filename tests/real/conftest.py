from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.real.whole import Generation, generated

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def session_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str, testrun_uid: str) -> Path:
    """One folder for all workers of this session, and for no other session."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / f"evalplus-{testrun_uid}"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def drafted(session_folder: Path) -> Generation:
    """All tasks, not proven: a matter of seconds."""
    return generated(session_folder / "drafted", "--no-validate")


@pytest.fixture(scope="session")
def proven(session_folder: Path) -> Generation:
    """All tasks, proven from both sides, with the suite's venv: a matter of minutes."""
    return generated(session_folder / "proven")
