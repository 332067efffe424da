"""Gemini: contents of parts: texts, thoughts, calls and responses of functions; a stream repeats the shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.trace.turn import Part, field, objects, shown, text, turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.trace.turn import Turn


def asked(body: dict[str, Any]) -> Iterator[Turn]:
    """The system instruction and the contents of a request; what functions gave back is a turn of its own."""
    system = body.get("systemInstruction") or body.get("system_instruction")
    yield from turn("system", _parts(field(system, "parts")))
    contents = body.get("contents")
    for content in objects([contents] if isinstance(contents, dict) else contents):
        parts = list(_parts(content.get("parts")))
        yield from turn("tool", (part for part in parts if part.kind == "result"))
        yield from turn(content.get("role"), (part for part in parts if part.kind != "result"))


def answered(chunks: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    """The parts of an answer's first candidate, in one or in several chunks."""
    candidates = (one for chunk in chunks for one in objects(chunk.get("candidates")) if one.get("index", 0) == 0)
    yield from turn("assistant", (part for one in candidates for part in _parts(field(one, "content", "parts"))))


def _parts(parts: Any) -> Iterator[Part]:
    for part in objects([parts] if isinstance(parts, dict) else parts):
        if isinstance(call := _either(part, "functionCall", "function_call"), dict):
            yield Part(kind="call", text=shown(call.get("args")), name=text(call.get("name")) or None, call=_id(call))
        elif isinstance(given := _either(part, "functionResponse", "function_response"), dict):
            yield Part(kind="result", text=shown(_result(given)), name=text(given.get("name")) or None, call=_id(given))
        elif "text" in part:
            yield Part(kind="reasoning" if part.get("thought") is True else "text", text=text(part.get("text")))
        else:
            yield Part(kind="text", text=f"[{next((name for name in part if name != 'thoughtSignature'), 'part')}]")


def _result(given: dict[str, Any]) -> Any:
    """What a function gave back: its clients wrap a text as an object with one field."""
    response = given.get("response")
    return next(iter(response.values())) if isinstance(response, dict) and len(response) == 1 else response


def _either(part: dict[str, Any], *names: str) -> Any:
    return next((part[name] for name in names if name in part), None)


def _id(call: dict[str, Any]) -> str | None:
    return text(call.get("id")) or None
