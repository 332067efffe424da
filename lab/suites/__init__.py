"""Suites: rows of a public benchmark become problems that lab can turn into tasks."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from lab.errors import LabError, did_you_mean

if TYPE_CHECKING:
    from lab.suites.base import Suite

SUITES = {
    "evalplus": "lab.suites.evalplus",
    "starter": "lab.suites.starter",
}
"""Suite name to the module that exports it as `SUITE`; imported only when asked for."""


def get_suite(name: str) -> Suite:
    """The suite of this name; raises LabError naming those there are."""
    if name not in SUITES:
        raise LabError(f"there is no suite {name!r}", did_you_mean(name, SUITES))
    suite: Suite = importlib.import_module(SUITES[name]).SUITE
    return suite
