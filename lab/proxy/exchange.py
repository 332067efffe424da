"""One exchange: a request of the tool is checked and recorded, then passed on or refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import http_exceptions, web

from lab.proxy import headers, routes
from lab.proxy.passage import Passage
from lab.proxy.question import MAX_BODY_BYTES, prepare, too_large, unpack
from lab.proxy.recording import MAX_LINES
from lab.proxy.records import RequestLine
from lab.proxy.refusal import Refused, error_body

if TYPE_CHECKING:
    from lab.proxy.line import Line
    from lab.proxy.question import Question

MAX_HELD_BYTES = 256 << 20
"""Of request bodies in one attempt that are held at the same time."""
MAX_TARGET_CHARS = 2000


class Exchange:
    """Exchange number `n` of the attempt that `line` belongs to."""

    def __init__(self, line: Line, n: int, request: web.BaseRequest) -> None:
        self._line = line
        self._n = n
        self._request = request
        self._started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._body = b""
        self._held_bytes = 0

    async def run(self) -> web.StreamResponse:
        """Answer the request. Raises ConnectionError where the connection to the tool is to end."""
        try:
            try:
                question = await self._admit()
                self._record(question, None)
            except Refused as refused:
                return self._refuse(refused)
            except ConnectionError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a tool finds to send leaves its line
                return self._refuse(Refused(400, f"this request cannot be passed on: {type(error).__name__}"))
            return await Passage(self._line, self._n, question, self._request).run()
        finally:
            self._line.held_bytes -= self._held_bytes

    async def _admit(self) -> Question:
        """The question as it is sent on. Raises Refused."""
        request, target = self._request, self._request.raw_path
        if self._n > MAX_LINES:
            raise Refused(429, f"this attempt has made more than {MAX_LINES:,} requests")
        if not headers.presents(request.headers, target, self._line.key):
            raise Refused(401, "the key of this attempt is missing or wrong")
        if "Upgrade" in request.headers:
            # codex takes this status for "use HTTP instead"
            raise Refused(426, "no other protocol than HTTP is spoken here")
        asked = routes.find(self._line.upstream.api, request.method, target)
        self._body = await self._read_body()
        self._body = unpack(request.headers.get("Content-Encoding", ""), self._body)
        return prepare(asked, self._body, self._line.upstream.model, add_usage=self._line.provider.add_usage)

    async def _read_body(self) -> bytes:
        request = self._request
        if (request.content_length or 0) > MAX_BODY_BYTES:
            raise too_large()
        if request.headers.get("Expect", "").casefold() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        body = bytearray()
        try:
            while piece := await request.content.readany():
                body += piece
                self._held_bytes += len(piece)
                self._line.held_bytes += len(piece)
                if len(body) > MAX_BODY_BYTES:
                    raise too_large()
                if self._line.held_bytes > MAX_HELD_BYTES:
                    raise Refused(413, f"more than {MAX_HELD_BYTES >> 20} MiB of requests at the same time")
        except (aiohttp.ClientPayloadError, web.RequestPayloadError, http_exceptions.HttpProcessingError) as error:
            raise Refused(400, "the body cannot be read") from error
        return bytes(body)

    def _refuse(self, refused: Refused) -> web.Response:
        self._line.refuse()
        if self._n <= MAX_LINES:
            self._record(None, refused.reason)
        body = error_body(self._line.upstream.api, refused.status, refused.reason)
        response = web.Response(body=body, status=refused.status, content_type="application/json")
        response.force_close()  # the rest of its body is not waited for
        return response

    def _record(self, question: Question | None, refused: str | None) -> None:
        self._line.recorder.request(
            RequestLine(
                n=self._n,
                started_at=self._started_at,
                method=self._request.method,
                path=self._request.raw_path[:MAX_TARGET_CHARS],
                headers=headers.to_record(self._request.headers),
                model_asked=question.model if question else None,
                other_model=question is not None and question.other_model,
                refused=refused,
                usage_added=question is not None and question.plain_body is not None,
                left_out=None if self._body or not self._request.can_read_body else "it was not read",
            ),
            self._body,
        )
