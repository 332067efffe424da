def nth_weekday(year: int, month: int, weekday: int, n: int) -> int:
    """Find the day of the month on which the n-th given weekday of a month falls, in the Gregorian calendar.

    Weekdays are 0 for Monday to 6 for Sunday. n is 1 for the first such day of the month, 2 for the second, and so
    on; -1 is the last, -2 the last but one, and so on. If the month has no such day (as for n = 0), return 0. Years
    run from 1 to 100000 under the one rule for leap years.

    >>> nth_weekday(2024, 2, 3, 5)
    29
    >>> nth_weekday(2023, 5, 0, -1)
    29
    >>> nth_weekday(2023, 2, 1, 5)
    0
    """
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    before = year - 1
    days_before = 365 * before + before // 4 - before // 100 + before // 400 + sum(lengths[: month - 1])
    first = 1 + (weekday - days_before) % 7
    days = range(first, lengths[month - 1] + 1, 7)
    if n == 0 or abs(n) > len(days):
        return 0
    return days[n - 1] if n > 0 else days[n]
