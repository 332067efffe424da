def split_quoted(line: str) -> list[str]:
    """Split one line of an exported list into its fields.

    Fields are separated by semicolons, and spaces around a field are dropped. A field may stand between single
    quotes: there a semicolon is plain text, two single quotes in a row stand for one, and spaces are kept. A single
    quote that is not the first character of its field is plain text. Every quoted field is closed, and after its
    closing quote only spaces come before the next semicolon. An empty line has one empty field.

    >>> split_quoted("tea; 'green; loose' ;12")
    ['tea', 'green; loose', '12']
    >>> split_quoted("")
    ['']
    """
