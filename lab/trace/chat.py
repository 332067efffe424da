"""OpenAI chat completions: messages with content and tool calls; a stream has them in pieces, by index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.trace.turn import Part, content, field, objects, shown, text, turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.trace.turn import Turn


def asked(body: dict[str, Any]) -> Iterator[Turn]:
    """The messages of a request."""
    for message in objects(body.get("messages")):
        role = text(message.get("role"))
        if role in {"tool", "function"}:
            result = Part(
                kind="result",
                text=content(message.get("content")),
                name=text(message.get("name")) or None,
                call=text(message.get("tool_call_id")) or None,
            )
            yield from turn(role, [result])
        else:
            yield from turn(role, _parts(message))


def answered(chunks: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    """The message of an answer, whole or in chunks; of several choices the first."""
    whole: dict[str, str] = {}
    calls: dict[str, dict[str, Any]] = {}
    for chunk in chunks:
        for choice in objects(chunk.get("choices")):
            if choice.get("index", 0) != 0:
                continue
            if isinstance(message := choice.get("message"), dict):
                yield from turn("assistant", _parts(message))
                return
            delta = choice.get("delta")
            for key in ("reasoning_content", "reasoning", "content", "refusal"):
                whole[key] = whole.get(key, "") + text(field(delta, key))
            for place, piece in enumerate(objects(field(delta, "tool_calls"))):
                _join(calls.setdefault(str(piece.get("index", place)), {}), piece)
    yield from turn("assistant", _parts({**whole, "tool_calls": list(calls.values())}))


def _join(call: dict[str, Any], piece: dict[str, Any]) -> None:
    """Add a piece of a call: its texts grow, but for the name, which some send whole each time."""
    call["id"] = call.get("id") or piece.get("id")
    for kind, key in (("function", "arguments"), ("custom", "input")):
        if isinstance(inner := piece.get(kind), dict):
            known = call.setdefault(kind, {})
            known["name"] = known.get("name") or inner.get("name")
            known[key] = known.get(key, "") + text(inner.get(key))


def _parts(message: dict[str, Any]) -> Iterator[Part]:
    thought = text(message.get("reasoning_content")) or text(message.get("reasoning"))
    yield Part(kind="reasoning", text=thought)
    yield Part(kind="text", text=content(message.get("content")))
    yield Part(kind="text", text=text(message.get("refusal")))
    for call in [*objects(message.get("tool_calls")), {"function": message.get("function_call")}]:
        for kind, key in (("function", "arguments"), ("custom", "input")):
            if isinstance(inner := call.get(kind), dict):
                yield Part(
                    kind="call",
                    text=shown(inner.get(key)),
                    name=text(inner.get("name")) or None,
                    call=text(call.get("id")) or None,
                )
