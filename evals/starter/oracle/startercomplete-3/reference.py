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
    fields: list[str] = []
    place = 0
    while True:
        while line[place : place + 1] == " ":
            place += 1
        if line[place : place + 1] == "'":
            field = ""
            place += 1
            while line[place] != "'" or line[place : place + 2] == "''":
                field += line[place]
                place += 2 if line[place] == "'" else 1
            separator = line.find(";", place)
        else:
            separator = line.find(";", place)
            field = (line[place:] if separator < 0 else line[place:separator]).strip(" ")
        fields.append(field)
        if separator < 0:
            return fields
        place = separator + 1
