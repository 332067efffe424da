"""What holds for all tests."""

from __future__ import annotations

import signal

from tests.support.laboratory import laboratory
from tests.support.required import pytest_runtest_makereport

__all__ = ["laboratory", "pytest_configure", "pytest_runtest_makereport"]


def pytest_configure() -> None:
    """Have Ctrl-C mean what it means at a terminal: a shell starts what it puts into the background without it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
