from itertools import pairwise


def interpolate(points: list[tuple[float, float]], x: float) -> float:
    ordered = sorted(points)
    if x <= ordered[0][0]:
        return ordered[0][1]
    for (x0, y0), (x1, y1) in pairwise(ordered):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return ordered[-1][1]
