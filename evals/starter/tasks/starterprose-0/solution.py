def next_free_slot(busy: list[tuple[int, int]], opening: int, closing: int, length: int) -> int:
    """Write a function to find the earliest minute at which an appointment of the given length can start in a shop
    that is open from opening to closing. The busy times are (start, end) pairs with the end not included; they
    may come in any order, overlap, and reach beyond the opening hours. The appointment must end by closing and
    must not overlap a busy time, though it may touch one. Return -1 if there is no such minute.

    Example:

        assert next_free_slot([(540, 600), (630, 700)], 540, 1020, 30) == 600
    """
