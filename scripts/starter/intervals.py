"""Problems about stretches of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


def merge_bookings(bookings: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the bookings of one meeting room into the stretches of time in which it is taken.

    A booking is (start, end) in minutes: the start belongs to it, the end does not. A booking whose end is not
    after its start takes no time and is ignored. Bookings that overlap, or of which one ends when the other starts,
    become one stretch. The stretches are returned in order of time.

    >>> merge_bookings([(60, 90), (30, 45)])
    [(30, 45), (60, 90)]
    >>> merge_bookings([(0, 30), (30, 60), (100, 110)])
    [(0, 60), (100, 110)]
    """
    taken: list[tuple[int, int]] = []
    for start, end in sorted(bookings):
        if end <= start:
            continue
        if taken and start <= taken[-1][1]:
            taken[-1] = (taken[-1][0], max(end, taken[-1][1]))
        else:
            taken.append((start, end))
    return taken


def next_free_slot(busy: list[tuple[int, int]], opening: int, closing: int, length: int) -> int:
    start = opening
    for begin, end in sorted(busy):
        if begin >= start + length:
            break
        start = max(start, end)
    return start if start + length <= closing else -1


def _span(draw: Draw, last: int, longest: int) -> tuple[int, int]:
    start = draw.integer(0, last)
    return start, start + draw.integer(1, longest)


def _draw_bookings(draw: Draw) -> Arguments:
    longest = draw.pick([3, 10, 40])
    bookings = draw.many(0, 12, lambda: _span(draw, 60, longest))
    if draw.chance(0.4):
        bookings.append((start := draw.integer(0, 60), start - draw.integer(0, 5)))
    return [draw.shuffled(bookings)]


def _draw_busy(draw: Draw) -> Arguments:
    opening = draw.integer(0, 30)
    longest = draw.pick([5, 15, 30])
    busy = draw.many(0, 8, lambda: _span(draw, 80, longest))
    return [busy, opening, opening + draw.integer(5, 60), draw.integer(1, 12)]


MERGE_BOOKINGS = Recipe(
    merge_bookings,
    edges=[
        [[(60, 90), (30, 45)]],
        [[(0, 30), (30, 60), (100, 110)]],
        [[]],
        [[(5, 5)]],
        [[(10, 20), (5, 5), (30, 25)]],
        [[(0, 100), (10, 20)]],
        [[(0, 100), (10, 20), (50, 120), (119, 119)]],
        [[(10, 20), (20, 20), (20, 30)]],
        [[(10, 20), (15, 12), (18, 25)]],
        [[(-30, -10), (-10, 0)]],
    ],
    draw=_draw_bookings,
)
NEXT_FREE_SLOT = Prose(
    next_free_slot,
    prompt=(
        "Write a function to find the earliest minute at which an appointment of the given length can start in a shop "
        "that is open from opening to closing. The busy times are (start, end) pairs with the end not included; they "
        "may come in any order, overlap, and reach beyond the opening hours. The appointment must end by closing and "
        "must not overlap a busy time, though it may touch one. Return -1 if there is no such minute."
    ),
    edges=[
        [[(540, 600), (630, 700)], 540, 1020, 30],
        [[(540, 600), (620, 700)], 540, 1020, 30],
        [[(540, 1000)], 540, 1020, 30],
        [[], 540, 570, 30],
        [[], 540, 570, 31],
        [[(620, 700), (540, 600)], 540, 1020, 20],
        [[(540, 900), (550, 560)], 540, 1020, 30],
        [[(0, 2000)], 540, 1020, 1],
        [[(0, 100), (1100, 1200)], 540, 1020, 480],
        [[(500, 550), (1010, 1100)], 540, 1020, 460],
        [[(500, 550), (1010, 1100)], 540, 1020, 461],
        [[(1020, 1030)], 540, 1020, 480],
        [[(10, 20), (12, 15), (16, 22)], 9, 40, 2],
    ],
    draw=_draw_busy,
)
