def missing_digit(code: str) -> str:
    """Write a function to restore an article number of 13 digits, one of which cannot be read and stands as a
    question mark. In a right number, the sum of the 1st, 3rd, 5th, ... digit and of three times the 2nd, 4th,
    6th, ... digit is a multiple of ten. There may be hyphens between the digits, which do not count as places.
    Return the number with the digit put in, and everything else as it was.

    Example:

        assert missing_digit('978030640615?') == '9780306406157'
    """
