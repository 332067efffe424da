"""Problems about setting text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


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
    lines: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) <= width:
            line += " " + word
            continue
        if line:
            lines.append(line)
        line = word
        while len(line) > width:
            lines.append(line[:width])
            line = line[width:]
    if line:
        lines.append(line)
    return lines


def title_word(word: str) -> str:
    return "-".join(part[:1].upper() + part[1:] for part in word.lower().split("-"))


def title_case(title: str, small: list[str]) -> str:
    words = title.split(" ")
    for place, word in enumerate(words):
        if any(letter.isupper() for letter in word[1:]):
            continue
        inner = 0 < place < len(words) - 1
        words[place] = word.lower() if inner and word.lower() in small else title_word(word)
    return " ".join(words)


def _draw_ticket(draw: Draw) -> Arguments:
    width = draw.integer(1, 14)
    words = draw.many(0, 9, lambda: draw.text("abcdeimnorst-", 1, draw.pick([3, 6, 2 * width + 2])))
    return ["".join(word + draw.pick([" ", " ", "  ", "\n", "\t "]) for word in words), width]


def _draw_title(draw: Draw) -> Arguments:
    names = ["house", "river", "Winter", "HALF", "NASA", "iPhone", "well-known", "out-of-date", "x", "McGee", "Day"]
    words = draw.many(1, 7, lambda: draw.pick([*names, "The", "A", *SMALL_WORDS]))
    return [" ".join(words), draw.shuffled(SMALL_WORDS)[: draw.integer(3, len(SMALL_WORDS))]]


SMALL_WORDS = ["a", "an", "and", "at", "in", "of", "on", "the", "to"]
WRAP_WORDS = Recipe(
    wrap_words,
    edges=[
        ["the quick brown fox", 10],
        [" a  b ", 1],
        ["", 5],
        [" \n\t ", 3],
        ["incomprehensibilities", 6],
        ["so incomprehensible a word", 8],
        ["abcdef gh", 4],
        ["abcdefgh i", 4],
        ["a well-known fact", 8],
        ["exact fit here", 5],
        ["one\ntwo\tthree", 7],
        ["ab - cd", 4],
    ],
    draw=_draw_ticket,
)
TITLE_CASE = Prose(
    title_case,
    helpers=(title_word,),
    prompt=(
        "Write a function to put a title into title case. Words are separated by single spaces. A word that has a "
        "capital letter anywhere after its first character, such as NASA or iPhone, is left as it is. A word of the "
        "list small (which is in lower case) is written in lower case, whatever case it comes in, unless it is the "
        "first or the last word of the title. Every other word is written with a capital letter at its start and "
        "after each of its hyphens."
    ),
    edges=[
        ["the house on the hill", ["the", "on", "of"]],
        ["a history of NASA", ["a", "of"]],
        ["winter", []],
        ["what dreams are made of", ["of", "are"]],
        ["a well-known out-of-date map", ["a", "of", "out-of-date"]],
        ["the iPhone and The river", ["the", "and"]],
        ["of", ["of"]],
        ["of the", ["of", "the"]],
        ["", ["a"]],
        ["x-ray of A y-axis", ["a", "of"]],
        ["one At a time", ["at", "a"]],
        ["McGee's half-Blood prince", ["half-blood"]],
    ],
    draw=_draw_title,
)
