"""What holds for all tests."""

from __future__ import annotations

from tests.support.laboratory import laboratory
from tests.support.required import pytest_runtest_makereport

__all__ = ["laboratory", "pytest_runtest_makereport"]
