"""Which headers go on to the provider, which come back to the tool, and which are recorded."""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING

from multidict import CIMultiDict

from lab.apis import Api
from lab.proxy.routes import key_parameter

if TYPE_CHECKING:
    from multidict import CIMultiDictProxy

    from lab.proxy.mask import Mask

HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Of one connection only: RFC 9110, 7.6.1."""
KEYS = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key"})
NOT_SENT = HOP | KEYS | {"host", "content-length", "content-encoding", "accept-encoding", "expect", "cookie"}
"""What is made anew for the provider, or is none of its business."""
NOT_SENT_PREFIXES = (
    "x-forwarded-",
    "forwarded",
    "x-real-ip",
    "x-http-method",
    "x-method-override",
    "x-goog-user-project",
)
"""What would speak of this machine, or have the provider take the request for another one."""
NOT_RETURNED = HOP | {"content-length", "content-encoding", "set-cookie", "alt-svc"}
RECORDED = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "content-encoding",
        "content-type",
        "openai-beta",
        "originator",
        "user-agent",
        "x-app",
        "x-goog-api-client",
    }
)
MAX_RECORDED_CHARS = 500
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

Headers = CIMultiDict[str]


def presents(headers: CIMultiDictProxy[str], target: str, key: str) -> bool:
    """Whether a request shows the key that its attempt was given, in any of the ways of the four APIs."""
    shown = [headers.get("x-api-key"), headers.get("x-goog-api-key"), key_parameter(target)]
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        shown.append(token.strip())
    # compared in the same time whatever is wrong, and all of them
    return sum(hmac.compare_digest(one.encode("utf-8", "replace"), key.encode()) for one in shown if one) > 0


def to_send(api: Api, headers: CIMultiDictProxy[str], key: str | None) -> Headers:
    """The tool's headers as they go on, with the real key in place of the attempt's."""
    kept = _without(headers, NOT_SENT, NOT_SENT_PREFIXES)
    kept["Accept-Encoding"] = "identity"  # so that what is recorded can be read
    if key is not None:
        match api:
            case Api.ANTHROPIC:
                kept["x-api-key"] = key
            case Api.GEMINI:
                kept["x-goog-api-key"] = key
            case _:
                kept["Authorization"] = f"Bearer {key}"
    return kept


def to_return(headers: CIMultiDictProxy[str], mask: Mask) -> Headers:
    """The provider's headers as the tool sees them."""
    kept = _without(headers, NOT_RETURNED, ())
    return CIMultiDict((mask.text(name), mask.text(value)) for name, value in kept.items())


def to_record(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    """The few that say something of a request, by their names in lower case."""
    return {name.lower(): value[:MAX_RECORDED_CHARS] for name, value in headers.items() if name.lower() in RECORDED}


def _without(headers: CIMultiDictProxy[str], names: frozenset[str], prefixes: tuple[str, ...]) -> Headers:
    # what a Connection header names is of this connection only, too
    named = {name.strip().casefold() for value in headers.getall("Connection", ()) for name in value.split(",")}
    return CIMultiDict(
        (name, _sound(value))
        for name, value in headers.items()
        if (plain := name.casefold()) not in names and plain not in named and not plain.startswith(prefixes)
    )


def _sound(value: str) -> str:
    """A value that can be sent: bytes that were not UTF-8, and control characters, are replaced."""
    text = value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return CONTROL.sub(" ", text)
