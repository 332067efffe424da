"""What the proxy does not let through, and how it says so: in the API's own shape, so that the tool can show it."""

from __future__ import annotations

from typing import Any

import msgspec

from lab.apis import Api
from lab.console import safe

GEMINI_STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 413: "INVALID_ARGUMENT"}
KINDS = {
    401: "authentication_error",
    403: "permission_error",
    413: "request_too_large",
    429: "rate_limit_error",
    502: "api_error",
    504: "api_error",
}


class Refused(Exception):
    """A request that is not sent on: the status it is answered with, and why in a line, escaped."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        self.reason = safe(reason)
        super().__init__(self.reason)


def error_body(api: Api, status: int, message: str) -> bytes:
    """A JSON error as the provider itself would word it; it says that it comes from lab."""
    text = f"lab: {message}"
    kind = KINDS.get(status, "invalid_request_error")
    body: dict[str, Any]
    if api is Api.ANTHROPIC:
        body = {"type": "error", "error": {"type": kind, "message": text}}
    elif api is Api.GEMINI:
        body = {"error": {"code": status, "message": text, "status": GEMINI_STATUS.get(status, "UNAVAILABLE")}}
    else:
        body = {"error": {"message": text, "type": kind, "param": None, "code": None}}
    return msgspec.json.encode(body)
