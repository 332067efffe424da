"""Problems that a small model can solve: the rest of the suite is unkind to far better ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


def rectangle_area(width: int, height: int) -> int:
    """Return the area of a rectangle.

    >>> rectangle_area(2, 3)
    6
    """
    return width * height


def is_leap_year(year: int) -> bool:
    """Say whether a year is a leap year of the Gregorian calendar.

    >>> is_leap_year(2024)
    True
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _draw_sides(draw: Draw) -> Arguments:
    return [draw.integer(0, 999), draw.integer(0, 999)]


def _draw_year(draw: Draw) -> Arguments:
    return [draw.integer(1, 40) * 100 if draw.integer(0, 1) else draw.integer(1, 4000)]


RECTANGLE_AREA = Recipe(rectangle_area, edges=[[2, 3], [0, 5], [7, 1], [12, 12]], draw=_draw_sides)
IS_LEAP_YEAR = Recipe(is_leap_year, edges=[[2024], [1900], [2000], [2023], [4], [100]], draw=_draw_year)
