"""A hidden test that goes on after a failing case, to count them: what `--all-cases` runs in its place.

Each step of the test, an iteration of one of its loops or a statement that checks something, is put into a `try`.
What it raises is noted and the next step runs, as long as the candidate's process can still answer. The verdict is
that of the first failing case, so it is the one that stopping there gives.
"""

from __future__ import annotations

import ast
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NOTE = "__lab_note_failure__"


def going_on(test: bytes, entry_point: str) -> ast.Module:
    """The module to compile instead of `test`: steps at its top, and in functions that it calls with `entry_point`."""
    module = ast.parse(test)
    called = {name for statement in module.body if (name := _called_with(statement, entry_point))}
    bodies = [module.body]
    bodies += [node.body for node in module.body if isinstance(node, ast.FunctionDef) and node.name in called]
    for body in bodies:
        body[:] = [_guarded(statement, entry_point) for statement in body]
    return ast.fix_missing_locations(module)


class Failures:
    """The failing cases of one sample. `read` turns what a step raised into an outcome."""

    def __init__(self, read: Callable[[BaseException], dict[str, Any]], calls: Callable[[], int]) -> None:
        self._read = read
        self._calls = calls
        self._first: dict[str, Any] | None = None
        self._count = 0

    def note(self) -> None:
        """Called by a step that raised; raises again what ends the test."""
        error = sys.exception()
        if error is None:
            return
        outcome = self._read(error)
        if getattr(error, "ends_test", outcome["status"] == "judge"):
            raise error
        self._count += 1
        if self._first is None:
            self._first = outcome | {"failed_case": self._calls() - 1}

    def decide(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """The outcome of the sample, from that of the step that ended the test."""
        if self._first is None:
            return outcome
        return self._first | {"failed": self._count + (outcome["status"] not in {"pass", "judge"})}


def _called_with(statement: ast.stmt, entry_point: str) -> str | None:
    """The function that a statement like `check(candidate)` calls."""
    match statement:
        case ast.Expr(ast.Call(ast.Name(function), arguments)):
            names = [argument.id for argument in arguments if isinstance(argument, ast.Name)]
            return function if entry_point in names else None
    return None


def _guarded(statement: ast.stmt, entry_point: str) -> ast.stmt:
    match statement:
        case ast.For():
            statement.body = [_try(statement.body)]
        case ast.Assert():
            return _try([statement])
        case ast.Expr(ast.Call()) if _called_with(statement, entry_point) is None:
            return _try([statement])
    return statement


def _try(body: list[ast.stmt]) -> ast.Try:
    note = ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), [], []))
    # bare, for a name for the error would be one of the test's
    return ast.Try(body=body, handlers=[ast.ExceptHandler(None, None, [note])], orelse=[], finalbody=[])
