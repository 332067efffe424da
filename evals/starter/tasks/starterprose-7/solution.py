def interpolate(points: list[tuple[float, float]], x: float) -> float:
    """Write a function to read a value from a table of measured points (x, y). Between two neighbouring points the
    value lies on the straight line through them; before the first and behind the last point it is the y of that
    point. There is at least one point, no two have the same x, and they may come in any order.

    Example:

        assert interpolate([(0.0, 0.0), (2.0, 4.0), (4.0, 0.0)], 1.0) == 2.0
    """
