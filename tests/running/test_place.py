"""The folder of one run, whatever stands in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.running.place import Place

if TYPE_CHECKING:
    from pathlib import Path


def test_a_run_is_not_written_through_a_link(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "runs" / "run"
    elsewhere.mkdir()
    folder.parent.mkdir()
    folder.symlink_to(elsewhere)
    with pytest.raises(LabError, match=r"runs/run: Not a directory"), Place(folder, "x").claim():
        pass
    with Place(elsewhere, "x").claim() as mine:
        assert mine
