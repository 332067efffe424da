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
    open_groups: list[tuple[str, int]] = []
    done = ""
    digits = ""
    place = 0
    while place < len(packed):
        mark = packed[place]
        if mark.isdigit():
            digits += mark
        elif mark == "(":
            open_groups.append((done, int(digits or "1")))
            done = digits = ""
        elif mark == ")":
            before, times = open_groups.pop()
            done = before + done * times
        else:
            if mark == "!":
                place += 1
            done += packed[place] * int(digits or "1")
            digits = ""
        place += 1
    return done
