from __future__ import annotations

from lab.order import natural


def test_natural_order() -> None:
    names = ["b-10", "b-2", "a-100", "b", "b-2x"]
    assert sorted(names, key=natural) == ["a-100", "b", "b-2", "b-2x", "b-10"]
