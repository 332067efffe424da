"""Problems about grids and networks."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


def rotate_ring(grid: list[list[int]], steps: int) -> list[list[int]]:
    """Turn the outer ring of a rectangular grid clockwise by `steps` cells and return the new grid.

    The cells inside the ring stay where they are, and the given grid is not changed. Negative steps turn the ring
    the other way. Where the grid is a single row or a single column, all its cells are the ring, in order from left
    to right or from top to bottom, and the last is followed by the first. The grid has at least one cell.

    >>> rotate_ring([[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1)
    [[4, 1, 2], [7, 5, 3], [8, 9, 6]]
    >>> rotate_ring([[1, 2], [3, 4]], 2)
    [[4, 3], [2, 1]]
    """
    last_row, last_column = len(grid) - 1, len(grid[0]) - 1
    ring = [(0, column) for column in range(last_column + 1)]
    ring += [(row, last_column) for row in range(1, last_row + 1)]
    if last_row and last_column:
        ring += [(last_row, column) for column in range(last_column - 1, -1, -1)]
        ring += [(row, 0) for row in range(last_row - 1, 0, -1)]
    turned = [list(row) for row in grid]
    for place, (row, column) in enumerate(ring):
        from_row, from_column = ring[(place - steps) % len(ring)]
        turned[row][column] = grid[from_row][from_column]
    return turned


def cheapest_route(roads: list[tuple[str, str, int]], start: str, goal: str) -> list[str]:
    """Find the cheapest way from `start` to `goal`, as the list of the towns on it, both ends included.

    A road (town, other town, toll) can be used in both directions for the same toll, which is never negative; there
    may be several roads between two towns. Among ways of the same cost the one through fewer towns is chosen, and
    among those the one whose list of towns comes first in alphabetical order. If there is no way, return an empty
    list; the way from a town to itself is that town alone.

    >>> cheapest_route([("A", "B", 4), ("B", "C", 1), ("A", "C", 7)], "A", "C")
    ['A', 'B', 'C']
    >>> cheapest_route([("A", "B", 4), ("C", "D", 1)], "A", "D")
    []
    """
    ways: list[tuple[int, int, list[str]]] = [(0, 1, [start])]
    reached: set[str] = set()
    while ways:
        cost, length, way = heapq.heappop(ways)
        if way[-1] == goal:
            return way
        if way[-1] in reached:
            continue
        reached.add(way[-1])
        for one, other, toll in roads:
            for here, there in ((one, other), (other, one)):
                if here == way[-1] and there not in reached:
                    heapq.heappush(ways, (cost + toll, length + 1, [*way, there]))
    return []


def island_sizes(rows: list[str]) -> list[int]:
    land = {(row, column) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark == "#"}
    sizes = []
    while land:
        shore = [land.pop()]
        size = 0
        while shore:
            row, column = shore.pop()
            size += 1
            width = len(rows[row])
            for cell in (
                (row - 1, column),
                (row + 1, column),
                (row, (column - 1) % width),
                (row, (column + 1) % width),
            ):
                if cell in land:
                    land.remove(cell)
                    shore.append(cell)
        sizes.append(size)
    return sorted(sizes, reverse=True)


def build_order(needs: dict[str, list[str]]) -> list[str]:
    waiting = {name: set(parts) for name, parts in needs.items()}
    for parts in needs.values():
        for part in parts:
            waiting.setdefault(part, set())
    order: list[str] = []
    while waiting:
        ready = [name for name, parts in waiting.items() if parts.issubset(order)]
        if not ready:
            return []
        order.append(min(ready))
        del waiting[order[-1]]
    return order


def _draw_ring(draw: Draw) -> Arguments:
    height, width = draw.integer(1, 5), draw.integer(1, 5)
    grid = [[draw.integer(0, 99) for _ in range(width)] for _ in range(height)]
    return [grid, draw.integer(-20, 20)]


def _draw_roads(draw: Draw) -> Arguments:
    towns = "ABCDEFG"[: draw.integer(3, 7)]
    dearest = draw.pick([1, 2, 3, 9])
    roads = draw.many(2, 12, lambda: (*draw.shuffled(towns)[:2], draw.integer(0, dearest)))
    return [roads, draw.pick(towns), draw.pick(towns)]


def _draw_map(draw: Draw) -> Arguments:
    width = draw.integer(1, 9)
    share = draw.pick([0.3, 0.45, 0.6])
    return [draw.many(1, 6, lambda: "".join("#" if draw.chance(share) else "." for _ in range(width)))]


def _draw_needs(draw: Draw) -> Arguments:
    names = draw.shuffled("abcdefgh"[: draw.integer(2, 8)])
    needs: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        # mostly things that stand earlier, so that most graphs have no ring
        known = names if draw.chance(0.04) else names[:place]
        parts = draw.shuffled(known)[: draw.integer(0, 3)]
        if parts or draw.chance(0.5):
            needs[name] = parts
    return [{name: needs[name] for name in draw.shuffled(list(needs))}]


ROTATE_RING = Recipe(
    rotate_ring,
    edges=[
        [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], 1],
        [[[1, 2], [3, 4]], 2],
        [[[1]], 5],
        [[[1, 2, 3, 4]], 1],
        [[[1, 2, 3, 4]], -1],
        [[[1], [2], [3]], 1],
        [[[1], [2], [3]], 4],
        [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], -1],
        [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], 0],
        [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], 17],
        [[[1, 2, 3], [4, 5, 6]], 1],
        [[[1, 2], [3, 4], [5, 6], [7, 8]], 3],
    ],
    draw=_draw_ring,
)
CHEAPEST_ROUTE = Recipe(
    cheapest_route,
    imports=("import heapq",),
    edges=[
        [[("A", "B", 4), ("B", "C", 1), ("A", "C", 7)], "A", "C"],
        [[("A", "B", 4), ("C", "D", 1)], "A", "D"],
        [[], "A", "A"],
        [[], "A", "B"],
        [[("B", "A", 1)], "A", "B"],
        [[("A", "B", 5), ("A", "B", 2), ("A", "C", 2), ("C", "B", 1)], "A", "B"],
        [[("A", "B", 1), ("B", "D", 1), ("A", "D", 2)], "A", "D"],
        [[("A", "C", 1), ("C", "D", 1), ("A", "B", 1), ("B", "D", 1)], "A", "D"],
        [[("A", "B", 0), ("B", "C", 0), ("A", "C", 0)], "A", "C"],
        [[("A", "B", 1), ("B", "C", 1), ("C", "D", 1), ("A", "D", 3)], "D", "A"],
        [[("A", "B", 1)], "C", "C"],
    ],
    draw=_draw_roads,
)
ISLAND_SIZES = Prose(
    island_sizes,
    prompt=(
        "Write a function to find the sizes of all islands on a map of the world, the largest first. The map is given "
        "as rows of equal length in which # is land and anything else is water; pieces of land are joined where they "
        "touch above, below, left or right. As on a globe, the last column of a row touches the first column of the "
        "same row; the top row does not touch the bottom row."
    ),
    edges=[
        [["##..", "...#", "...#", ".#.."]],
        [["....", "...."]],
        [["#.#.", "###.", "...."]],
        [[]],
        [["#"]],
        [["#.#"]],
        [["#..#", "...."]],
        [["#", ".", "#"]],
        [["###", "...", "###"]],
        [["#...", "...#", "#..."]],
        [["#.#.#", ".....", "#...#"]],
        [["#####", "#...#", "#.#.#", "#...#", "#####"]],
    ],
    draw=_draw_map,
)
BUILD_ORDER = Prose(
    build_order,
    prompt=(
        "Write a function to put things into an order in which they can be built. The dictionary says for each thing "
        "which other things must be built before it; a thing that is only named in such a list needs nothing itself, "
        "but has to be built too. Things are built one at a time: always the alphabetically first of those whose needs "
        "are all built. Return an empty list if not everything can be built."
    ),
    edges=[
        [{"roof": ["wall"], "wall": ["floor"], "floor": []}],
        [{"tea": ["cup", "water"]}],
        [{"a": ["b"], "b": ["a"]}],
        [{}],
        [{"a": ["a"]}],
        [{"a": ["z"], "b": []}],
        [{"a": ["m"], "b": ["n"], "z": []}],
        [{"d": ["c"], "c": ["x"], "a": ["y"], "y": []}],
        [{"a": ["b", "c"], "c": ["d"], "d": ["c"], "e": []}],
        [{"a": ["c"], "b": ["a", "c"], "d": []}],
        [{"b": ["a", "a"]}],
    ],
    draw=_draw_needs,
)
