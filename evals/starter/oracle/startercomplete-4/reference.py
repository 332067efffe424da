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
