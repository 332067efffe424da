"""Problems about rules that are followed step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose

if TYPE_CHECKING:
    from starter.draw import Draw


def rank_teams(results: list[tuple[str, int, int, str]]) -> list[str]:
    table: dict[str, list[int]] = {}
    for home, home_goals, away_goals, away in results:
        for team, scored, conceded in ((home, home_goals, away_goals), (away, away_goals, home_goals)):
            row = table.setdefault(team, [0, 0, 0])
            row[0] += 3 if scored > conceded else int(scored == conceded)
            row[1] += scored - conceded
            row[2] += scored
    return sorted(table, key=lambda team: ([-figure for figure in table[team]], team))


def apply_word(word: str, left: int, right: int) -> list[int]:
    if word == "/":
        size = abs(left) // abs(right)
        return [size if (left < 0) == (right < 0) else -size]
    results = {
        "+": [left + right],
        "-": [left - right],
        "*": [left * right],
        "swap": [right, left],
        "over": [left, right, left],
    }
    return results[word]


def stack_program(words: list[str]) -> list[int]:
    stack: list[int] = []
    for word in words:
        if word.lstrip("-").isdigit():
            stack.append(int(word))
        elif word in {"dup", "drop"} and stack:
            stack[-1:] = [stack[-1]] * 2 if word == "dup" else []
        elif word in {"swap", "over", "+", "-", "*", "/"} and len(stack) > 1 and (word != "/" or stack[-1]):
            stack[-2:] = apply_word(word, *stack[-2:])
        else:
            break
    return stack


def _draw_results(draw: Draw) -> Arguments:
    teams = ["Ajo", "Bex", "Cor", "Dun", "Elm"][: draw.integer(2, 5)]
    most = draw.pick([1, 2, 3])

    def result() -> tuple[str, int, int, str]:
        home, away = draw.shuffled(teams)[:2]
        return home, draw.integer(0, most), draw.integer(0, most), away

    return [draw.many(1, 8, result)]


def _draw_words(draw: Draw) -> Arguments:
    words = draw.many(1, 3, lambda: str(draw.integer(-20, 20)))
    commands = ["+", "-", "*", "/", "/", "dup", "drop", "swap", "over"]
    if draw.chance(0.1):
        commands.append("rot")
    words += draw.many(1, 9, lambda: str(draw.integer(-9, 9)) if draw.chance(0.45) else draw.pick(commands))
    return [words]


RANK_TEAMS = Prose(
    rank_teams,
    prompt=(
        "Write a function to rank the teams of a league. A result (home, home goals, away goals, away) gives three "
        "points to the winner, or one point to each team if both have the same goals. Teams with more points come "
        "first; with equal points the higher difference of goals scored and conceded decides, then more goals scored, "
        "then the alphabetical order of the names. Return the names of all teams that played."
    ),
    edges=[
        [[("Ajo", 2, 1, "Bex"), ("Bex", 1, 1, "Cor")]],
        [[("Cor", 0, 3, "Ajo"), ("Cor", 1, 0, "Bex"), ("Bex", 1, 0, "Ajo")]],
        [[("Bex", 0, 0, "Ajo")]],
        [[]],
        [[("Cor", 0, 3, "Ajo"), ("Cor", 2, 0, "Bex"), ("Bex", 1, 0, "Ajo")]],
        [[("Ajo", 0, 0, "Bex"), ("Cor", 2, 2, "Dun")]],
        [[("Ajo", 1, 0, "Bex"), ("Cor", 3, 2, "Dun")]],
        [[("Ajo", 1, 0, "Dun"), ("Bex", 4, 1, "Cor")]],
        [[("Ajo", 10, 0, "Bex"), ("Bex", 1, 0, "Ajo"), ("Bex", 1, 1, "Cor")]],
        [[("Ajo", 0, 1, "Bex"), ("Cor", 0, 1, "Bex"), ("Cor", 1, 1, "Ajo")]],
    ],
    draw=_draw_results,
)
STACK_PROGRAM = Prose(
    stack_program,
    helpers=(apply_word,),
    prompt=(
        "Write a function to run a little stack program and return the stack it leaves, the bottom first. A whole "
        "number, which may be negative, is put on the stack. The words + - * / replace the two topmost numbers by the "
        "result, with the lower of them as the left operand; / drops the fraction, rounding toward zero. The word dup "
        "puts the topmost number on the stack again, drop takes it away, swap exchanges the two topmost numbers, and "
        "over puts the number below the topmost one on top of the stack again. A word that is unknown, lacks the "
        "numbers it needs, or would divide by zero ends the program and leaves the stack as it was before that word."
    ),
    edges=[
        [["2", "3", "+", "4", "*"]],
        [["7", "2", "/", "dup"]],
        [["1", "2", "swap", "over", "-"]],
        [[]],
        [["-7", "2", "/"]],
        [["7", "-2", "/"]],
        [["-7", "-2", "/"]],
        [["5", "0", "/", "9"]],
        [["5", "+", "9"]],
        [["drop", "1"]],
        [["1", "2", "jump", "3"]],
        [["1", "over"]],
        [["4", "dup", "-", "3", "swap", "/", "8"]],
        [["1", "-1", "*", "-", "2"]],
        [["100000000000000000001", "3", "/"]],
    ],
    draw=_draw_words,
)
