"""How the four model APIs word an answer: one reply of text and tool calls, as JSON or as server-sent events."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from lab.apis import Api
from lab.proxy.summary import Tokens

TOKENS = Tokens(prompt=100, cached=20, cache_write=0, completion=10, reasoning=4)
PIECE_CHARS = 12


@dataclasses.dataclass(frozen=True)
class Call:
    """One call of a tool that the request offered. `custom` is OpenAI's kind, whose input is text, under "input"."""

    name: str
    arguments: dict[str, Any]
    custom: bool = False


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the model says: text, tool calls, and the tokens it reports (None: it reports none)."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: Tokens | None = TOKENS


@dataclasses.dataclass(frozen=True)
class Wire:
    """An answer ready to be sent, piece by piece."""

    pieces: tuple[bytes, ...]
    content_type: str


def encode(api: Api, reply: Reply, *, model: str, stream: bool, usage_asked: bool = True) -> Wire:
    """The reply in the API's own words. `usage_asked` is stream_options.include_usage of OpenAI chat."""
    if not stream:
        body = {
            Api.OPENAI_CHAT: _chat,
            Api.OPENAI_RESPONSES: _response,
            Api.ANTHROPIC: _message,
            Api.GEMINI: _content,
        }[api](reply, model)
        return Wire((json.dumps(body).encode(),), "application/json")
    if api is Api.OPENAI_CHAT:
        events = [_event(chunk) for chunk in _chat_chunks(reply, model, usage_asked=usage_asked)] + [
            b"data: [DONE]\n\n"
        ]
    elif api is Api.GEMINI:
        events = [_event(chunk) for chunk in _content_chunks(reply, model)]
    else:
        named = _response_events(reply, model) if api is Api.OPENAI_RESPONSES else _message_events(reply, model)
        events = [_event(event, event["type"]) for event in named]
    return Wire(tuple(events), "text/event-stream")


def error(api: Api, status: int, message: str) -> dict[str, Any]:
    """An error body in the API's own shape."""
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    if api is Api.ANTHROPIC:
        return {"type": "error", "error": {"type": kind, "message": message}}
    if api is Api.GEMINI:
        return {"error": {"code": status, "message": message, "status": "UNAVAILABLE" if status >= 500 else "FAILED"}}
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _event(data: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)]


# ---- OpenAI chat


def _chat_usage(tokens: Tokens) -> dict[str, Any]:
    prompt, completion = tokens.prompt or 0, tokens.completion or 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": tokens.cached or 0},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
    }


def _chat_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for number, call in enumerate(reply.calls)
    ]


def _chat(reply: Reply, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _chat_calls(reply)
    finish = "tool_calls" if reply.calls else "stop"
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    return body if reply.tokens is None else body | {"usage": _chat_usage(reply.tokens)}


def _chat_chunks(reply: Reply, model: str, *, usage_asked: bool) -> list[dict[str, Any]]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": piece}) for piece in _pieces(reply.text)]
    for number, call in enumerate(_chat_calls(reply)):
        arguments = call["function"]["arguments"]
        opening = {**call, "index": number, "function": {**call["function"], "arguments": ""}}
        chunks.append(chunk({"tool_calls": [opening]}))
        for piece in _pieces(arguments):
            chunks.append(chunk({"tool_calls": [{"index": number, "function": {"arguments": piece}}]}))
    chunks.append(chunk({}, "tool_calls" if reply.calls else "stop"))
    if usage_asked and reply.tokens is not None:
        chunks.append(head | {"choices": [], "usage": _chat_usage(reply.tokens)})
    return chunks


# ---- OpenAI responses


def _response_usage(tokens: Tokens | None) -> dict[str, Any] | None:
    if tokens is None:
        return None
    prompt, completion = tokens.prompt or 0, tokens.completion or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.cached or 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning or 0},
        "total_tokens": prompt + completion,
    }


def _response_items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.text:
        content = [{"type": "output_text", "text": reply.text, "annotations": []}]
        items.append({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content})
    for number, call in enumerate(reply.calls):
        known = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": call.name, "status": "completed"}
        if call.custom:
            items.append({**known, "type": "custom_tool_call", "input": call.arguments["input"]})
        else:
            items.append({**known, "type": "function_call", "arguments": json.dumps(call.arguments)})
    return items


def _response(reply: Reply, model: str, status: str = "completed") -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": status,
        "model": model,
        "output": _response_items(reply) if done else [],
        "usage": _response_usage(reply.tokens) if done else None,
    }


def _response_events(reply: Reply, model: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": _response(reply, model, "in_progress")},
    ]
    for index, item in enumerate(_response_items(reply)):
        place = {"output_index": index, "item_id": item["id"]}
        events.append(
            {"type": "response.output_item.added", "output_index": index, "item": item | {"status": "in_progress"}}
        )
        if item["type"] == "message":
            place["content_index"] = 0
            deltas = _pieces(reply.text)
            events += [{"type": "response.output_text.delta", **place, "delta": delta} for delta in deltas]
            events.append({"type": "response.output_text.done", **place, "text": reply.text})
        elif item["type"] == "function_call":
            deltas = _pieces(item["arguments"])
            events += [{"type": "response.function_call_arguments.delta", **place, "delta": delta} for delta in deltas]
            events.append({"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": _response(reply, model)})
    return [event | {"sequence_number": number} for number, event in enumerate(events)]


# ---- Anthropic


def _message_usage(tokens: Tokens | None) -> dict[str, Any]:
    if tokens is None:
        return {}
    cached, written = tokens.cached or 0, tokens.cache_write or 0
    return {
        "input_tokens": (tokens.prompt or 0) - cached - written,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": written,
        "output_tokens": tokens.completion or 0,
    }


def _message_blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text or not reply.calls else []
    for number, call in enumerate(reply.calls):
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": call.arguments})
    return blocks


def _message(reply: Reply, model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _message_blocks(reply),
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": _message_usage(reply.tokens),
    }


def _message_events(reply: Reply, model: str) -> list[dict[str, Any]]:
    whole = _message(reply, model)
    usage = _message_usage(reply.tokens)
    opening = whole | {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1} if usage else {}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": opening}]
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            empty: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        else:
            empty = block | {"input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(block["input"]))
            ]
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    last = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    events.append(
        {"type": "message_delta", "delta": last, "usage": {"output_tokens": usage["output_tokens"]} if usage else {}}
    )
    events.append({"type": "message_stop"})
    return events


# ---- Gemini


def _content_usage(tokens: Tokens | None) -> dict[str, Any]:
    if tokens is None:
        return {}
    prompt, completion, thoughts = tokens.prompt or 0, tokens.completion or 0, tokens.reasoning or 0
    counts = {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": tokens.cached or 0,
        "candidatesTokenCount": completion - thoughts,
        "thoughtsTokenCount": thoughts,
        "totalTokenCount": prompt + completion,
    }
    return {"usageMetadata": counts}


def _candidate(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    return {"candidates": [candidate if finish is None else candidate | {"finishReason": finish}]}


def _content_parts(reply: Reply) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": piece} for piece in _pieces(reply.text)]
    return parts + [{"functionCall": {"name": call.name, "args": call.arguments}} for call in reply.calls]


def _content(reply: Reply, model: str) -> dict[str, Any]:
    return {**_candidate(_content_parts(reply), "STOP"), **_content_usage(reply.tokens), "modelVersion": model}


def _content_chunks(reply: Reply, model: str) -> list[dict[str, Any]]:
    chunks = [{**_candidate([part]), "modelVersion": model} for part in _content_parts(reply)]
    return [*chunks, {**_candidate([{"text": ""}], "STOP"), **_content_usage(reply.tokens), "modelVersion": model}]
