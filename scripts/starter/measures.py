"""Problems about measured values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose

if TYPE_CHECKING:
    from starter.draw import Draw


def interpolate(points: list[tuple[float, float]], x: float) -> float:
    ordered = sorted(points)
    if x <= ordered[0][0]:
        return ordered[0][1]
    for (x0, y0), (x1, y1) in pairwise(ordered):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return ordered[-1][1]


def fair_score(marks: list[float], drop: int) -> float:
    ordered = sorted(marks)
    if not ordered:
        return 0.0
    kept = ordered[drop : len(ordered) - drop]
    if not kept:
        middle = len(ordered) // 2
        kept = ordered[middle : middle + 1] if len(ordered) % 2 else ordered[middle - 1 : middle + 1]
    return math.fsum(kept) / len(kept)


def _quarters(draw: Draw, low: int, high: int) -> float:
    return draw.integer(4 * low, 4 * high) / 4


def _draw_points(draw: Draw) -> Arguments:
    places = draw.shuffled(range(-10, 11))[: draw.integer(1, 7)]
    points = [(place / 2, _quarters(draw, -20, 20)) for place in places]
    return [sorted(points) if draw.chance(0.3) else points, _quarters(draw, -7, 7)]


def _draw_marks(draw: Draw) -> Arguments:
    return [draw.many(0, 9, lambda: draw.integer(0, 100) / 10), draw.integer(0, 4)]


INTERPOLATE = Prose(
    interpolate,
    imports=("from itertools import pairwise",),
    prompt=(
        "Write a function to read a value from a table of measured points (x, y). Between two neighbouring points the "
        "value lies on the straight line through them; before the first and behind the last point it is the y of that "
        "point. There is at least one point, no two have the same x, and they may come in any order."
    ),
    edges=[
        [[(0.0, 0.0), (2.0, 4.0), (4.0, 0.0)], 1.0],
        [[(0.0, 0.0), (2.0, 4.0), (4.0, 0.0)], 3.5],
        [[(0.0, 1.5), (2.0, 4.0)], 5.0],
        [[(0.0, 1.5), (2.0, 4.0)], -5.0],
        [[(1.0, 2.5)], 1.0],
        [[(1.0, 2.5)], 0.0],
        [[(4.0, 0.5), (0.0, 0.25), (2.0, 4.0)], 1.0],
        [[(4.0, 0.5), (0.0, 0.25), (2.0, 4.0)], 9.0],
        [[(4.0, 0.5), (0.0, 0.25), (2.0, 4.0)], 2.0],
        [[(3.0, 1.0), (-3.0, -2.0)], 0.1],
        [[(0.0, 0.1), (0.3, 0.7)], 0.1],
    ],
    draw=_draw_points,
)
FAIR_SCORE = Prose(
    fair_score,
    imports=("import math",),
    prompt=(
        "Write a function to work out a diver's score from the marks of the judges: the mean of the marks that remain "
        "when the drop highest and the drop lowest of them are taken away. If no mark would remain, the score is the "
        "median of all marks, and without any marks it is 0.0. The number drop is zero or more."
    ),
    edges=[
        [[7.0, 8.5, 9.0, 6.5, 8.0], 1],
        [[5.0, 9.5, 6.0, 7.0], 1],
        [[8.0, 9.0, 6.0], 2],
        [[], 0],
        [[], 2],
        [[7.5, 8.0], 0],
        [[7.5], 0],
        [[7.5], 1],
        [[6.0, 9.0], 1],
        [[1.0, 2.0, 3.5, 9.9], 2],
        [[1.0, 2.0, 3.5, 9.9], 3],
        [[0.1, 0.2, 0.3], 0],
        [[10.0, 10.0, 0.0, 0.0, 5.5], 2],
    ],
    draw=_draw_marks,
)
