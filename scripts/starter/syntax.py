"""Problems about reading a notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


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


def expand_runs(packed: str) -> str:
    """Unpack a drawing in which repeated parts were written once.

    A whole number before a character says how often that character is repeated; without a number it stands once. A
    group in parentheses is repeated as a whole in the same way, and may hold further groups. After an exclamation
    mark the next character (a digit, a parenthesis, an exclamation mark, any other) is meant as itself, and can be
    repeated too.

    >>> expand_runs("3a2b")
    'aaabb'
    >>> expand_runs("2(x3-)y")
    'x---x---y'
    """
    open_groups: list[tuple[str, int]] = []
    done = ""
    digits = ""
    place = 0
    while place < len(packed):
        mark = packed[place]
        if mark.isdigit():
            digits += mark
        elif mark == "(":
            open_groups.append((done, int(digits or "1")))
            done = digits = ""
        elif mark == ")":
            before, times = open_groups.pop()
            done = before + done * times
        else:
            if mark == "!":
                place += 1
            done += packed[place] * int(digits or "1")
            digits = ""
        place += 1
    return done


def first_bad_bracket(text: str) -> int:
    partner = {")": "(", "]": "[", "}": "{"}
    unclosed: list[tuple[str, int]] = []
    quoted = False
    for place, mark in enumerate(text):
        if mark == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif mark in partner.values():
            unclosed.append((mark, place))
        elif mark in partner:
            if not unclosed or unclosed[-1][0] != partner[mark]:
                return place
            unclosed.pop()
    return unclosed[0][1] if unclosed else -1


def _field(draw: Draw) -> str:
    if draw.chance(0.5):
        return "'" + draw.text("ab; '", 0, 7).replace("'", "''") + "'"
    plain = draw.text("abc1' ", 0, 6).strip()
    return plain.lstrip("' ")


def _draw_line(draw: Draw) -> Arguments:
    spaces = ["", "", " ", "  "]
    return [";".join(draw.many(1, 5, lambda: draw.pick(spaces) + _field(draw) + draw.pick(spaces)))]


def _packed(draw: Draw, depth: int) -> str:
    parts = []
    for _ in range(draw.integer(1, 3)):
        times = draw.pick(["", "", "0", "2", "3", "10" if depth else "1"])
        if depth and draw.chance(0.4):
            parts.append(f"{times}({_packed(draw, depth - 1)})")
        elif draw.chance(0.25):
            parts.append(f"{times}!{draw.pick('()!07x')}")
        else:
            parts.append(times + draw.pick("ab.-# "))
    return "".join(parts)


def _draw_packed(draw: Draw) -> Arguments:
    return [_packed(draw, draw.integer(0, 2))]


def _draw_brackets(draw: Draw) -> Arguments:
    text = ""
    for _ in range(draw.integer(1, 7)):
        place = draw.integer(0, len(text))
        piece = draw.pick(["()", "[]", "{}", "a", '"("', '")x["', "{}"])
        text = text[:place] + piece + text[place:]
    if draw.chance(0.5):
        place = draw.integer(0, len(text))
        text = text[:place] + draw.pick('()[]{}"') + text[place:]
    return [text]


SPLIT_QUOTED = Recipe(
    split_quoted,
    edges=[
        ["tea; 'green; loose' ;12"],
        [""],
        [";"],
        [" ; ;"],
        ["''"],
        ["' '"],
        ["' padded ';x"],
        ["'it''s'; o'clock"],
        ["''''"],
        ["'''';''"],
        ["a;;b;"],
        ["  spaced out  ;'  kept  '  "],
        ["rock 'n' roll;'a'';''b'"],
    ],
    draw=_draw_line,
)
EXPAND_RUNS = Recipe(
    expand_runs,
    edges=[
        ["3a2b"],
        ["2(x3-)y"],
        [""],
        ["12."],
        ["0a"],
        ["a0(bc)d"],
        ["!3a"],
        ["3!3"],
        ["2(!(2!))"],
        ["!!2!!"],
        ["2(a2(b2(c)))"],
        ["()x"],
        ["3( )|"],
        ["10(ab)"],
        ["2(3!1)"],
    ],
    draw=_draw_packed,
)
FIRST_BAD_BRACKET = Prose(
    first_bad_bracket,
    prompt=(
        "Write a function to find the bracket that breaks the balance of the brackets (), [] and {} in a text. It is "
        "the first closing bracket that does not match the bracket opened last, or, if there is none, the first "
        "opening bracket that is never closed. Brackets between double quotes do not count, and a double quote that "
        "is not closed reaches to the end of the text. Return the index of the bracket, or -1 if all are balanced."
    ),
    edges=[
        ["f(a[1], {2})"],
        ["f(a]"],
        ["((a)"],
        [""],
        ["((("],
        [")("],
        ['print("(")'],
        ['say("]" + x])'],
        ['(")'],
        ['")'],
        ["{[}]"],
        ["[(])("],
        ["()[]{"],
        ['a"b"(c'],
        ['""('],
    ],
    draw=_draw_brackets,
)
