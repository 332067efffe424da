def is_leap_year(year: int) -> bool:
    """Say whether a year is a leap year of the Gregorian calendar.

    >>> is_leap_year(2024)
    True
    """
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
