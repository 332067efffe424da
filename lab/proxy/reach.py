"""How far a request would reach beyond the model: tools that the provider runs, and pages that it would fetch.

An agent that is given a model and no network could otherwise search the web for the task, or run code elsewhere.
What runs on the tool's own side is listed, and passes; every other kind of tool is refused by its name, known or not.

Sources: OpenAI's and Gemini's API references; platform.claude.com, "Tool reference", column "Execution".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lab.apis import Api
from lab.proxy.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
READ = frozenset(
    {"model", "tools", "stream", "stream_options", "messages", "input", "contents", "generateContentRequest"}
)
"""Fields that are read here: a provider that takes them in another spelling must not see what was not looked at."""
OPAQUE: Mapping[Api, frozenset[str]] = {
    Api.OPENAI_CHAT: frozenset({"tools", "functions", "responseformat", "metadata"}),
    Api.OPENAI_RESPONSES: frozenset({"tools", "text", "metadata"}),
    Api.ANTHROPIC: frozenset({"tools", "input", "outputconfig", "outputformat", "metadata"}),
    Api.GEMINI: frozenset({"tools", "toolconfig", "generationconfig", "args", "response"}),
}
"""What a provider reads no pages out of, as `_plain` names: the tools' schemas, and what a tool is given and gives."""
ADDRESSES = frozenset({"imageurl", "videourl", "audiourl", "fileurl", "documenturl", "fileuri"})
"""What holds nothing but an address, be it without a scheme, or the content itself as `data:`."""
CONTENTS = frozenset({"filedata", "image", "video", "audio"})
"""What holds content as some take it, and an address as others do."""
SCHEME = re.compile(r"\s*(?!data:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def check(api: Api, body: dict[str, Any]) -> None:
    """Raises Refused where a question reaches beyond the model, naming by what."""
    looked_at = {_plain(name): name for name in (*READ, *FIELDS[api])}
    for name in body:
        if looked_at.get(_plain(name), name) != name:
            raise Refused(400, f"the field {name[:80]!r} is not spelled as the API spells it")
    for name, what in FIELDS[api].items():
        if body.get(name):
            raise Refused(400, f'"{name}" is not passed on: it asks for {what}')
    _check_tools(api, body.get("tools"))
    if api is Api.OPENAI_RESPONSES:
        # what a search for tools found is told as an item of the conversation
        for item in _objects(body.get("input")):
            _check_tools(api, item.get("tools"))
    if _holds_address(api, body):
        raise Refused(400, "a file or an image by its address is not passed on: the provider would fetch it")
    if api is Api.GEMINI and "generateContentRequest" in body:
        _check_inner(body["generateContentRequest"])


def _check_inner(inner: Any) -> None:
    """A question inside a question: Gemini counts the tokens of one."""
    if not isinstance(inner, dict):
        raise Refused(400, '"generateContentRequest" is not an object')
    if "generateContentRequest" in inner:
        raise Refused(400, '"generateContentRequest" does not belong into itself')
    check(Api.GEMINI, inner)


def _check_tools(api: Api, tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise Refused(400, '"tools" is not a list of objects')
    for tool in tools:
        if (hosted := _hosted(api, tool)) is not None:
            raise Refused(400, f'the tool "{hosted[:80]}" is not passed on: the provider would run it, not the agent')


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
    if api is Api.OPENAI_RESPONSES:
        if kind == "namespace":
            return _hosted_inside(tool.get("tools"))
        if _runs_here(kind, tool):
            return None
    return kind


def _hosted_inside(tools: Any) -> str | None:
    """The same for a namespace, which groups tools, and no namespaces."""
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return "namespace"
    for tool in tools:
        if tool.get("type") == "namespace":
            return "namespace"
        if (hosted := _hosted(Api.OPENAI_RESPONSES, tool)) is not None:
            return hosted
    return None


def _runs_here(kind: str, tool: dict[str, Any]) -> bool:
    """OpenAI's kinds that run on either side, as the tool's settings say."""
    match kind:
        case "shell":
            environment = tool.get("environment")
            return environment is None or (isinstance(environment, dict) and environment.get("type") == "local")
        case "tool_search":
            return tool.get("execution") == "client"
        case _:
            return False


def _holds_address(api: Api, body: dict[str, Any]) -> bool:
    """Whether a part of the question is but an address, wherever it stands."""
    left: list[Any] = [body]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left += value
        elif isinstance(value, dict):
            for name, inner in value.items():
                plain = _plain(name)
                if plain in OPAQUE[api]:
                    continue
                if _is_address(plain, inner):
                    return True
                left.append(inner)
    return False


def _is_address(plain: str, value: Any) -> bool:
    """Whether a field of this name asks for something to be fetched."""
    if plain == "source":  # Anthropic's, in documents and images
        return isinstance(value, dict) and (value.get("type") == "url" or bool(value.get("url")))
    if plain not in ADDRESSES and plain not in CONTENTS:
        return False
    if isinstance(value, dict):
        value = value.get("url")
    texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
    if plain in CONTENTS:
        return any(SCHEME.match(text) for text in texts)
    return any(not text.lstrip().casefold().startswith("data:") for text in texts)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))
