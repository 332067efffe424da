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
