"""A question on its way to the provider, and the answer on its way back, piece by piece as it comes."""

from __future__ import annotations

import asyncio
import io
import time
from http import HTTPStatus
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from yarl import URL

from lab.proxy import fault, headers
from lab.proxy.answer import READERS, only_usage
from lab.proxy.ledger import Outcome
from lab.proxy.mask import MaskedStream
from lab.proxy.records import LatencyLine, UsageLine
from lab.proxy.refusal import error_body
from lab.proxy.routes import Kind
from lab.proxy.summary import Tokens

if TYPE_CHECKING:
    from lab.proxy.answer import Answer
    from lab.proxy.events import Event
    from lab.proxy.line import Line
    from lab.proxy.question import Question
    from lab.proxy.recording import Recording

EVENTS = "text/event-stream"
MAX_ERROR_BYTES = 64 << 10
LARGE_BODY_BYTES = 1 << 20
READ_BYTES = 16 << 10
"""Of an answer that are read before others get their turn: so many may hold thousands of events."""
UPSTREAM_ERRORS = (aiohttp.ClientError, TimeoutError, OSError)


class _Dropped(ConnectionError):
    """The provider cut its answer, so the connection to the tool is cut, too."""


class Passage:
    """Request number `n` of an attempt, sent on as `question`."""

    def __init__(self, line: Line, n: int, question: Question, request: web.BaseRequest) -> None:
        self._line = line
        self._n = n
        self._question = question
        self._request = request
        self._clean = MaskedStream(line.real_key)
        self._sent = 0.0
        self._begun = False
        self._reached = True
        self._status: int | None = None
        self._ttfb_ms: float | None = None
        self._bytes = 0
        self._error: str | None = None
        self._error_body = bytearray()
        self._model_failure: str | None = None
        self._cut: str | None = None
        self._hides_usage = False
        self._recording: Recording | None = None
        self._answer: Answer | None = None

    async def run(self) -> web.StreamResponse:
        """Answer the tool as the provider answers. Raises ConnectionError where one of them cut the connection."""
        self._line.send(self._question.asked.route.kind, other_model=self._question.other_model)
        self._sent = time.monotonic()
        try:
            return await self._run()
        except _Dropped:
            raise
        except (asyncio.CancelledError, ConnectionError):
            # many tools leave once they have read what they want, before the connection ends
            if self._is_whole():
                self._judge()
            else:
                self._cut = "lab" if self._line.closing else "the tool"
            raise
        except Exception as error:
            why = f"lab could not pass it on: {type(error).__name__}"
            if not self._begun:
                return self._unanswered(why)
            self._fail(why)
            raise _Dropped from error
        finally:
            self._end()

    async def _run(self) -> web.StreamResponse:
        try:
            answer = await self._open()
        except UPSTREAM_ERRORS as error:
            self._reached = fault.reached(error)
            return self._unanswered(fault.of_connection(error))
        async with answer:
            self._status = answer.status
            if (why := fault.of_no_answer(answer.status)) is not None:
                return self._unanswered(why)
            response = self._response(answer)
            self._begun = True
            await response.prepare(self._request)
            while piece := await self._read(answer):
                masked = self._clean.feed(piece)
                for at in range(0, len(masked), READ_BYTES):
                    await self._return(response, masked[at : at + READ_BYTES])
                    if at:
                        await asyncio.sleep(0)
            await self._return(response, self._clean.rest())
            await self._return_events(response, self._answer.end() if self._answer else [])
            self._judge()
            await response.write_eof()
            return response

    async def _open(self) -> aiohttp.ClientResponse:
        """The provider's answer, up to its body."""
        question, provider = self._question, self._line.provider
        answer = await self._send(question.body)
        if question.plain_body is not None and answer.status in {400, 422}:
            # perhaps it was what lab added: it is asked once more in the tool's own words
            answer.close()
            answer = await self._send(question.plain_body)
            if answer.status < HTTPStatus.BAD_REQUEST:
                provider.add_usage = False
        return answer

    async def _send(self, body: bytes) -> aiohttp.ClientResponse:
        provider, asked = self._line.provider, self._question.asked
        upstream = provider.upstream
        return await provider.session.request(
            asked.route.method,
            URL(f"{upstream.versioned_url}{asked.target(upstream.model)}", encoded=True),
            # aiohttp sends bytes in one go, which takes long where there are many
            data=io.BytesIO(body) if len(body) > LARGE_BODY_BYTES else body or None,
            headers=headers.to_send(upstream.api, self._request.headers, upstream.key),
            allow_redirects=False,
            proxy=provider.proxy,
        )

    def _response(self, answer: aiohttp.ClientResponse) -> web.StreamResponse:
        """The answer's head as the tool gets it; all is made ready for the body."""
        self._recording = self._line.recorder.response(self._n, answer.content_type)
        events = answer.content_type == EVENTS
        self._hides_usage = events and self._question.plain_body is not None
        if answer.status < HTTPStatus.MULTIPLE_CHOICES:
            self._answer = READERS[self._line.upstream.api](events=events)
        response = web.StreamResponse(
            status=answer.status,
            headers=headers.to_return(answer.headers, self._line.real_key),
        )
        if "Content-Encoding" not in answer.headers and not self._hides_usage:
            response.content_length = answer.content_length
        return response

    async def _read(self, answer: aiohttp.ClientResponse) -> bytes:
        """The next piece of the body, empty at its end. Raises _Dropped where the provider cuts it."""
        try:
            piece = await answer.content.readany()
        except UPSTREAM_ERRORS as error:
            self._fail(f"the answer was cut off: {fault.of_connection(error)}")
            raise _Dropped from error
        if piece and self._ttfb_ms is None:
            self._ttfb_ms = self._elapsed_ms()
        self._bytes += len(piece)
        return piece

    async def _return(self, response: web.StreamResponse, piece: bytes) -> None:
        """Record a piece, read it, and pass it to the tool."""
        if self._recording is not None:
            self._recording.write(piece)
        if self._answer is None:
            self._error_body += piece[: MAX_ERROR_BYTES - len(self._error_body)]
        events = self._answer.feed(piece) if self._answer else []
        if self._hides_usage:
            await self._return_events(response, events)
        elif piece:
            await response.write(piece)

    async def _return_events(self, response: web.StreamResponse, events: list[Event]) -> None:
        """Pass on events, without the one that is there because lab asked for it."""
        if self._hides_usage and (shown := b"".join(event.raw for event in events if not only_usage(event))):
            await response.write(shown)

    def _unanswered(self, why: str) -> web.Response:
        self._fail(why)
        told = f"the model gave no answer: {self._error}"
        body = error_body(self._line.upstream.api, HTTPStatus.BAD_GATEWAY, told)
        return web.Response(body=body, status=HTTPStatus.BAD_GATEWAY, content_type="application/json")

    def _is_whole(self) -> bool:
        """Whether the answer has come to its own end, or is an error, whose status says it all."""
        if self._answer is None:
            return self._status is not None
        self._answer.end()
        return self._answer.finished

    def _judge(self) -> None:
        """Say what a whole answer came to."""
        if self._answer is None:
            status, body = self._status or 0, bytes(self._error_body)
            self._fail(fault.described(status, body), of_model=fault.of_model(status, body))
        elif (error := self._answer.error) is not None:
            self._fail(str(error), of_model=error.of_model)
        elif self._question.asked.route.kind is Kind.ASK and not self._answer.finished:
            self._fail("the answer stopped before its end")

    def _fail(self, why: str, *, of_model: bool = True) -> None:
        """Say what went wrong, in a line; no key is in it, though a provider spelled it in escapes."""
        self._error = self._line.real_key.text(why)
        self._model_failure = self._error if of_model else None

    def _end(self) -> None:
        """Record how it went, and add it up."""
        line, asked = self._line, self._question.asked
        worked = self._answer is not None or (self._status is None and self._reached)
        tokens = self._answer.tokens() if self._answer else Tokens()
        hour_writes = self._answer.hour_writes if self._answer else 0
        cost = line.provider.prices.cost(line.upstream.model, tokens, hour_writes)
        if worked and asked.route.kind is Kind.ASK:
            counts = {name: getattr(tokens, name) for name in Tokens.__struct_fields__}
            line.recorder.usage(UsageLine(n=self._n, model=line.upstream.model, cost_usd=cost, **counts))
        line.end(
            Outcome(
                kind=asked.route.kind,
                worked=worked,
                tokens=tokens,
                cost_usd=cost,
                ttfb_ms=self._ttfb_ms if self._answer else None,
                model_failure=self._model_failure,
                cut=self._cut is not None,
            )
        )
        if self._recording is not None:
            self._recording.close()
        line.recorder.latency(
            LatencyLine(
                n=self._n,
                status=self._status,
                ttfb_ms=self._ttfb_ms,
                total_ms=self._elapsed_ms(),
                bytes=self._bytes,
                response=self._recording.name if self._recording else None,
                error=self._error,
                model_failure=self._model_failure is not None,
                cut=self._cut,
                left_out=self._recording.left_out if self._recording else None,
            )
        )

    def _elapsed_ms(self) -> float:
        return round(1000 * (time.monotonic() - self._sent), 3)
