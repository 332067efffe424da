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
