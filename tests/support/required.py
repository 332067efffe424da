"""In CI (LAB_CI=1) a test that was to prove the grading on real parts must not be skipped: there it fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    required = {"sandbox", "real"} if SHARED_DATA.is_dir() else {"sandbox"}
    if os.environ.get("LAB_CI") and report.skipped and any(mark.name in required for mark in item.iter_markers()):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"must not be skipped where LAB_CI is set: {reason}"
    return report
