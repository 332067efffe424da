def split_bill(total: int, weights: list[int]) -> list[int]:
    """Share a bill of `total` cents among people in proportion to their weights, and return each one's cents.

    Everybody first gets the exact share, rounded down to whole cents. The cents that are left over then go one each
    to those whose share lost the largest fraction, the earlier person first among equals. A refund (a negative
    total) is shared like a bill of the same size, with the signs turned. Weights are whole numbers from zero up, and
    at least one of them is above zero.

    >>> split_bill(100, [1, 1, 1])
    [34, 33, 33]
    >>> split_bill(1000, [1, 2])
    [333, 667]
    """
