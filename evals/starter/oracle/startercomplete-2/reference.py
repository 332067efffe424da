def compare_versions(left: str, right: str) -> int:
    """Compare two version names: return -1 if `left` is the older one, 1 if it is the newer one, 0 if neither is.

    A version is made of whole numbers between dots, which may be followed by a hyphen and a label. The numbers are
    compared first, from left to right; numbers that are missing at the end count as zero. With the same numbers, a
    version with a label is older than one without. Two labels are compared piece by piece, their pieces being
    separated by dots: two whole numbers by value, two other pieces by the order of their characters, and a whole
    number is older than another piece. Where all pieces of one label agree, the label with fewer pieces is older.

    >>> compare_versions("1.10", "1.9")
    1
    >>> compare_versions("2.0", "2")
    0
    >>> compare_versions("1.0-beta", "1.0")
    -1
    """

    def key(version: str) -> tuple[list[int], bool, list[tuple[bool, int, str]]]:
        numbers, _, label = version.partition("-")
        parts = [int(number) for number in numbers.split(".")]
        while parts and parts[-1] == 0:
            parts.pop()
        pieces = label.split(".")
        return parts, not label, [(False, int(p), "") if p.isdigit() else (True, 0, p) for p in pieces]

    return (key(left) > key(right)) - (key(left) < key(right))
