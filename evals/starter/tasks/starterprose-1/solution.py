def round_cash(cents: int, step: int) -> int:
    """Write a function to round an amount in cents to the nearest multiple of step, the smallest coin in use. An
    amount exactly between two multiples is rounded away from zero. Amounts may be negative and of any size.

    Example:

        assert round_cash(1012, 5) == 1010
    """
