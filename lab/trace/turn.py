"""What is said in an exchange, in the same words for all four APIs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Kind = Literal["text", "reasoning", "call", "result"]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a turn: text, a thought, the call of a tool with its arguments, or what a tool gave back."""

    kind: Kind
    text: str
    name: str | None = None
    """Of the tool, where it is said."""
    call: str | None = None
    """The id that a call and its result share, where there is one."""


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What one side says at a time. `role` is system, user, assistant or tool, whatever the API calls it."""

    role: str
    parts: tuple[Part, ...] = ()


ROLES = {"developer": "system", "model": "assistant", "function": "tool"}
"""Other words for the same."""


def turn(role: Any, parts: Iterable[Part]) -> Iterator[Turn]:
    """The turn, where there is anything in it; pieces of one text are joined."""
    joined: list[Part] = []
    for part in parts:
        if not part.text and part.kind in {"text", "reasoning"}:
            continue
        if joined and part.kind == joined[-1].kind and part.kind in {"text", "reasoning"}:
            joined[-1] = msgspec.structs.replace(part, text=joined[-1].text + part.text)
        else:
            joined.append(part)
    if joined:
        yield Turn(role=ROLES.get(name, name) if (name := text(role)) else "user", parts=tuple(joined))


def field(value: Any, *path: str) -> Any:
    """What stands somewhere inside; None where there is nothing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text(value: Any) -> str:
    """The value where it is a text; else nothing."""
    return value if isinstance(value, str) else ""


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing else that may stand in it, or in its place."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def shown(value: Any) -> str:
    """A value as text: a text as it is, JSON for the rest, nothing for null."""
    if value is None or isinstance(value, str):
        return value or ""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "[a value that is nested too deep, or too large]"


def content(value: Any) -> str:
    """A message's content as one text: a text, or parts of which those that are none are named by their type."""
    if isinstance(value, list):
        return "".join(
            part if isinstance(part, str) else text(field(part, "text")) or f"[{text(field(part, 'type')) or 'part'}]"
            for part in value
            if isinstance(part, (str, dict))
        )
    return shown(value)
