"""How far a request would reach beyond the model: tools that the provider runs, and pages that it would fetch.

An agent that is given a model and no network could otherwise search the web for the task, or run code elsewhere.
What runs on the tool's own side is listed, and passes; every other kind of tool is refused by its name, known or not.

Sources: OpenAI's and Gemini's API references; platform.claude.com, "Tool reference", column "Execution".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab.apis import Api
from lab.proxy.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LOCAL_TYPES: Mapping[Api, frozenset[str]] = {
    Api.OPENAI_CHAT: frozenset({"function", "custom"}),
    Api.OPENAI_RESPONSES: frozenset(
        {"function", "custom", "local_shell", "apply_patch", "computer", "computer_use", "computer_use_preview"}
    ),
    Api.ANTHROPIC: frozenset({"custom"}),
}
LOCAL_PREFIXES = ("bash_", "text_editor_", "computer_", "memory_")
"""Of Anthropic's tools with a version in their type, those that the client runs."""
GEMINI_LOCAL = frozenset({"functiondeclarations", "computeruse"})
FIELDS: Mapping[Api, Mapping[str, str]] = {
    Api.OPENAI_CHAT: {
        "web_search_options": "a search by the provider",
        "search_parameters": "a search by the provider",
        "enable_search": "a search by the provider",
        "plugins": "tools of an aggregator",
        "mcp_servers": "tools of the provider",
        "models": "other models to fall back to",
        "fallbacks": "other models to fall back to",
    },
    Api.OPENAI_RESPONSES: {
        "prompt": "a stored prompt, whose tools cannot be seen here",
        "plugins": "tools of an aggregator",
        "models": "other models to fall back to",
    },
    Api.ANTHROPIC: {
        "mcp_servers": "tools of the provider",
        "container": "a machine of the provider",
        "fallbacks": "other models to fall back to",
    },
    Api.GEMINI: {},
}
"""Fields of a body that reach beyond the model where they are set, and to what."""
READ = frozenset({"model", "tools", "stream", "stream_options", "messages", "input", "contents"})
"""Fields that are read here: a provider that takes them in another spelling must not see what was not looked at."""


def check(api: Api, body: dict[str, Any]) -> None:
    """Raises Refused where a question reaches beyond the model, naming by what."""
    looked_at = {_plain(name): name for name in (*READ, *FIELDS[api])}
    for name in body:
        if looked_at.get(_plain(name), name) != name:
            raise Refused(400, f"the field {name[:80]!r} is not spelled as the API spells it")
    for name, what in FIELDS[api].items():
        if body.get(name):
            raise Refused(400, f'"{name}" is not passed on: it asks for {what}')
    tools = body.get("tools")
    if tools is not None:
        if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
            raise Refused(400, '"tools" is not a list of objects')
        for tool in tools:
            if (hosted := _hosted(api, tool)) is not None:
                raise Refused(
                    400, f'the tool "{hosted[:80]}" is not passed on: the provider would run it, not the agent'
                )
    if ADDRESSES[api](body):
        raise Refused(400, "a file or an image by its address is not passed on: the provider would fetch it")


def _plain(name: str) -> str:
    return name.replace("_", "").casefold()


def _hosted(api: Api, tool: dict[str, Any]) -> str | None:
    """The name of a tool that does not run on the tool's own side."""
    if api is Api.GEMINI:
        return next(
            (name for name, value in tool.items() if value is not None and _plain(name) not in GEMINI_LOCAL), None
        )
    kind = tool.get("type", "custom" if api is Api.ANTHROPIC else None)
    if not isinstance(kind, str):
        return str(kind)
    if kind in LOCAL_TYPES[api] or (api is Api.ANTHROPIC and kind.startswith(LOCAL_PREFIXES)):
        return None
    if api is Api.OPENAI_RESPONSES and _runs_here(kind, tool):
        return None
    return kind


def _runs_here(kind: str, tool: dict[str, Any]) -> bool:
    """OpenAI's kinds that run on either side, as the tool's settings say."""
    match kind:
        case "shell":
            environment = tool.get("environment")
            return environment is None or (isinstance(environment, dict) and environment.get("type") == "local")
        case "tool_search":
            return tool.get("execution") == "client"
        case "namespace":
            inner = tool.get("tools")
            return isinstance(inner, list) and all(
                isinstance(one, dict) and _hosted(Api.OPENAI_RESPONSES, one) is None for one in inner
            )
        case _:
            return False


def _chat_addresses(body: dict[str, Any]) -> bool:
    images = [part.get("image_url") for part in _parts(body.get("messages"))]
    return any(_is_address(image.get("url") if isinstance(image, dict) else image) for image in images)


def _response_addresses(body: dict[str, Any]) -> bool:
    parts = (*_parts(body.get("input")), *_parts(body.get("input"), "output"))
    return any(_is_address(part.get("image_url")) or _is_address(part.get("file_url")) for part in parts)


def _message_addresses(body: dict[str, Any]) -> bool:
    blocks = list(_parts(body.get("messages")))
    inner = (one for block in blocks for one in _objects(block.get("content")))
    sources = (one.get("source") for one in (*blocks, *inner))
    return any(isinstance(source, dict) and source.get("type") == "url" for source in sources)


def _content_addresses(body: dict[str, Any]) -> bool:
    return any(part.get("fileData") or part.get("file_data") for part in _parts(body.get("contents"), "parts"))


ADDRESSES: Mapping[Api, Callable[[dict[str, Any]], bool]] = {
    Api.OPENAI_CHAT: _chat_addresses,
    Api.OPENAI_RESPONSES: _response_addresses,
    Api.ANTHROPIC: _message_addresses,
    Api.GEMINI: _content_addresses,
}
"""Whether a part of the conversation is but an address, which the provider would fetch."""


def _parts(messages: Any, key: str = "content") -> Iterator[dict[str, Any]]:
    for message in _objects(messages):
        yield from _objects(message.get(key))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and not value.lstrip().casefold().startswith("data:")
