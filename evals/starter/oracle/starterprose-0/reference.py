def next_free_slot(busy: list[tuple[int, int]], opening: int, closing: int, length: int) -> int:
    start = opening
    for begin, end in sorted(busy):
        if begin >= start + length:
            break
        start = max(start, end)
    return start if start + length <= closing else -1
