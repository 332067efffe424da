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
