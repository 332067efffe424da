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
