"""A real HTTP server on loopback that behaves like the Hugging Face dataset viewer, and misbehaves on request.

    with serve({"evalplus/humanevalplus": rows}, faults=[status(500), None, partial()]) as server:
        ...  # point LAB_DATASETS_SERVER at server.url, then look at server.requests

Request number n gets `faults[n]`, later ones `always`; None is an honest answer. `status(503, retry_after=0)` makes a
client that obeys Retry-After come back at once, so that a test need not wait.
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_ROWS = 100


@dataclasses.dataclass(frozen=True)
class Seen:
    """One request as it came; header names in lower case."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Answer:
    """One answer as it is about to be sent. With `pause_s` the body trickles, a byte a pause."""

    status: int
    body: bytes
    headers: Mapping[str, str] = dataclasses.field(default_factory=lambda: {"Content-Type": "application/json"})
    pause_s: float = 0.0
    announced_bytes: int | None = None

    @classmethod
    def of(cls, value: object, status: int = 200, **headers: str) -> Answer:
        return cls(status, json.dumps(value).encode(), {"Content-Type": "application/json", **headers})


Fault: TypeAlias = Callable[[Answer], Answer]


@dataclasses.dataclass
class Server:
    """A running server: where it is, and what it was asked."""

    url: str
    requests: list[Seen] = dataclasses.field(default_factory=list)


@contextlib.contextmanager
def serve(
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    faults: Sequence[Fault | None] = (),
    always: Fault | None = None,
) -> Iterator[Server]:
    """Serve `GET /rows` of `datasets` (by hub id) until the block ends."""
    lock = threading.Lock()
    closing = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            seen = Seen(parts.path, query, {name.lower(): value for name, value in self.headers.items()})
            with lock:
                number = len(server.requests)
                server.requests.append(seen)
            fault = faults[number] if number < len(faults) else always
            answer = _honest(datasets, seen)
            self._send(fault(answer) if fault else answer)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            length = len(answer.body) if answer.announced_bytes is None else answer.announced_bytes
            self.send_header("Content-Length", str(length))
            self.close_connection = answer.announced_bytes is not None
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                if not answer.pause_s:
                    self.wfile.write(answer.body)
                    return
                for byte in answer.body:
                    if closing.wait(answer.pause_s):
                        self.close_connection = True
                        return
                    self.wfile.write(bytes([byte]))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    server = Server(f"http://127.0.0.1:{httpd.server_port}")
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        closing.set()
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def _honest(datasets: Mapping[str, Sequence[Mapping[str, Any]]], seen: Seen) -> Answer:
    """What the viewer itself answers."""
    rows = datasets.get(seen.query.get("dataset", ""))
    try:
        offset, length = int(seen.query["offset"]), int(seen.query["length"])
    except (KeyError, ValueError):
        return Answer.of({"error": "Parameter 'offset' or 'length' is missing"}, 422)
    if seen.path != "/rows" or not 0 <= length <= MOST_ROWS or offset < 0:
        return Answer.of({"error": "Parameter 'length' must not be greater than 100"}, 422)
    if rows is None or (seen.query.get("config"), seen.query.get("split")) != ("default", "test"):
        return Answer.of({"error": "The dataset does not exist."}, 404, **{"X-Error-Code": "DatasetNotFound"})
    columns = list(rows[0]) if rows else []
    return Answer.of(
        {
            "features": [{"feature_idx": index, "name": name, "type": {}} for index, name in enumerate(columns)],
            "rows": [
                {"row_idx": index, "row": row, "truncated_cells": []}
                for index, row in enumerate(rows[offset : offset + length], offset)
            ],
            "num_rows_total": len(rows),
            "num_rows_per_page": MOST_ROWS,
            "partial": False,
        }
    )


def edit(change: Callable[[dict[str, Any]], object]) -> Fault:
    """Let `change` alter the honest page in place."""

    def fault(answer: Answer) -> Answer:
        page = json.loads(answer.body)
        change(page)
        return dataclasses.replace(answer, body=json.dumps(page).encode())

    return fault


def status(code: int, *, retry_after: str | float | None = None, **headers: str) -> Fault:
    """An error as the viewer words it; underscores in header names are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if retry_after is not None:
        named["Retry-After"] = str(retry_after)
    return lambda _: Answer.of({"error": "Something went wrong."}, code, **named)


def not_ready(*, retry_after: float | None = None) -> Fault:
    """The 404 of a viewer that rebuilds its cache."""
    return status(404, retry_after=retry_after, X_Error_Code="ResponseNotReady")


def html(code: int = 200) -> Fault:
    """A web page, as login pages and proxies send it."""
    return lambda _: Answer(code, b"<!doctype html><title>Sign in</title>", {"Content-Type": "text/html"})


def body(text: bytes, **headers: str) -> Fault:
    """This body in place of the page; underscores in header names are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda answer: dataclasses.replace(answer, body=text, headers={**answer.headers, **named})


def short(rows: int) -> Fault:
    """A page of at most this many rows."""
    return edit(lambda page: page.update(rows=page["rows"][:rows]))


def shuffled() -> Fault:
    """The rows of a page from last to first."""
    return edit(lambda page: page["rows"].reverse())


def partial() -> Fault:
    """A viewer that has only a part of the dataset."""
    return edit(lambda page: page.update(partial=True))


def truncated(column: str, row: int = 0) -> Fault:
    """A page on which one cell's text was cut off."""

    def cut(page: dict[str, Any]) -> None:
        entry = page["rows"][row]
        entry["row"][column] = str(entry["row"][column])[:5]
        entry["truncated_cells"] = [column]

    return edit(cut)


def total(rows: int) -> Fault:
    """A page that announces another total."""
    return edit(lambda page: page.update(num_rows_total=rows))


def redirect(url: str, code: int = 307) -> Fault:
    """A redirect to `url`."""
    return lambda _: Answer(code, b"", {"Location": url})


def slow(pause_s: float) -> Fault:
    """A body that trickles, one byte every `pause_s` seconds."""
    return lambda answer: dataclasses.replace(answer, pause_s=pause_s)


def cut_off() -> Fault:
    """A connection that closes in the middle of the body."""
    return lambda answer: dataclasses.replace(
        answer, body=answer.body[: len(answer.body) // 2], announced_bytes=len(answer.body)
    )


def zipped() -> Fault:
    """The honest page, in gzip."""
    return lambda answer: dataclasses.replace(
        answer, body=gzip.compress(answer.body), headers={**answer.headers, "Content-Encoding": "gzip"}
    )
