"""What is made once for all workers of pytest-xdist, by whoever comes first."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` of this test session, filled by one call of `make`."""
    base = factory.getbasetemp()
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / f"once-{name}"
    with FileLock(f"{folder}.lock"):
        whole = folder / "whole"
        if not whole.exists():
            folder.mkdir()  # fails where an earlier worker failed: once is enough to learn why
            make(folder)
            whole.touch()
    return folder
