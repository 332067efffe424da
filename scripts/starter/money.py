"""Problems about money, in whole cents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starter.recipe import Arguments, Prose, Recipe

if TYPE_CHECKING:
    from starter.draw import Draw


def split_bill(total: int, weights: list[int]) -> list[int]:
    """Share a bill of `total` cents among people in proportion to their weights, and return each one's cents.

    Everybody first gets the exact share, rounded down to whole cents. The cents that are left over then go one each
    to those whose share lost the largest fraction, the earlier person first among equals. A refund (a negative
    total) is shared like a bill of the same size, with the signs turned. Weights are whole numbers from zero up, and
    at least one of them is above zero.

    >>> split_bill(100, [1, 1, 1])
    [34, 33, 33]
    >>> split_bill(1000, [1, 2])
    [333, 667]
    """
    size = abs(total)
    whole = sum(weights)
    shares = [size * weight // whole for weight in weights]
    losers_first = sorted(range(len(weights)), key=lambda person: -(size * weights[person] % whole))
    for person in losers_first[: size - sum(shares)]:
        shares[person] += 1
    return shares if total >= 0 else [-share for share in shares]


def run_ledger(entries: list[str]) -> dict[str, int]:
    """Replay the day of a small bank and return the balance of every account that does not end at zero.

    "ann +50" pays 50 into ann's account, "ann -20" pays 20 out of it, and "ann > bob 20" moves 20 from ann to bob.
    Every account starts at zero. An entry that would leave an account below zero is refused: it changes nothing.
    "undo" takes back the latest entry that was not refused and has not been taken back already; where there is none
    it does nothing.

    >>> run_ledger(["ann +50", "ann -20", "bob +5"])
    {'ann': 30, 'bob': 5}
    >>> run_ledger(["ann +50", "ann > bob 20", "undo"])
    {'ann': 50}
    """
    history: list[dict[str, int]] = [{}]
    for entry in entries:
        words = entry.split()
        if words == ["undo"]:
            if len(history) > 1:
                history.pop()
            continue
        balances = dict(history[-1])
        if words[1] == ">":
            changes = [(words[0], -int(words[3])), (words[2], int(words[3]))]
        else:
            changes = [(words[0], int(words[1]))]
        for name, amount in changes:
            balances[name] = balances.get(name, 0) + amount
        if min(balances.values()) >= 0:
            history.append(balances)
    return {name: balance for name, balance in history[-1].items() if balance}


def round_cash(cents: int, step: int) -> int:
    steps, rest = divmod(abs(cents), step)
    if 2 * rest >= step:
        steps += 1
    return steps * step if cents >= 0 else -steps * step


def _draw_bill(draw: Draw) -> Arguments:
    weights = draw.many(1, 7, lambda: draw.integer(0, draw.pick([2, 5, 40])))
    weights.insert(draw.integer(0, len(weights)), draw.integer(1, 9))
    return [draw.integer(-2000, 12000) if draw.chance(0.8) else draw.integer(0, 9), weights]


def _entry(draw: Draw) -> str:
    name, other = draw.shuffled(["ann", "bob", "cy", "dee"])[:2]
    amount = draw.pick([5, 10, 20, 30, draw.integer(1, 60)])
    return draw.pick(
        [f"{name} +{amount}", f"{name} +{amount}", f"{name} -{amount}", f"{name} > {other} {amount}", "undo"]
    )


def _draw_day(draw: Draw) -> Arguments:
    return [draw.many(1, 14, lambda: _entry(draw))]


def _draw_cash(draw: Draw) -> Arguments:
    step = draw.pick([1, 2, 5, 10, 20, 25, 50, 100])
    halves = draw.integer(-400, 400)
    return [halves * step // 2 if draw.chance(0.5) else draw.integer(-(10**6), 10**6), step]


SPLIT_BILL = Recipe(
    split_bill,
    edges=[
        [100, [1, 1, 1]],
        [1000, [1, 2]],
        [0, [3, 4]],
        [-100, [1, 1, 1]],
        [-5, [2, 1]],
        [1, [0, 1, 1]],
        [2, [1, 1, 1, 1]],
        [100, [0, 3, 0, 4]],
        [10, [1, 2, 3]],
        [7, [5]],
        [50, [1, 1, 1, 1, 1, 1, 1]],
        [10**18 + 1, [1, 1]],
        [10**18, [1, 10**9, 3]],
    ],
    draw=_draw_bill,
)
RUN_LEDGER = Recipe(
    run_ledger,
    edges=[
        [["ann +50", "ann -20", "bob +5"]],
        [["ann +50", "ann > bob 20", "undo"]],
        [[]],
        [["undo"]],
        [["ann -5"]],
        [["ann +50", "ann -60", "undo"]],
        [["ann +50", "ann > bob 60", "ann > bob 50", "bob > cy 10", "undo", "undo"]],
        [["ann +10", "bob +20", "undo", "undo", "undo", "cy +1"]],
        [["ann +10", "ann -10"]],
        [["ann +10", "undo", "ann -10", "undo", "ann +3"]],
        [["ann +10", "ann > bob 10", "undo", "bob -10", "ann -10"]],
    ],
    draw=_draw_day,
)
ROUND_CASH = Prose(
    round_cash,
    prompt=(
        "Write a function to round an amount in cents to the nearest multiple of step, the smallest coin in use. An "
        "amount exactly between two multiples is rounded away from zero. Amounts may be negative and of any size."
    ),
    edges=[
        [1012, 5],
        [1013, 5],
        [-13, 5],
        [0, 5],
        [25, 10],
        [15, 10],
        [-25, 10],
        [-15, 10],
        [10, 20],
        [-10, 20],
        [4, 10],
        [1, 1],
        [10**18 + 25, 50],
        [10**18 + 24, 50],
        [-(10**18) - 25, 50],
    ],
    draw=_draw_cash,
)
