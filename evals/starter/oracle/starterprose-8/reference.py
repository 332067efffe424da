import math


def fair_score(marks: list[float], drop: int) -> float:
    ordered = sorted(marks)
    if not ordered:
        return 0.0
    kept = ordered[drop : len(ordered) - drop]
    if not kept:
        middle = len(ordered) // 2
        kept = ordered[middle : middle + 1] if len(ordered) % 2 else ordered[middle - 1 : middle + 1]
    return math.fsum(kept) / len(kept)
