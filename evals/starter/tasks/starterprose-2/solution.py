def duration_text(seconds: int) -> str:
    """Write a function to write a number of seconds in weeks, days, hours, minutes and seconds, each as a number
    followed at once by w, d, h, m or s, the largest unit first and units of which there are none left out. A
    negative number is written like the positive one with a minus sign before it, and zero as 0s.

    Example:

        assert duration_text(3661) == '1h1m1s'
    """
