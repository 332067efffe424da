def island_sizes(rows: list[str]) -> list[int]:
    """Write a function to find the sizes of all islands on a map of the world, the largest first. The map is given
    as rows of equal length in which # is land and anything else is water; pieces of land are joined where they
    touch above, below, left or right. As on a globe, the last column of a row touches the first column of the
    same row; the top row does not touch the bottom row.

    Example:

        assert island_sizes(['##..', '...#', '...#', '.#..']) == [2, 2, 1]
    """
