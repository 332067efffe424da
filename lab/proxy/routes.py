"""What a tool may ask of its provider: methods and paths, an allow-list for each API.

Looked up in what the shipped tools ask for. The paths stand with and without the version's prefix, as tools differ in
whether a base URL ends with it. What goes on is built here, never taken from what the tool sent.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlencode

from lab.apis import Api
from lab.proxy.refusal import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

MODEL = r"(?P<model>{part}(?:(?:/|%2[Ff]){part})*)"
OPENAI_MODEL = MODEL.format(part=r"[A-Za-z0-9][A-Za-z0-9._@:-]*")
GEMINI_MODEL = MODEL.format(part=r"[A-Za-z0-9][A-Za-z0-9._@-]*")
"""Without a colon, which begins the method there."""
HIDDEN_PARAMETERS = frozenset({"key"})
"""Where a tool may put its key; never sent on."""


class Kind(enum.Enum):
    """What a request is for."""

    ASK = "ask"
    """A question to the model: it costs tokens."""
    COUNT = "count"
    """How many tokens a question has."""
    LIST = "list"
    """Which models there are, or what one is."""


@dataclasses.dataclass(frozen=True)
class Route:
    """One thing that may be asked. `target` is the path that is sent on, below the version, with {model} in it."""

    api: Api
    kind: Kind
    method: str
    path: re.Pattern[str]
    target: str
    parameters: frozenset[str] = frozenset()
    """Names in the query that are sent on as they are."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request that may go on: by which route, the model that its path names, and its query without any key."""

    route: Route
    model: str | None
    query: str

    def target(self, model: str) -> str:
        """Path, below the version, and query to send on, for `model`."""
        path = self.route.target.format(model=quote(model, safe="@:"))
        return f"{path}?{self.query}" if self.query else path


def find(api: Api, method: str, target: str) -> Asked:
    """The route of a request line's `target`. Raises Refused where there is none, or its query is unknown."""
    path, _, query = target.partition("?")
    for route in ROUTES:
        if route.api is api and route.method == method and (found := route.path.fullmatch(path)):
            model = found.groupdict().get("model")
            return Asked(route, None if model is None else unquote(model), _query(route, query))
    raise Refused(403, f"{method} {path[:200]} is not passed on: only questions to the model are")


def _query(route: Route, query: str) -> str:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=32, errors="strict")
    except ValueError as error:
        raise Refused(400, "the query of the request cannot be read") from error
    kept = [(name, value) for name, value in pairs if name not in HIDDEN_PARAMETERS]
    for name, _value in kept:
        if name not in route.parameters:
            raise Refused(403, f"the parameter {name[:80]!r} of the query is not passed on")
    return urlencode(kept)


def key_parameter(target: str) -> str | None:
    """The key that a tool put into the query, as Gemini's clients may."""
    pairs: Mapping[str, str] = dict(parse_qsl(target.partition("?")[2], max_num_fields=None, errors="replace"))
    return pairs.get("key")


def _routes() -> tuple[Route, ...]:
    pages = frozenset({"limit", "after", "after_id", "before_id", "order"})
    # codex names its version when it lists models
    listing = frozenset({"client_version"}) | pages
    routes = []
    for api, asks, counts in (
        (Api.OPENAI_CHAT, "chat/completions", ""),
        (Api.OPENAI_RESPONSES, "responses", "responses/input_tokens"),
        (Api.ANTHROPIC, "messages", "messages/count_tokens"),
    ):
        beta = frozenset({"beta"}) if api is Api.ANTHROPIC else frozenset()
        routes += [
            Route(api, Kind.ASK, "POST", re.compile(rf"(?:/v1)?/{asks}"), f"/{asks}", beta),
            Route(api, Kind.LIST, "GET", re.compile(r"(?:/v1)?/models"), "/models", beta | listing),
            Route(api, Kind.LIST, "GET", re.compile(rf"(?:/v1)?/models/{OPENAI_MODEL}"), "/models/{model}", beta),
        ]
        if counts:
            routes.append(Route(api, Kind.COUNT, "POST", re.compile(rf"(?:/v1)?/{counts}"), f"/{counts}", beta))
    for kind, method in (
        (Kind.ASK, "generateContent"),
        (Kind.ASK, "streamGenerateContent"),
        (Kind.COUNT, "countTokens"),
    ):
        path = re.compile(rf"(?:/v1(?:beta|alpha)?)?/models/{GEMINI_MODEL}:{method}")
        routes.append(Route(Api.GEMINI, kind, "POST", path, f"/models/{{model}}:{method}", frozenset({"alt", "$alt"})))
    pages = frozenset({"pageSize", "pageToken"})
    models = r"(?:/v1(?:beta|alpha)?)?/models"
    return (
        *routes,
        Route(Api.GEMINI, Kind.LIST, "GET", re.compile(models), "/models", pages),
        Route(Api.GEMINI, Kind.LIST, "GET", re.compile(f"{models}/{GEMINI_MODEL}"), "/models/{model}"),
    )


ROUTES = _routes()
