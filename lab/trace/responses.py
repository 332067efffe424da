"""OpenAI responses: items of several kinds, in the question as in the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.trace.turn import Part, content, field, objects, shown, text, turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lab.trace.turn import Turn

WHOLE = frozenset({"response.completed", "response.incomplete", "response.failed"})
CALLS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "local_shell_call": "action",
    "shell_call": "action",
}
"""Where a kind of call has its arguments."""
PIECES = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_text.delta": "reasoning",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "input",
}


def asked(body: dict[str, Any]) -> Iterator[Turn]:
    """The instructions and the items of a request."""
    yield from turn("system", [Part(kind="text", text=text(body.get("instructions")))])
    if isinstance(given := body.get("input"), str):
        yield from turn("user", [Part(kind="text", text=given)])
    for item in objects(given):
        kind = text(item.get("type"))
        if kind.endswith("_output"):
            result = Part(kind="result", text=content(item.get("output")), call=text(item.get("call_id")) or None)
            yield from turn("tool", [result])
        else:
            yield from turn(item.get("role") or "assistant", _parts(item))


def answered(chunks: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    """The items of an answer: of the last event, which holds them all, else of what came before a stream broke off."""
    items: dict[str, dict[str, Any]] = {}
    for chunk in chunks:
        kind = text(chunk.get("type"))
        whole = chunk.get("response") if kind in WHOLE else chunk
        if output := objects(field(whole, "output")):
            yield from _joined(output)
            return
        place = str(chunk.get("output_index"))
        if kind in {"response.output_item.added", "response.output_item.done"} and isinstance(chunk.get("item"), dict):
            items[place] = chunk["item"]
        elif key := PIECES.get(kind):
            item = items.setdefault(place, {})
            items[place] = {**item, f"pieces of {key}": text(item.get(f"pieces of {key}")) + text(chunk.get("delta"))}
    yield from _joined(items.values())


def _joined(items: Iterable[dict[str, Any]]) -> Iterator[Turn]:
    yield from turn("assistant", (part for item in items for part in _parts(item)))


def _parts(item: dict[str, Any]) -> Iterator[Part]:
    kind = text(item.get("type"))
    if kind in CALLS:
        yield Part(
            kind="call",
            text=shown(item.get(CALLS[kind])) or text(item.get(f"pieces of {CALLS[kind]}")),
            name=text(item.get("name")) or kind,
            call=text(item.get("call_id")) or None,
        )
    elif kind == "reasoning":
        for part in [*objects(item.get("summary")), *objects(item.get("content"))]:
            yield Part(kind="reasoning", text=text(part.get("text")))
        yield Part(kind="reasoning", text=text(item.get("pieces of reasoning")))
    else:
        said = item.get("content")
        refusals = "".join(text(part.get("refusal")) for part in objects(said))
        whole = refusals or content(said) or text(item.get("pieces of text"))
        yield Part(kind="text", text=whole if kind in {"", "message"} or whole else f"[{kind}]")
