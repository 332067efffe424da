"""An attempt's trace as exchanges: for each request what is new in it, what was answered, and what it came to.

A trace is read as it is found: it may have been cut, or be hostile where its tool ran without a sandbox. What cannot
be read is said, and the rest is shown.
"""

from __future__ import annotations

import collections
import hashlib
import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from lab.apis import Api
from lab.files import NotRegularFile, read_regular
from lab.proxy.events import EventStream
from lab.proxy.routes import ROUTES, Kind
from lab.trace import chat, gemini, messages, responses
from lab.trace.lines import decoded, json_lines
from lab.trace.turn import Turn, objects, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MAX_RESPONSE_BYTES = 64 << 20
RESPONSE = re.compile(r"[0-9]{3,9}\.(json|sse|txt)")
READERS = {Api.OPENAI_CHAT: chat, Api.OPENAI_RESPONSES: responses, Api.ANTHROPIC: messages, Api.GEMINI: gemini}


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One request and what became of it; None is unknown. Milliseconds and US dollars."""

    n: int | None
    started_at: str | None = None
    request: str = ""
    """Method and path."""
    new: tuple[Turn, ...] = ()
    """What is said in it and was not said in an earlier one, the model's own words left out."""
    answer: tuple[Turn, ...] = ()
    status: int | None = None
    ttfb_ms: float | None = None
    total_ms: float | None = None
    prompt: int | None = None
    completion: int | None = None
    cost_usd: float | None = None
    problems: tuple[str, ...] = ()
    """Why it was refused, what went wrong with it, what of it is not here."""


def read_trace(folder: Path) -> Iterator[Exchange]:
    """The exchanges in the folder `trace` of an attempt, in order. Nothing where none was recorded."""
    ends, counts = _by_number(folder / "latency.jsonl"), _by_number(folder / "usage.jsonl")
    heard = _Heard()
    for line in json_lines(folder / "requests.jsonl"):
        n = _whole(line.get("n"))
        yield _exchange(folder, line, ends.get(n, {}), counts.get(n, {}), heard)


class _Heard:
    """What earlier requests said: agents send all of their conversation each time, and may shorten it."""

    def __init__(self) -> None:
        self._most: dict[bytes, int] = {}

    def new(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """Those that stand here more often than in any earlier request; the model's only in the first."""
        is_first = not self._most
        here: collections.Counter[bytes] = collections.Counter()
        for turn in turns:
            digest = hashlib.sha256(msgspec.msgpack.encode(turn)).digest()
            here[digest] += 1
            if here[digest] > self._most.get(digest, 0):
                self._most[digest] = here[digest]
                if is_first or turn.role != "assistant":
                    yield turn


def _exchange(
    folder: Path, line: dict[str, Any], end: dict[str, Any], counts: dict[str, Any], heard: _Heard
) -> Exchange:
    method, path = text(line.get("method")), text(line.get("path"))
    problems = [line.get("unreadable"), line.get("refused"), line.get("left_out"), end.get("error")]
    if cut := text(end.get("cut")):
        problems.append(f"cut by {cut}")
    new: tuple[Turn, ...] = ()
    answer: tuple[Turn, ...] = ()
    if (api := _asked_of(method, path)) is not None:
        body = line.get("body")
        new = tuple(heard.new(READERS[api].asked(body))) if isinstance(body, dict) else ()
        response = _response(folder / "responses", line, end)
        try:
            answer = () if response is None else tuple(READERS[api].answered(_chunks(response)))
        except (NotRegularFile, OSError) as error:
            problems.append(f"the answer cannot be read: it {error}")
        problems.append(end.get("left_out"))
    return Exchange(
        n=_whole(line.get("n")),
        started_at=text(line.get("started_at")) or None,
        request=f"{method} {path}".strip(),
        new=new,
        answer=answer,
        status=_whole(end.get("status")),
        ttfb_ms=_number(end.get("ttfb_ms")),
        total_ms=_number(end.get("total_ms")),
        prompt=_whole(counts.get("prompt")),
        completion=_whole(counts.get("completion")),
        cost_usd=_number(counts.get("cost_usd")),
        problems=tuple(problem for problem in map(text, problems) if problem),
    )


def _asked_of(method: str, path: str) -> Api | None:
    """The API of a question to the model; None for a request that is none."""
    plain = path.partition("?")[0]
    routes = (route for route in ROUTES if route.kind is Kind.ASK and route.method == method)
    return next((route.api for route in routes if route.path.fullmatch(plain)), None)


def _response(folder: Path, line: dict[str, Any], end: dict[str, Any]) -> Path | None:
    """The file of the answer. Where lab was killed before its end was noted, the one that has its number."""
    name = text(end.get("response"))
    if not end and (n := _whole(line.get("n"))) is not None:
        names = (f"{n:03d}.{suffix}" for suffix in ("json", "sse", "txt"))
        name = next((one for one in names if (folder / one).is_file()), "")
    return folder / name if RESPONSE.fullmatch(name) else None


def _chunks(path: Path) -> list[dict[str, Any]]:
    """The objects of an answer: one, a list of them, or those of a stream's events."""
    data = read_regular(path, MAX_RESPONSE_BYTES)
    if data.lstrip()[:1] in {b"{", b"["}:
        whole = decoded(data)
        return objects(whole if isinstance(whole, list) else [whole])
    stream = EventStream()
    return objects([decoded(event.data) for event in (*stream.feed(data), *stream.rest())])


def _by_number(path: Path) -> dict[int | None, dict[str, Any]]:
    return {n: line for line in json_lines(path) if (n := _whole(line.get("n"))) is not None}


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None


def _number(value: Any) -> float | None:
    return float(value) if type(value) in {int, float} and abs(value) < 1 << 53 and math.isfinite(value) else None
