from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.running.agents import Ground, can_hold

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    made = Ground(tmp_path)
    made.make()
    return made


@pytest.fixture(autouse=True)
def _needs_sandbox(request: pytest.FixtureRequest) -> None:
    if any(request.node.get_closest_marker(name) for name in ("sandbox", "agents")) and not can_hold():
        pytest.skip("an agent's sandbox cannot be made here")
