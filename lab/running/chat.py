"""One question to a model over OpenAI's chat API, asked again while the model's side fails in a way that may pass."""

from __future__ import annotations

import dataclasses
import email.utils
import json
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import requests

from lab.proxy import fault

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

MAX_ANSWER_BYTES = 16 << 20
PIECE_BYTES = 1 << 16
CONNECT_S = 10.0
GRACE_S = 5.0
MAX_TRIES = 4
FIRST_PAUSE_S = 1.0
"""Doubled before each further try, unless the provider says how long to wait."""
MAX_PAUSE_S = 60.0
AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})
"""Statuses below 500 that may pass."""


@dataclasses.dataclass(frozen=True)
class Reply:
    """What the model said; `is_cut` where it was cut off at the most tokens that it may make."""

    text: str
    is_cut: bool = False


@dataclasses.dataclass(frozen=True)
class NoReply:
    """Why there is no answer, in words for one line."""

    why: str
    may_pass: bool = False
    status: int | None = None
    pause_s: float | None = None
    """How long the provider wants to be left alone."""


class Line:
    """Where questions are asked: the address without /v1, and the key."""

    def __init__(self, base_url: str, key: str, *, deadline: float, stopping: threading.Event) -> None:
        """Nothing is asked after `deadline`, of the monotonic clock, or once `stopping` is set."""
        self._url = f"{base_url}/v1/chat/completions"
        self._key = key
        self._deadline = deadline
        self._stopping = stopping

    def ask(self, body: Mapping[str, Any]) -> Reply | NoReply:
        """Ask until there is an answer, a failure that stays, or no time or try left. Never raises for the network."""
        pause_s = FIRST_PAUSE_S
        for attempt in range(1, MAX_TRIES + 1):
            said = self._ask_once(body)
            if isinstance(said, Reply) or not said.may_pass or attempt == MAX_TRIES:
                break
            wait_s = pause_s if said.pause_s is None else said.pause_s
            pause_s *= 2
            if time.monotonic() + wait_s > self._deadline or self._stopping.wait(wait_s):
                break
        return said

    def _ask_once(self, body: Mapping[str, Any]) -> Reply | NoReply:
        # who asks ends it at the deadline itself; this is for the case that nobody does
        left_s = max(0.0, self._deadline - time.monotonic()) + GRACE_S
        try:
            with requests.Session() as session:
                session.trust_env = False  # no proxy of the environment is on the way to this machine
                with session.post(
                    self._url,
                    data=json.dumps(body),
                    headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
                    timeout=(CONNECT_S, left_s),
                    allow_redirects=False,
                    stream=True,
                ) as answer:
                    return _read(answer)
        except requests.RequestException as error:
            return NoReply(f"the connection broke off ({type(error).__name__})", may_pass=True)


def _read(answer: requests.Response) -> Reply | NoReply:
    data = bytearray()
    for piece in answer.iter_content(PIECE_BYTES):
        data += piece
        if len(data) > MAX_ANSWER_BYTES:
            return NoReply(f"the answer is larger than {MAX_ANSWER_BYTES >> 20} MiB")
    status = answer.status_code
    if status != HTTPStatus.OK:
        return NoReply(
            fault.described(status, bytes(data)),
            may_pass=status in AGAIN or status >= HTTPStatus.INTERNAL_SERVER_ERROR,
            status=status,
            pause_s=pause_of(answer.headers.get("Retry-After"), time.time()),
        )
    try:
        body = json.loads(bytes(data))  # not by msgspec: it does not take half an emoji, where an answer was cut
    except (ValueError, RecursionError):
        return NoReply("the answer is not JSON", may_pass=True)
    return _reply(body)


def _reply(body: Any) -> Reply | NoReply:
    choices = body.get("choices") if isinstance(body, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        error = fault.find(body) if isinstance(body, dict) else None
        # some gateways report what failed behind them with status 200
        why = "the answer holds no message" if error is None else str(error)
        return NoReply(why, may_pass=error is None or error.of_model)
    return Reply(_text(message.get("content")), is_cut=choice.get("finish_reason") == "length")


def _text(content: Any) -> str:
    """A message's content: text, or parts, of which some are thoughts."""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text")
        content = "".join(part for part in parts if isinstance(part, str))
    # half an emoji is text to JSON, but neither to UTF-8 nor to Python's parser
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else ""


def pause_of(header: str | None, now: float) -> float | None:
    """Seconds to wait by a Retry-After header (RFC 9110, 10.2.3), at most MAX_PAUSE_S; None where it says nothing."""
    if header is None:
        return None
    text = header.strip()
    try:
        # some say it in fractions
        seconds = float(text) if text[:1].isdigit() else email.utils.parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_PAUSE_S)
