def round_cash(cents: int, step: int) -> int:
    steps, rest = divmod(abs(cents), step)
    if 2 * rest >= step:
        steps += 1
    return steps * step if cents >= 0 else -steps * step
