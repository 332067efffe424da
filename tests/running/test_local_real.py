"""The real small model over the starter suite, to which problems are added that a model of its size can solve.

Of the problems that are shipped it solves none: they are made to be unkind to far better ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from starter.recipe import Recipe
from starter.rows import complete_row

from lab.suites.starter.suite import STARTERCOMPLETE
from tests.running.agents import processes_with
from tests.support.laboratory import PROJECT
from tests.support.local_packages import local_packages

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE_S = 600
FIRST_EASY = 100
SHIPPED = ("startercomplete-0", "startercomplete-9")


def is_leap_year(year: int) -> bool:
    """Say whether a year is a leap year of the Gregorian calendar.

    >>> is_leap_year(2024)
    True
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def celsius(fahrenheit: float) -> float:
    """Turn a temperature in degrees Fahrenheit into degrees Celsius.

    >>> celsius(212.0)
    100.0
    """
    return (fahrenheit - 32) * 5 / 9


def largest(numbers: list[int]) -> int:
    """Return the largest of the numbers; the list is not empty.

    >>> largest([1, 3, 2])
    3
    """
    return max(numbers)


def rectangle_area(width: int, height: int) -> int:
    """Return the area of a rectangle.

    >>> rectangle_area(2, 3)
    6
    """
    return width * height


def is_palindrome(text: str) -> bool:
    """Say whether a text reads the same from both ends.

    >>> is_palindrome('level')
    True
    """
    return text == text[::-1]


EASY = (
    Recipe(is_leap_year, [[1900], [2000], [2023]], lambda draw: [draw.integer(1, 9999)]),
    Recipe(celsius, [[32.0], [-40.0]], lambda draw: [draw.integer(-1000, 1000) / 10]),
    Recipe(largest, [[[5]], [[-1, -2]]], lambda draw: [draw.many(1, 9, lambda: draw.integer(-99, 99))]),
    Recipe(rectangle_area, [[0, 5], [7, 1]], lambda draw: [draw.integer(0, 99), draw.integer(0, 99)]),
    Recipe(is_palindrome, [[""], ["aa"], ["ab"]], lambda draw: [draw.text("ab", 1, 9)]),
)


def lab(root: Path, packages: Path, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "lab", "--root", root, *arguments],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.slow
def test_a_real_model_passes_some_and_not_all(tmp_path: Path) -> None:
    packages = local_packages()
    assert STARTERCOMPLETE.embedded is not None
    easy = [complete_row(number, recipe) for number, recipe in enumerate(EASY, start=FIRST_EASY)]
    source = tmp_path / "source"
    source.mkdir()
    (source / "startercomplete.jsonl").write_text(
        STARTERCOMPLETE.embedded.read_text() + "".join(json.dumps(row) + "\n" for row in easy)
    )
    selected = [*SHIPPED, *(f"startercomplete-{FIRST_EASY + number}" for number in range(len(EASY)))]
    lab(tmp_path, packages, "gen", "--suite", "starter", "--source", str(source), "--langs", "startercomplete", "--all")
    said = json.loads(lab(tmp_path, packages, "run", "model", "--local", *selected, "--suite", "starter", "--json"))
    passed = said["statuses"].get("pass", 0)
    assert said["runs"] == len(selected)
    assert 0 < passed < len(selected), said["statuses"]
    assert {result["model"] for result in said["results"]} == {"smollm2-135m-instruct"}
    assert processes_with(str(packages)) == []
