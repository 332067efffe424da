"""Anthropic messages: blocks of content; a stream opens each, fills it in pieces, and closes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.trace.turn import Part, content, field, objects, shown, text, turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lab.trace.turn import Turn

PIECES = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Where a kind of piece has its text."""


def asked(body: dict[str, Any]) -> Iterator[Turn]:
    """The system prompt and the messages of a request; what tools gave back is a turn of its own."""
    yield from turn("system", [Part(kind="text", text=content(body.get("system")))])
    for message in objects(body.get("messages")):
        parts = list(_parts(message.get("content")))
        yield from turn("tool", (part for part in parts if part.kind == "result"))
        yield from turn(message.get("role"), (part for part in parts if part.kind != "result"))


def answered(chunks: Sequence[dict[str, Any]]) -> Iterator[Turn]:
    """The blocks of an answer, whole or in events."""
    blocks: dict[str, dict[str, Any]] = {}
    for chunk in chunks:
        place = str(chunk.get("index"))
        if chunk.get("type") == "message":
            yield from turn("assistant", _parts(chunk.get("content")))
            return
        if chunk.get("type") == "content_block_start" and isinstance(chunk.get("content_block"), dict):
            blocks[place] = dict(chunk["content_block"])
        elif key := PIECES.get(text(field(chunk, "delta", "type"))):
            block = blocks.setdefault(place, {"type": "text"})
            block[key] = text(block.get(key)) + text(field(chunk, "delta", key))
    yield from turn("assistant", _parts(list(blocks.values())))


def _parts(blocks: Any) -> Iterator[Part]:
    if isinstance(blocks, str):
        yield Part(kind="text", text=blocks)
    for block in objects(blocks):
        kind = text(block.get("type"))
        if kind == "text":
            yield Part(kind="text", text=text(block.get("text")))
        elif kind == "thinking":
            yield Part(kind="reasoning", text=text(block.get("thinking")))
        elif kind.endswith("tool_use"):
            yield Part(
                kind="call",
                text=text(block.get("partial_json")) or shown(block.get("input")),
                name=text(block.get("name")) or None,
                call=text(block.get("id")) or None,
            )
        elif kind.endswith("tool_result"):
            yield Part(kind="result", text=content(block.get("content")), call=text(block.get("tool_use_id")) or None)
        else:
            yield Part(kind="text", text=f"[{kind or 'block'}]")
