def expand_runs(packed: str) -> str:
    """Unpack a drawing in which repeated parts were written once.

    A whole number before a character says how often that character is repeated; without a number it stands once. A
    group in parentheses is repeated as a whole in the same way, and may hold further groups. After an exclamation
    mark the next character (a digit, a parenthesis, an exclamation mark, any other) is meant as itself, and can be
    repeated too.

    >>> expand_runs("3a2b")
    'aaabb'
    >>> expand_runs("2(x3-)y")
    'x---x---y'
    """
