"""Takes the code out of what a model replied. docs/model.md tells the rule to users.

1. What a model thought aloud before its answer, up to `</think>`, is no part of the answer.
2. Of the fenced code blocks (as CommonMark has them: backquotes or tildes, indented, left open at the end), the last
   that is Python and defines the entry point at its top level.
3. Else the last block that looks as if it did, but cannot be parsed: what is wrong with it is for the verdict to say.
4. Else the whole answer, where that is Python and defines the entry point.

The last, not the first: where there are several, models improve on what they wrote before, and EvalPlus and
LiveCodeBench read them so, too. Never more than one block: what was not asked for in one piece would be a guess.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import textwrap
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_REPLY_CHARS = 1 << 20
THOUGHTS = re.compile(r"\s*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
THOUGHTS_END = re.compile(r"\A(?:(?!<think>).)*?</think>[ \t]*$", re.DOTALL | re.MULTILINE)
"""Where the template of the chat has opened the tag, a reply has its end only."""
FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>.*)")


@dataclasses.dataclass(frozen=True)
class NoCode(Exception):
    """A reply from which no code can be taken; says why, in words for one line."""

    why: str

    def __str__(self) -> str:
        return self.why


def code_of(reply: str, entry_point: str) -> str:
    """The code of a reply, ending in a line break. Raises NoCode."""
    if len(reply) > MAX_REPLY_CHARS:
        raise NoCode(f"the reply is longer than {MAX_REPLY_CHARS} characters")
    answer = _answer(reply.replace("\r\n", "\n"))
    blocks = list(_blocks(answer))
    for is_it in (defines, _claims_to_define):
        for block in reversed(blocks):
            if is_it(block, entry_point):
                return _ended(block)
    if defines(answer, entry_point):
        return _ended(answer)
    if not answer.strip():
        raise NoCode("the reply is empty" if not reply.strip() else "the reply is all thought and no answer")
    raise NoCode(f"nothing in the reply defines {entry_point}")


def defines(code: str, name: str) -> bool:
    """Whether `code` is Python that binds `name` at its top level."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in the model's strings
            module = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return any(name in _bound(statement) for statement in module.body)


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name
        case ast.Assign():
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr()):
            yield target.id


def _claims_to_define(code: str, name: str) -> bool:
    return re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}[ \t]*\(", code, re.MULTILINE) is not None


def _answer(reply: str) -> str:
    """The reply without the thoughts at its beginning."""
    found = THOUGHTS.match(reply) or THOUGHTS_END.match(reply)
    return reply if found is None else reply[found.end() :]


def _blocks(text: str) -> Iterator[str]:
    """The content of each fenced block, in order."""
    lines: list[str] | None = None
    fence = ""
    for line in text.split("\n"):
        found = FENCE.fullmatch(line)
        if lines is None:
            # backquotes after backquotes are a piece of code within a line
            if found and not (found["fence"][0] == "`" and "`" in found["info"]):
                lines, fence = [], found["fence"]
        elif found and found["fence"].startswith(fence) and not found["info"].strip():
            yield _dedented(lines)
            lines = None
        else:
            lines.append(line)
    if lines is not None:
        yield _dedented(lines)


def _dedented(lines: list[str]) -> str:
    return textwrap.dedent("\n".join(lines))


def _ended(code: str) -> str:
    return code.strip("\n") + "\n"
