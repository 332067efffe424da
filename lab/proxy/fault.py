"""Whose fault an exchange without an answer is: the model's side, or the tool that spoiled its own request.

Only the former makes an attempt infra, so a line is drawn by what the provider said, and told in docs/traces.md.
"""

from __future__ import annotations

import dataclasses
from http import HTTPStatus
from typing import Any

import aiohttp
import msgspec

from lab.console import safe

OURS = frozenset({401, 402, 403, 404, 405, 408, 429})
"""Statuses below 500 that say nothing of the request: a key, an account, a path, a limit, a server that did not wait.

Path and model are lab's own, so what is not there was not the tool's to name.
"""
UNKNOWN_MODEL = frozenset({"model_not_found"})
"""What providers call a model that they do not have, be it at 400."""
SPOILED = frozenset(
    {
        "invalid_request_error",
        "invalid_request",
        "invalid_prompt",
        "context_length_exceeded",
        "string_above_max_length",
        "request_too_large",
        "unsupported_parameter",
        "content_filter",
        "content_policy_violation",
        "invalid_argument",
        "failed_precondition",
        "out_of_range",
    }
)
"""What providers call an error that the request brought about, in lower case; images that cannot be read beside."""
CONNECTION: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    (aiohttp.ConnectionTimeoutError, "it could not be reached in time"),
    (TimeoutError, "it said nothing for too long"),
    (aiohttp.ClientConnectorDNSError, "its name is not known"),
    ((aiohttp.ServerDisconnectedError, ConnectionResetError), "it closed the connection without an answer"),
)
"""What kinds of error mean; the first that fits."""
NOT_REACHED = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientHttpProxyError)
"""What is raised before anything was sent to the provider."""
MAX_MESSAGE_CHARS = 200
MAX_STATUS = 599


@dataclasses.dataclass(frozen=True)
class Error:
    """An error as a provider reports it inside a body: what it calls it, and its message, on one line."""

    names: frozenset[str]
    code: int | None
    message: str

    @property
    def of_model(self) -> bool:
        """Whether it is the model's side that failed."""
        if self.names & SPOILED or any(name.startswith(("invalid_image", "image_")) for name in self.names):
            return False
        return (
            self.code is None
            or not HTTPStatus.BAD_REQUEST <= self.code < HTTPStatus.INTERNAL_SERVER_ERROR
            or self.code in OURS
        )

    def __str__(self) -> str:
        named = " ".join(sorted(self.names))
        return ": ".join(part for part in (named or str(self.code or "error"), self.message) if part)


def find(chunk: dict[str, Any]) -> Error | None:
    """The error that a body, or an event of a stream, reports; None where it reports none."""
    response = chunk.get("response")
    error = chunk.get("error") or (response.get("error") if isinstance(response, dict) else None)
    if error is None and chunk.get("type") == "error":
        error = chunk
    if isinstance(error, str):
        return Error(frozenset(), None, _line(error))
    if not isinstance(error, dict):
        return None
    words = (error.get(key) for key in ("type", "code", "status"))
    names = frozenset(safe(word[:80]).casefold() for word in words if isinstance(word, str) and not word.isdecimal())
    code = error.get("code")
    if isinstance(code, str) and code.isdecimal() and len(code) == len("429"):
        code = int(code)
    message = error.get("message")
    return Error(
        names=names - {"error"},
        code=code if type(code) is int else None,
        message=_line(message) if isinstance(message, str) else "",
    )


def of_model(status: int, body: bytes) -> bool:
    """Whether an answer of an error status is the model's side's, and not brought about by the tool's request."""
    if status in OURS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return True
    error = _of_body(body)
    return error is not None and not error.names.isdisjoint(UNKNOWN_MODEL)


def described(status: int, body: bytes) -> str:
    """An answer of an error status in a line."""
    error = _of_body(body)
    told = f": {error.message}" if error is not None and error.message else ""
    return f"{status} {_phrase(status)}{told}"


def of_no_answer(status: int) -> str | None:
    """Why a status is not that of an answer that can be passed on, in a line; None where it is."""
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"it answered {status}, and lab does not follow that"
    if not HTTPStatus.OK <= status <= MAX_STATUS:
        return f"it answered {status}, which is no status of an answer"
    return None


def reached(error: BaseException) -> bool:
    """Whether the provider may have got the question that this error has left without an answer."""
    return not isinstance(error, NOT_REACHED)


def of_connection(error: BaseException) -> str:
    """Why no answer, or no whole answer, came from the provider, in a line."""
    for kinds, why in CONNECTION:
        if isinstance(error, kinds):
            return why
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError):
        return "it refused the connection"
    # the provider's address, which the text of these holds, is none of the tool's business
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        told = str(error.certificate_error)
    elif isinstance(error, aiohttp.ClientConnectorError):
        told = str(error.os_error)
    elif isinstance(error, aiohttp.ClientResponseError):
        told = error.message
    else:
        told = str(error)
    return f"{type(error).__name__}: {_line(told)}"


def _of_body(body: bytes) -> Error | None:
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(decoded, list) and decoded:
        decoded = decoded[0]
    return find(decoded) if isinstance(decoded, dict) else None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded" if status == 529 else "error"  # noqa: PLR2004 - Anthropic's own status


def _line(text: str) -> str:
    """One line that steers no terminal, not too long."""
    line = safe(" ".join(text[: 4 * MAX_MESSAGE_CHARS].split()))
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[:MAX_MESSAGE_CHARS]}..."
