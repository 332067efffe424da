from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from lab.running.identity import Setup, run_id

SETUP = Setup("t", "1", "m", {"a": 1, "b": [2]})


@pytest.mark.parametrize(
    "change", [{"tool": "u"}, {"tool_version": "2"}, {"model": None}, {"settings": {"a": 1, "b": [3]}}]
)
def test_everything_that_makes_a_run_counts(change: dict[str, Any]) -> None:
    assert dataclasses.replace(SETUP, **change).identity("entry") != SETUP.identity("entry")


def test_identity_is_stable_and_of_the_task() -> None:
    assert SETUP.identity("entry") == Setup("t", "1", "m", {"b": [2], "a": 1}).identity("entry")
    assert SETUP.identity("entry") != SETUP.identity("other")
    assert run_id(SETUP.identity("entry"), 3) == SETUP.identity("entry")[:12] + "-3"
