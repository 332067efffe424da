"""What an answer says of itself: its tokens, whether it is whole, and an error in its midst. For all four APIs.

Answers are read beside the stream, never in its way; what does not look like the API's own words says nothing.
"""

from __future__ import annotations

import abc
import json
from typing import TYPE_CHECKING, Any

import msgspec

from lab.apis import Api
from lab.proxy import fault
from lab.proxy.events import EventStream
from lab.proxy.summary import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.proxy.events import Event

MAX_TOKENS = 1_000_000_000
"""Of one request; a larger figure is taken for a mistake."""
MAX_JSON_BYTES = 64 << 20
DONE = b"[DONE]"


class Answer(abc.ABC):
    """An answer as it is read. Feed it the body's pieces, then call `end`."""

    def __init__(self, *, events: bool) -> None:
        self._events = EventStream() if events else None
        self._whole: bytearray | None = bytearray()
        self.finished = False
        """Whether it said itself that it is at its end."""
        self.error: fault.Error | None = None
        """The error that it reported in place of an answer, or in its midst."""

    def feed(self, piece: bytes) -> list[Event]:
        """Read a piece of the body. Gives the events that it completed."""
        if self._events is None:
            if self._whole is not None:
                self._whole += piece
                if len(self._whole) > MAX_JSON_BYTES:
                    self._whole = None
            return []
        return self._each(self._events.feed(piece))

    def end(self) -> list[Event]:
        """Read what is left. Gives the events that were not given yet."""
        if self._events is not None:
            return self._each(self._events.rest())
        body = _decoded(bytes(self._whole or b""))
        # Gemini sends a list of chunks where it streams without events
        for chunk in body if isinstance(body, list) else [body]:
            if isinstance(chunk, dict):
                self._read(chunk)
                self.finished = True
        self._whole = None
        return []

    def tokens(self) -> Tokens:
        """What was counted; what is unknown, or cannot be, is None."""
        tokens = self._tokens()
        spent = (tokens.cached or 0) + (tokens.cache_write or 0)
        if tokens.prompt is not None and spent > tokens.prompt:
            tokens = msgspec.structs.replace(tokens, prompt=None, cached=None, cache_write=None)
        if tokens.completion is not None and (tokens.reasoning or 0) > tokens.completion:
            tokens = msgspec.structs.replace(tokens, reasoning=None)
        return tokens

    @property
    def hour_writes(self) -> int:
        """Of the tokens written to the cache, those for an hour: Anthropic asks more for them."""
        return 0

    @abc.abstractmethod
    def _chunk(self, chunk: dict[str, Any]) -> None:
        """Note what one JSON object says."""

    @abc.abstractmethod
    def _tokens(self) -> Tokens: ...

    def _each(self, events: Iterator[Event]) -> list[Event]:
        seen = list(events)
        for event in seen:
            if event.data == DONE:
                self.finished = True
            elif isinstance(chunk := _decoded(event.data), dict):
                self._read(chunk)
        return seen

    def _read(self, chunk: dict[str, Any]) -> None:
        if (error := fault.find(chunk)) is not None:
            self.error = error
        self._chunk(chunk)


class Chat(Answer):
    """OpenAI chat completions: prompt and completion include what was cached and reasoned."""

    def __init__(self, *, events: bool) -> None:
        super().__init__(events=events)
        self._usage: dict[str, Any] = {}

    def _chunk(self, chunk: dict[str, Any]) -> None:
        self._usage = _dict(chunk, "usage") or self._usage
        choices = chunk.get("choices")
        if isinstance(choices, list):
            self.finished |= any(isinstance(choice, dict) and choice.get("finish_reason") for choice in choices)

    def _tokens(self) -> Tokens:
        usage = self._usage
        prompt, completion = count(usage, "prompt_tokens"), count(usage, "completion_tokens")
        reasoning = count(usage, "completion_tokens_details", "reasoning_tokens")
        total = count(usage, "total_tokens")
        # xAI counts the reasoning beside the completion, and says so in the total only
        if None not in {prompt, completion, reasoning} and total == (prompt or 0) + (completion or 0) + (
            reasoning or 0
        ):
            completion = (completion or 0) + (reasoning or 0)
        cached = count(usage, "prompt_tokens_details", "cached_tokens")
        return Tokens(
            prompt=prompt,
            cached=count(usage, "prompt_cache_hit_tokens") if cached is None else cached,  # DeepSeek's word for it
            cache_write=count(usage, "prompt_tokens_details", "cache_write_tokens"),
            completion=completion,
            reasoning=reasoning,
        )


class Response(Answer):
    """OpenAI responses: the last event holds the whole response, with its usage."""

    ENDS = frozenset({"completed", "incomplete", "failed", "cancelled"})

    def __init__(self, *, events: bool) -> None:
        super().__init__(events=events)
        self._usage: dict[str, Any] = {}

    def _chunk(self, chunk: dict[str, Any]) -> None:
        response = _dict(chunk, "response") or chunk
        self._usage = _dict(response, "usage") or self._usage
        kind = chunk.get("type")
        self.finished |= isinstance(kind, str) and kind.removeprefix("response.") in self.ENDS

    def _tokens(self) -> Tokens:
        usage = self._usage
        return Tokens(
            prompt=count(usage, "input_tokens"),
            cached=count(usage, "input_tokens_details", "cached_tokens"),
            cache_write=count(usage, "input_tokens_details", "cache_write_tokens"),
            completion=count(usage, "output_tokens"),
            reasoning=count(usage, "output_tokens_details", "reasoning_tokens"),
        )


class Message(Answer):
    """Anthropic messages: input_tokens are those beside the cache, so the prompt is the sum of three figures.

    A stream counts the prompt at its start, with a completion that means nothing yet; its end counts the completion.
    """

    def __init__(self, *, events: bool) -> None:
        super().__init__(events=events)
        self._usage: dict[str, Any] = {}

    def _chunk(self, chunk: dict[str, Any]) -> None:
        match chunk.get("type"):
            case "message_start":
                started = _dict(_dict(chunk, "message"), "usage")
                self._usage = {name: value for name, value in started.items() if name != "output_tokens"}
            case "message_delta":
                # later figures replace earlier ones, but for nulls
                self._usage |= {name: value for name, value in _dict(chunk, "usage").items() if value is not None}
            case "message_stop":
                self.finished = True
            case "message":
                self._usage = _dict(chunk, "usage")
            case _:
                # a count of tokens
                self._usage = self._usage or {name: chunk[name] for name in ("input_tokens",) if name in chunk}

    def _tokens(self) -> Tokens:
        usage = self._usage
        beside = count(usage, "input_tokens")
        read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
        return Tokens(
            prompt=None if beside is None else beside + (read or 0) + (written or 0),
            cached=read,
            cache_write=written,
            completion=count(usage, "output_tokens"),
        )

    @property
    def hour_writes(self) -> int:
        return count(self._usage, "cache_creation", "ephemeral_1h_input_tokens") or 0


class Content(Answer):
    """Gemini: the prompt includes what was cached; the candidates do not include the thoughts."""

    def __init__(self, *, events: bool) -> None:
        super().__init__(events=events)
        self._usage: dict[str, Any] = {}

    def _chunk(self, chunk: dict[str, Any]) -> None:
        # each chunk counts from the beginning
        self._usage = _dict(chunk, "usageMetadata") or self._usage
        candidates = chunk.get("candidates")
        if isinstance(candidates, list):
            self.finished |= any(isinstance(one, dict) and one.get("finishReason") for one in candidates)
        self.finished |= bool(_dict(chunk, "promptFeedback").get("blockReason"))

    def _tokens(self) -> Tokens:
        usage = self._usage
        prompt, thoughts = count(usage, "promptTokenCount"), count(usage, "thoughtsTokenCount")
        made, total = count(usage, "candidatesTokenCount"), count(usage, "totalTokenCount")
        # zeros are left out there, so what is missing is in the total
        if made is None and "candidatesTokenCount" not in usage and prompt is not None and total is not None:
            made = max(0, total - prompt - (thoughts or 0))
        return Tokens(
            prompt=prompt,
            cached=count(usage, "cachedContentTokenCount"),
            completion=None if made is None else made + (thoughts or 0),
            reasoning=thoughts,
        )


READERS: dict[Api, type[Answer]] = {
    Api.OPENAI_CHAT: Chat,
    Api.OPENAI_RESPONSES: Response,
    Api.ANTHROPIC: Message,
    Api.GEMINI: Content,
}


def only_usage(event: Event) -> bool:
    """Whether an event of an OpenAI chat stream is the chunk that holds nothing but the tokens."""
    chunk = _decoded(event.data)
    return isinstance(chunk, dict) and chunk.get("choices") == [] and bool(_dict(chunk, "usage"))


def count(usage: dict[str, Any], *path: str) -> int | None:
    """A count of tokens somewhere inside; None where there is none that can be one."""
    value: Any = usage
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


def _dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    inner = value.get(name)
    return inner if isinstance(inner, dict) else {}


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:  # msgspec does not take half an emoji, which a model makes where it is cut
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
