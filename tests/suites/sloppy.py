"""Answers that pass what is shown and not what is hidden, for the starter problems that hasty.jsonl gets right."""

from __future__ import annotations

SLOPPY = {
    # minds neither small letters nor a total of nothing
    "StarterComplete/4": """
def roman_total(numerals):
    values = {"CM": 900, "CD": 400, "XC": 90, "XL": 40, "IX": 9, "IV": 4}
    values |= {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
    total = 0
    for numeral in numerals:
        for letters, value in values.items():
            total += value * numeral.count(letters)
            numeral = numeral.replace(letters, "")
    text = ""
    for letters, value in sorted(values.items(), key=lambda item: -item[1]):
        text += letters * (total // value)
        total %= value
    return text
""",
    # writes the coefficient one
    "StarterComplete/8": """
def poly_text(coefficients):
    terms = []
    for power, c in enumerate(coefficients):
        if c:
            terms.insert(0, f"{c}" if power == 0 else f"{c}x" if power == 1 else f"{c}x^{power}")
    return " + ".join(terms).replace("+ -", "- ") or "0"
""",
    # knows no exclamation mark
    "StarterComplete/9": r"""
import re


def expand_runs(packed):
    while "(" in packed:
        packed = re.sub(r"(\d*)\(([^()]*)\)", lambda m: m[2] * int(m[1] or 1), packed)
    return re.sub(r"(\d+)(\D)", lambda m: m[2] * int(m[1]), packed)
""",
    # counts hyphens as places
    "StarterProse/3": """
def missing_digit(code):
    for digit in "0123456789":
        whole = code.replace("?", digit)
        if sum(int(d) * (1 + i % 2 * 2) for i, d in enumerate(whole) if d != "-") % 10 == 0:
            return whole
""",
    # takes the points to be in order
    "StarterProse/7": """
def interpolate(points, x):
    if x <= points[0][0]:
        return points[0][1]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return points[-1][1]
""",
    # forgets the goals scored
    "StarterProse/10": """
def rank_teams(results):
    points, goals = {}, {}
    for home, h, a, away in results:
        for team, mine, other in ((home, h, a), (away, a, h)):
            points[team] = points.get(team, 0) + (3 if mine > other else 1 if mine == other else 0)
            goals[team] = goals.get(team, 0) + mine - other
    return sorted(points, key=lambda team: (-points[team], -goals[team], team))
""",
}
