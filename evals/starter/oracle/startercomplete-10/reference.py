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
