"""The two shapes that rows come in: a function to complete (HumanEval+), and prose with examples (MBPP+)."""

from __future__ import annotations

import dataclasses
import keyword
import symtable
from typing import TYPE_CHECKING

from lab.suites.base import Unfit
from lab.suites.evalplus import signature
from lab.suites.evalplus.prompt import prose_stub

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.suites.base import Row


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a row says apart from its hidden test, and what has to stand around that test. Texts are whole files."""

    entry_point: str
    stub: str
    reference: str
    test_head: str = ""
    test_tail: str = ""

    def glue(self, test: str) -> str:
        """The whole text around a hidden test: running it with the entry point as a preset global runs every case."""
        # texts end without a newline as often as with one
        return "\n\n\n".join(part.strip("\n") for part in (self.test_head, test, self.test_tail) if part) + "\n"

    def module(self, test: str) -> str:
        """The same, when it is sure that the preset global is what gets tested.

        Raises Unfit where the test is not Python, or binds or uses the entry point where it would not be the
        candidate: at the top of the module, or inside a function of the test's own.
        """
        module = self.glue(test)
        try:
            top = symtable.symtable(module, "test.py", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise Unfit(f"the hidden test is not Python: {error}") from error
        if self.entry_point not in top.get_identifiers():
            raise Unfit(f"the hidden test never calls {self.entry_point}")
        symbol = top.lookup(self.entry_point)
        if symbol.is_assigned() or symbol.is_imported() or _names_global(top, self.entry_point):
            raise Unfit(f"the hidden test has a {self.entry_point} of its own")
        return module


def _names_global(top: symtable.SymbolTable, name: str) -> bool:
    """Whether a scope inside the module means the module's `name` by it."""
    return any(scope.lookup(name).is_global() for scope in _inner(top) if name in scope.get_identifiers())


def _inner(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _inner(child)


def completion(row: Row) -> Shape:
    """The shape of HumanEval+: the stub is the prompt, the test defines `check(candidate)` and never calls it.

    Raises Unfit where the row does not hold together.
    """
    name, stub = row["entry_point"], row["prompt"]
    if not name.isidentifier() or keyword.iskeyword(name):
        raise Unfit(f"its entry_point {name!r} is not the name of a function")
    reference = stub + row["canonical_solution"]
    for what, text in (("prompt", stub), ("reference", reference)):
        if name not in signature.functions(signature.parse(text, f"its {what}")):
            raise Unfit(f"its {what} does not define {name}")
    return Shape(entry_point=name, stub=stub, reference=reference, test_tail=f"check({name})")


def prose(row: Row) -> Shape:
    """The shape of MBPP+: the stub is made of the prose, the signature and the first example; the test runs as it is.

    Raises Unfit where the row does not hold together.
    """
    code = signature.parse(row["code"], "its reference")
    function = signature.entry_point(code, row["test_list"])
    stub = prose_stub(*signature.header(function, code), row["prompt"], row["test_list"][0])
    if function.name not in signature.functions(signature.parse(stub, "its stub")):
        raise Unfit(f"its stub does not define {function.name}")
    return Shape(
        entry_point=function.name,
        stub=stub,
        reference=row["code"],
        test_head="\n".join(row["test_imports"]),
    )
