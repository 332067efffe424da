import heapq


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
