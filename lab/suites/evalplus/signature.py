"""What can be read from a reference without running it: its entry point, and the entry point's signature."""

from __future__ import annotations

import ast
import builtins
import warnings
from typing import TYPE_CHECKING

from lab.suites.base import Unfit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def parse(text: str, what: str) -> ast.Module:
    """Parse Python; raises Unfit, naming `what`, where it is none."""
    with warnings.catch_warnings():
        # an odd escape in upstream's text is not ours to warn of
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unfit(f"{what} is not Python: {error}") from error


def called_names(expressions: Iterable[str]) -> frozenset[str]:
    """The plain names that are called anywhere in these example assertions."""
    return frozenset(
        node.func.id
        for text in expressions
        for node in ast.walk(parse(text, "an example in test_list"))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )


def functions(code: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions defined at the top of a module, by name; of several with one name the last, as Python has it."""
    return {node.name: node for node in code.body if isinstance(node, ast.FunctionDef)}


def entry_point(code: ast.Module, examples: Sequence[str]) -> ast.FunctionDef:
    """The one function of `code` that the examples call; raises Unfit where that is none or several.

    Gives EvalPlus's own entry point for 378 of 378 rows; the first `def` would not, for eight.
    """
    defined = functions(code)
    names = sorted(called_names(examples) & defined.keys())
    if len(names) != 1:
        raise Unfit(f"test_list calls {' and '.join(names) or 'none'} of the functions in code, not one")
    return defined[names[0]]


def header(function: ast.FunctionDef, code: ast.Module) -> tuple[str, str]:
    """The imports that a function's annotations and defaults need (may be empty), and its `def` line.

    Raises Unfit where a name in the signature is neither imported by `code` nor built in.
    """
    bare = ast.Expression(ast.Lambda(args=function.args, body=function.returns or ast.Constant(None)))
    needed = {node.id for node in ast.walk(bare) if isinstance(node, ast.Name)}
    imports = []
    for statement in code.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound = {(alias.asname or alias.name).split(".")[0]: alias for alias in statement.names}
            if wanted := [alias for name, alias in bound.items() if name in needed]:
                needed -= bound.keys()
                kept = ast.copy_location(type(statement)(**{**vars(statement), "names": wanted}), statement)
                imports.append(ast.unparse(kept))
    if unknown := sorted(name for name in needed if not hasattr(builtins, name)):
        raise Unfit(f"the signature of {function.name} needs {', '.join(unknown)}, which the reference does not import")
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return "\n".join(imports), f"def {function.name}({ast.unparse(function.args)}){returns}:"
