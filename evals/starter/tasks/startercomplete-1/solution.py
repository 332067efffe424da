def wrap_words(text: str, width: int) -> list[str]:
    """Break a text into lines of at most `width` characters, as the printer of a ticket machine does.

    Words are separated by any run of white space, and are printed with one space between them; as many words as fit
    go on a line. A word is only cut if it is longer than `width`: then it starts on a new line, all its lines but
    the last are full, and the words after it go on behind its last piece where they fit.

    >>> wrap_words("the quick brown fox", 10)
    ['the quick', 'brown fox']
    >>> wrap_words(" a  b ", 1)
    ['a', 'b']
    """
