def first_bad_bracket(text: str) -> int:
    """Write a function to find the bracket that breaks the balance of the brackets (), [] and {} in a text. It is
    the first closing bracket that does not match the bracket opened last, or, if there is none, the first
    opening bracket that is never closed. Brackets between double quotes do not count, and a double quote that
    is not closed reaches to the end of the text. Return the index of the bracket, or -1 if all are balanced.

    Example:

        assert first_bad_bracket('f(a[1], {2})') == -1
    """
