"""Recipes become rows in the shapes of HumanEval+ and MBPP+, the same bytes on every Python."""

from __future__ import annotations

import copy
import doctest
import inspect
import json
import textwrap
from typing import TYPE_CHECKING, Any

from starter import basics, calendars, games, intervals, maps, measures, money, notation, syntax, typesetting
from starter.draw import Draw

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starter.recipe import Arguments, Prose, Recipe

CASES = 120
"""Hidden cases of every problem."""
PROSE_COLUMNS = 108
"""Characters a line of prose, which then stands in an indented docstring."""

# The place in the tuple is the number in the task's id: add at the end, never in between.
COMPLETE: tuple[Recipe, ...] = (
    intervals.MERGE_BOOKINGS,
    typesetting.WRAP_WORDS,
    notation.COMPARE_VERSIONS,
    syntax.SPLIT_QUOTED,
    notation.ROMAN_TOTAL,
    money.SPLIT_BILL,
    calendars.NTH_WEEKDAY,
    maps.ROTATE_RING,
    notation.POLY_TEXT,
    syntax.EXPAND_RUNS,
    maps.CHEAPEST_ROUTE,
    money.RUN_LEDGER,
    basics.RECTANGLE_AREA,
    basics.IS_LEAP_YEAR,
)
PROSE: tuple[Prose, ...] = (
    intervals.NEXT_FREE_SLOT,
    money.ROUND_CASH,
    calendars.DURATION_TEXT,
    notation.MISSING_DIGIT,
    maps.BUILD_ORDER,
    maps.ISLAND_SIZES,
    typesetting.TITLE_CASE,
    measures.INTERPOLATE,
    measures.FAIR_SCORE,
    syntax.FIRST_BAD_BRACKET,
    games.RANK_TEAMS,
    games.STACK_PROGRAM,
)

# As EvalPlus compares, with what it came to require later: a tolerance is for values that hold a float, and there
# the type and the length must agree.
COMPARATOR = """
def is_floats(x) -> bool:
    # a float, or a list or tuple of at least one float and nothing else
    if isinstance(x, float):
        return True
    if isinstance(x, (list, tuple)):
        return len(x) > 0 and all(isinstance(i, float) for i in x)
    return False


def is_close(out, exp, atol) -> bool:
    return isinstance(out, float) and abs(out - exp) <= atol + 1e-07 * abs(exp)


def assertion(out, exp, atol):
    exact_match = out == exp

    if atol == 0 and is_floats(exp):
        atol = 1e-6
    if not exact_match and atol != 0:
        assert type(out) is type(exp)
        if isinstance(exp, float):
            assert is_close(out, exp, atol)
        else:
            assert len(out) == len(exp)
            assert all(is_close(o, e, atol) for o, e in zip(out, exp))
    else:
        assert exact_match

"""


def complete_row(number: int, recipe: Recipe) -> dict[str, Any]:
    """One row in the columns of HumanEval+; raises ValueError where the docstring's examples do not hold."""
    name = recipe.reference.__name__
    prompt, body = _split_docstring(inspect.getsource(recipe.reference))
    _check_examples(recipe)
    inputs, results = _cases(recipe)
    return {
        "task_id": f"StarterComplete/{number}",
        "prompt": _preamble(recipe) + prompt,
        "canonical_solution": body,
        "entry_point": name,
        "test": (
            f"{COMPARATOR}\ndef check(candidate):\n    inputs = {inputs!r}\n    results = {results!r}\n"
            "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"
        ),
    }


def prose_row(number: int, recipe: Prose) -> dict[str, Any]:
    """One row in the columns of MBPP+."""
    name = recipe.reference.__name__
    inputs, results = _cases(recipe)
    shown = list(zip(inputs, results, strict=True))[: recipe.examples]
    return {
        "task_id": number,
        "code": _preamble(recipe) + inspect.getsource(recipe.reference),
        "prompt": textwrap.fill(recipe.prompt, PROSE_COLUMNS, break_on_hyphens=False),
        "source_file": f"scripts/{recipe.reference.__module__.replace('.', '/')}.py",
        "test_imports": [],
        "test_list": [f"assert {name}({', '.join(map(repr, call))}) == {result!r}" for call, result in shown],
        "test": (
            f"{COMPARATOR}\ninputs = {inputs!r}\nresults = {results!r}\n"
            f"for i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion({name}(*inp), exp, 0)\n"
        ),
    }


def files() -> Mapping[str, str]:
    """The text of every file of rows, by its name."""
    tables = {
        "startercomplete.jsonl": [complete_row(number, recipe) for number, recipe in enumerate(COMPLETE)],
        "starterprose.jsonl": [prose_row(number, recipe) for number, recipe in enumerate(PROSE)],
    }
    return {name: "".join(json.dumps(row) + "\n" for row in rows) for name, rows in tables.items()}


def _preamble(recipe: Recipe) -> str:
    helpers = "".join(inspect.getsource(helper) + "\n\n" for helper in recipe.helpers)
    imports = "".join(f"{line}\n" for line in recipe.imports)
    return (imports + "\n\n" if imports else "") + helpers


def _split_docstring(source: str) -> tuple[str, str]:
    """A function's text up to the end of its docstring, and the rest."""
    quotes = '"""'
    end = source.index(quotes, source.index(quotes) + len(quotes)) + len(quotes)
    return source[:end] + "\n", source[end + 1 :]


def _check_examples(recipe: Recipe) -> None:
    name = recipe.reference.__name__
    runner = doctest.DocTestRunner(verbose=False)
    for test in doctest.DocTestFinder(recurse=False).find(recipe.reference, name, globs={name: recipe.reference}):
        runner.run(test)
    if runner.failures or not runner.tries:
        raise ValueError(f"the examples of {name} do not hold")


def _cases(recipe: Recipe) -> tuple[list[Arguments], list[Any]]:
    """CASES different calls and what the reference returns for them."""
    name = recipe.reference.__name__
    draw = Draw(name)
    inputs = {repr(arguments): arguments for arguments in recipe.edges}
    for _ in range(50 * CASES):
        if len(inputs) == CASES:
            break
        arguments = recipe.draw(draw)
        inputs.setdefault(repr(arguments), arguments)
    if len(inputs) != CASES:
        raise ValueError(f"{name} has {len(inputs)} different cases, not {CASES}")
    results = [recipe.reference(*copy.deepcopy(arguments)) for arguments in inputs.values()]
    return list(inputs.values()), results
