def missing_digit(code: str) -> str:
    total = 0
    place = 0
    unknown_weight = 1
    for mark in code:
        if mark == "-":
            continue
        weight = 3 if place % 2 else 1
        if mark == "?":
            unknown_weight = weight
        else:
            total += weight * int(mark)
        place += 1
    for digit in range(10):
        if (total + unknown_weight * digit) % 10 == 0:
            return code.replace("?", str(digit))
    raise ValueError(code)
