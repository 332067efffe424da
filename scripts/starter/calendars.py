"""Problems about days and hours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


def nth_weekday(year: int, month: int, weekday: int, n: int) -> int:
    """Find the day of the month on which the n-th given weekday of a month falls, in the Gregorian calendar.

    Weekdays are 0 for Monday to 6 for Sunday. n is 1 for the first such day of the month, 2 for the second, and so
    on; -1 is the last, -2 the last but one, and so on. If the month has no such day (as for n = 0), return 0. Years
    run from 1 to 100000 under the one rule for leap years.

    >>> nth_weekday(2024, 2, 3, 5)
    29
    >>> nth_weekday(2023, 5, 0, -1)
    29
    >>> nth_weekday(2023, 2, 1, 5)
    0
    """
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    before = year - 1
    days_before = 365 * before + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1])
    first = 1 + (weekday - days_before) % 7
    days = range(first, lengths[month - 1] + 1, 7)
    if n == 0 or abs(n) > len(days):
        return 0
    return days[n - 1] if n > 0 else days[n]


def duration_text(seconds: int) -> str:
    rest = abs(seconds)
    text = ""
    for unit, size in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            text += f"{count}{unit}"
    return ("-" if seconds < 0 else "") + (text or "0s")


def _draw_weekday(draw: Draw) -> Arguments:
    year = draw.pick(
        [draw.integer(1, 9999), draw.integer(1580, 2100), 100 * draw.integer(1, 40), draw.integer(1, 100000)]
    )
    month = 2 if draw.chance(0.3) else draw.integer(1, 12)
    return [year, month, draw.integer(0, 6), draw.pick([-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 5, 6])]


def _draw_seconds(draw: Draw) -> Arguments:
    counts = [draw.integer(0, top) * draw.integer(0, 1) for top in (60, 6, 23, 59, 59)]
    seconds = sum(count * size for count, size in zip(counts, (604800, 86400, 3600, 60, 1), strict=True))
    return [-seconds if draw.chance(0.3) else seconds]


NTH_WEEKDAY = Recipe(
    nth_weekday,
    edges=[
        [2024, 2, 3, 5],
        [2023, 5, 0, -1],
        [2023, 2, 1, 5],
        [1900, 2, 3, 5],
        [2000, 2, 1, 5],
        [1900, 2, 3, -1],
        [2100, 2, 6, -4],
        [2023, 5, 0, 0],
        [2023, 5, 0, 6],
        [2023, 5, 0, -5],
        [2023, 5, 3, -5],
        [2023, 5, 0, -6],
        [1, 1, 0, 1],
        [10000, 1, 5, 1],
        [100000, 12, 6, -1],
        [99999, 12, 4, 5],
    ],
    draw=_draw_weekday,
)
DURATION_TEXT = Prose(
    duration_text,
    prompt=(
        "Write a function to write a number of seconds in weeks, days, hours, minutes and seconds, each as a number "
        "followed at once by w, d, h, m or s, the largest unit first and units of which there are none left out. "
        "A negative number is written like the positive one with a minus sign before it, and zero as 0s."
    ),
    edges=[
        [3661],
        [90],
        [90000],
        [0],
        [1],
        [-1],
        [-3661],
        [604800],
        [604799],
        [691201],
        [-1209600],
        [86400],
        [59],
        [60],
        [36000],
        [10**12],
    ],
    draw=_draw_seconds,
)
