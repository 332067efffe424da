"""Problems about how numbers and versions are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


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


def roman_total(numerals: list[str]) -> str:
    """Add up Roman numerals and return the total as a Roman numeral in capital letters.

    A numeral may be written in the usual way, where a smaller letter before a larger one is taken away (IV, XC), or
    in the older way without that (IIII, LXXXX), and in capital or small letters. The total is written in the usual
    way; as there is no letter above M, large totals just have as many M as they need. A total of nothing, for which
    the Romans had no numeral, is written N.

    >>> roman_total(["XIV", "VI"])
    'XX'
    >>> roman_total(["CCCC", "XC", "VIIII"])
    'CDXCIX'
    """
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    for numeral in numerals:
        worth = [values[letter] for letter in numeral.upper()]
        for value, following in zip(worth, [*worth[1:], 0], strict=True):
            total += value if value >= following else -value
    text = "M" * (total // 1000)
    for size, one, five, ten in ((100, "C", "D", "M"), (10, "X", "L", "C"), (1, "I", "V", "X")):
        digit = total // size % 10
        text += ["", one, one * 2, one * 3, one + five][digit % 5] if digit < 5 else ""
        text += [five, five + one, five + one * 2, five + one * 3, one + ten][digit - 5] if digit >= 5 else ""
    return text or "N"


def poly_text(coefficients: list[int]) -> str:
    """Write a polynomial in x as people do; `coefficients[i]` belongs to the i-th power of x.

    The highest power comes first and terms with the coefficient zero are left out. A coefficient of one is not
    written before a power of x, and the first power is written x. Terms are joined by " + " or " - "; before the
    first term only a minus sign is written, without a space. The polynomial without any term is 0.

    >>> poly_text([3, 0, 2])
    '2x^2 + 3'
    >>> poly_text([-4, 5])
    '5x - 4'
    """
    text = ""
    for power in range(len(coefficients) - 1, -1, -1):
        coefficient = coefficients[power]
        if not coefficient:
            continue
        if text:
            text += " - " if coefficient < 0 else " + "
        elif coefficient < 0:
            text = "-"
        if abs(coefficient) != 1 or not power:
            text += str(abs(coefficient))
        if power:
            text += "x" if power == 1 else f"x^{power}"
    return text or "0"


def missing_digit(code: str) -> str:
    total = 0
    place = 0
    unknown_weight = 1
    for mark in code:
        if mark == "-":
            continue
        weight = 3 if place % 2 else 1
        if mark == "?":
            unknown_weight = weight
        else:
            total += weight * int(mark)
        place += 1
    for digit in range(10):
        if (total + unknown_weight * digit) % 10 == 0:
            return code.replace("?", str(digit))
    raise ValueError(code)


def _version(draw: Draw) -> str:
    numbers = ".".join(draw.many(1, 4, lambda: draw.pick(["0", "1", "2", "9", "10"])))
    if draw.chance(0.4):
        return numbers
    pieces = ["alpha", "beta", "rc", "RC", "1", "2", "9", "10", "beta2", "beta10", "x-y"]
    return f"{numbers}-" + ".".join(draw.many(1, 3, lambda: draw.pick(pieces)))


def _draw_versions(draw: Draw) -> Arguments:
    left = _version(draw)
    if draw.chance(0.4):
        return [left, _version(draw)]
    # a close relative: another label, or further zeros, behind the same numbers
    numbers, _, label = left.partition("-")
    other = _version(draw).partition("-")[2] if draw.chance(0.7) else label
    return [left, numbers + draw.pick(["", "", ".0"]) + (f"-{other}" if other else "")]


def _numeral(draw: Draw) -> str:
    hundreds = ["", "C", "CC", "CCC", "CD", "CCCC", "D", "DC", "CM", "DCCCC"]
    tens = ["", "X", "XX", "XXX", "XL", "XXXX", "L", "LX", "XC", "LXXXX"]
    ones = ["", "I", "II", "III", "IV", "IIII", "V", "VI", "IX", "VIIII"]
    numeral = "M" * draw.pick([0, 0, 0, 1, 2]) + draw.pick(hundreds) + draw.pick(tens) + draw.pick(ones)
    numeral = numeral or "I"
    return numeral.lower() if draw.chance(0.2) else numeral


def _draw_numerals(draw: Draw) -> Arguments:
    return [draw.many(1, draw.pick([1, 3, 6]), lambda: _numeral(draw))]


def _draw_coefficients(draw: Draw) -> Arguments:
    return [draw.many(1, 6, lambda: draw.pick([0, 0, 1, -1, draw.integer(-12, 12)]))]


def _draw_code(draw: Draw) -> Arguments:
    digits = draw.text("0123456789", 12, 12)
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    code = digits + str(-total % 10)
    unknown = draw.integer(0, 12)
    code = f"{code[:unknown]}?{code[unknown + 1 :]}"
    for _ in range(draw.pick([0, 1, 3, 4])):
        place = draw.integer(1, len(code) - 1)
        if "-" not in code[place - 1 : place + 1]:
            code = f"{code[:place]}-{code[place:]}"
    return [code]


COMPARE_VERSIONS = Recipe(
    compare_versions,
    edges=[
        ["1.10", "1.9"],
        ["2.0", "2"],
        ["1.0-beta", "1.0"],
        ["1.0", "1.0.1"],
        ["1.0.0-rc", "1"],
        ["1.0-rc.10", "1.0-rc.9"],
        ["1.0-rc.2", "1.0-rc.x"],
        ["1.0-2", "1.0-10"],
        ["1.0-rc", "1.0-rc.1"],
        ["1.0-beta10", "1.0-beta9"],
        ["1-a", "1.0.0-a"],
        ["1.0-alpha", "0.9"],
        ["1.0-x-y", "1.0-x"],
        ["1.0-RC", "1.0-alpha"],
        ["0", "0.0.0"],
        ["3.0.0-1.1", "3-1.1"],
        ["1.02", "1.2"],
    ],
    draw=_draw_versions,
)
ROMAN_TOTAL = Recipe(
    roman_total,
    edges=[
        [["XIV", "VI"]],
        [["CCCC", "XC", "VIIII"]],
        [[]],
        [["iv", "Ix"]],
        [["MMMM", "M"]],
        [["CM", "XCIX"]],
        [["MCMXCIX", "I"]],
        [["D", "D", "D", "D", "D", "D", "D", "D", "D"]],
        [["IIII"]],
        [["I"]],
        [["xlix", "LI"]],
        [["DCCCLXXXVIII"]],
    ],
    draw=_draw_numerals,
)
POLY_TEXT = Recipe(
    poly_text,
    edges=[
        [[3, 0, 2]],
        [[-4, 5]],
        [[]],
        [[0]],
        [[0, 0]],
        [[1]],
        [[-1]],
        [[0, 1]],
        [[0, -1]],
        [[1, 1, 1]],
        [[-1, -1, -1]],
        [[0, 0, 0, -7]],
        [[5, 0, 0]],
        [[0, 11, 0, -1]],
        [[1, -10, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
    ],
    draw=_draw_coefficients,
)
MISSING_DIGIT = Prose(
    missing_digit,
    prompt=(
        "Write a function to restore an article number of 13 digits, one of which cannot be read and stands as a "
        "question mark. In a right number, the sum of the 1st, 3rd, 5th, ... digit and of three times the 2nd, 4th, "
        "6th, ... digit is a multiple of ten. There may be hyphens between the digits, which do not count as places. "
        "Return the number with the digit put in, and everything else as it was."
    ),
    edges=[
        ["978030640615?"],
        ["97803064061?7"],
        ["?780306406157"],
        ["978-0-306-40615-?"],
        ["978-0-306-4061?-7"],
        ["9-78030640?157"],
        ["000000000000?"],
        ["0?00000000000"],
        ["999-999999999?"],
        ["978?306406157"],
        ["9-7-8-0-?-0-6-4-0-6-1-5-7"],
    ],
    draw=_draw_code,
)
