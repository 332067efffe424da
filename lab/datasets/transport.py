"""One HTTP GET that does not give up too early, wait for ever, take too much, or tell the token to others."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import threading
import time
from concurrent.futures import Future
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Self
from urllib.parse import urlencode, urljoin, urlsplit

import msgspec
import requests

from lab import __version__
from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

USER_AGENT = f"lab/{__version__} (coding benchmarks as tasks) python-requests/{requests.__version__}"
MAX_ANSWER_BYTES = 128 << 20
MAX_REASON_BYTES = 16 << 10
MAX_REASON_CHARS = 200
PIECE_BYTES = 16 << 10  # small, because gzip can make a thousand times as much of it
MAX_REDIRECTS = 5
RETRIED_STATUSES = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
HIDDEN = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND})
NOT_READY = re.compile(r"NotReady|Cache", re.IGNORECASE)  # X-Error-Code of a 404 while the viewer's cache is rebuilt
RESET_S = re.compile(r"\b(?:t|reset)\s*=\s*([0-9]+)")  # of a RateLimit header, in the newer drafts and the older

LATER = "Try again later, or use rows that you have with --source"
NETWORK = "Check the network and LAB_DATASETS_SERVER, or use rows that you have with --source"
TOKEN = "Set HF_TOKEN to a token that may read it, or use rows that you have with --source"  # noqa: S105


@dataclasses.dataclass(frozen=True)
class Patience:
    """How long an answer is waited for, in seconds, and how often it is asked for again."""

    connect_s: float = 10.0
    read_s: float = 30.0
    """Between two pieces of an answer."""
    answer_s: float = 180.0
    """For one answer from the request to its last byte, redirects included."""
    attempts: int = 7
    unreached_attempts: int = 3
    """As long as the server has never answered: probably there is no network."""
    first_wait_s: float = 1.0
    longest_wait_s: float = 300.0
    """The Hub counts requests in windows of five minutes: https://huggingface.co/docs/hub/rate-limits"""
    sleep: Callable[[float], None] = time.sleep


class _Transient(Exception):
    """A fault that may pass; `wait_s` is what the server asked for."""

    def __init__(self, why: str, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.wait_s = wait_s


class Transport:
    """A session with one server. `subject` is what is fetched from it, for messages."""

    def __init__(
        self, server: str, token: str | None, *, subject: str, patience: Patience, say: Callable[[str], None]
    ) -> None:
        self._server = server
        self._origin = origin(server)
        self._token = token
        self._label = f"{subject} from {host(server)}"
        self._patience = patience
        self._say = say
        self._heard = False
        self._session = requests.Session()
        self._session.headers.update(
            {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "gzip"}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.close()

    def get(self, path: str, parameters: Mapping[str, str | int]) -> bytes:
        """The body of a 200 that is no web page. Raises LabError where there is none to be had."""
        url = f"{self._server}/{path}?{urlencode(parameters)}"
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._within_time(url)
            except _Transient as fault:
                most = self._patience.attempts if self._heard else self._patience.unreached_attempts
                if attempt >= most:
                    raise self.fault(f"{fault}, {attempt} times", LATER if self._heard else NETWORK) from fault
                wait_s = self._wait_s(attempt, fault)
                self._say(f"{self._label}: {fault}; trying again in {wait_s:.0f} s")
                self._patience.sleep(wait_s)

    def fault(self, why: str, fix: str = NETWORK) -> LabError:
        """An error that names what could not be fetched and from where."""
        return LabError(f"cannot fetch {self._label}: {why}", fix)

    def _wait_s(self, attempt: int, fault: _Transient) -> float:
        """Jittered, so that many clients do not come back at once, but never less than the server asked for."""
        if fault.wait_s is None:
            return self._patience.first_wait_s * (1 << attempt - 1) * random.uniform(0.5, 1)  # noqa: S311
        if fault.wait_s > self._patience.longest_wait_s:
            raise self.fault(f"{fault} and asks to wait {fault.wait_s:.0f} s", "Try again then, or use --source")
        return fault.wait_s * random.uniform(1, 1.1)  # noqa: S311

    def _within_time(self, url: str) -> bytes:
        """Run one exchange in a thread of its own: a server that trickles cannot be timed out any other way."""
        answer: Future[bytes] = Future()
        given_up = threading.Event()

        def exchange() -> None:
            try:
                answer.set_result(self._exchange(url, given_up))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the caller gets it
                answer.set_exception(error)

        threading.Thread(target=exchange, name="lab-fetch", daemon=True).start()
        try:
            return answer.result(self._patience.answer_s)
        except TimeoutError:
            raise self.fault(f"the answer took longer than {self._patience.answer_s:.0f} s", LATER) from None
        finally:
            given_up.set()

    def _exchange(self, url: str, given_up: threading.Event) -> bytes:
        try:
            for _ in range(MAX_REDIRECTS + 1):
                with self._session.get(
                    url,
                    auth=self._authorise,
                    timeout=(self._patience.connect_s, self._patience.read_s),
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    self._heard = True
                    if not response.is_redirect:
                        return self._body(response, given_up)
                    url = self._redirected(url, response.headers["Location"])
        except requests.exceptions.SSLError as error:
            raise self.fault(f"no secure connection: {plain(str(error))}") from error
        except requests.ReadTimeout as error:
            raise _Transient(f"it did not answer within {self._patience.read_s:.0f} s") from error
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            raise _Transient("the connection failed" if self._heard else "there is no connection") from error
        except (requests.RequestException, ValueError) as error:
            raise self.fault(f"the answer cannot be used: {plain(str(error))}") from error
        raise self.fault(f"it redirects more than {MAX_REDIRECTS} times")

    def _authorise(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Add the token for the configured server only. Being there at all, it also keeps ~/.netrc out."""
        if self._token and origin(request.url or "") == self._origin:
            request.headers["Authorization"] = f"Bearer {self._token}"
        return request

    def _redirected(self, url: str, location: str) -> str:
        target = urljoin(url, location)
        scheme = urlsplit(target).scheme
        if scheme not in {"http", "https"} or (scheme == "http" and urlsplit(url).scheme == "https"):
            raise self.fault(f"it redirects to {plain(target)}, which is not as safe as the server itself")
        return target

    def _body(self, response: requests.Response, given_up: threading.Event) -> bytes:
        status = response.status_code
        if _may_pass(response):
            raise _Transient(f"it answered {status}", asked_wait_s(status, response.headers))
        if status != HTTPStatus.OK:
            raise self.fault(f"it answered {status}{_reason(response)}", TOKEN if status in HIDDEN else NETWORK)
        if (encoding := response.headers.get("Content-Encoding", "identity").lower()) not in {"gzip", "identity"}:
            raise self.fault(f"the answer is encoded as {plain(encoding)}, which was not asked for")
        body = bytearray()
        for piece in response.iter_content(PIECE_BYTES):
            body += piece
            if given_up.is_set():
                break
            if len(body) > MAX_ANSWER_BYTES:
                raise self.fault(f"the answer is larger than {MAX_ANSWER_BYTES >> 20} MiB")
        if body.lstrip()[:1] == b"<":
            raise self.fault("it answered with a web page, not with rows")
        return bytes(body)


def _may_pass(response: requests.Response) -> bool:
    """Whether the same request may be answered a while later."""
    status = response.status_code
    not_ready = status == HTTPStatus.NOT_FOUND and NOT_READY.search(response.headers.get("X-Error-Code", ""))
    return status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in RETRIED_STATUSES or bool(not_ready)


def asked_wait_s(status: int, headers: Mapping[str, str]) -> float | None:
    """Seconds that Retry-After (a number or a date) asks to wait; of a 429 also RateLimit or RateLimit-Reset.

    The Hub sends RateLimit with every answer, where it says when the window ends and not how long to stay away.
    """
    after = headers.get("Retry-After", "").strip()
    if after:
        try:
            seconds = float(after)
        except ValueError:
            try:
                date = parsedate_to_datetime(after)
            except ValueError:
                return None
            seconds = ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    if status != HTTPStatus.TOO_MANY_REQUESTS:
        return None
    resets = RESET_S.findall(headers.get("RateLimit", "")) or re.findall(
        r"^[0-9]+$", headers.get("RateLimit-Reset", "")
    )
    return max(map(float, resets), default=None)


def _reason(response: requests.Response) -> str:
    """What the server says about its refusal, where it says so in JSON."""
    try:
        told = msgspec.json.decode(next(response.iter_content(MAX_REASON_BYTES), b""), type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return ""
    return f" ({plain(error)})" if isinstance(error := told.get("error"), str) else ""


def origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port: what a token is given to."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def host(url: str) -> str:
    """A server's name for messages, without a user name or password that its URL may hold."""
    return urlsplit(url).netloc.rpartition("@")[2]


def plain(text: str) -> str:
    """A stranger's text as one short line that cannot steer a terminal."""
    line = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return line if len(line) <= MAX_REASON_CHARS else f"{line[:MAX_REASON_CHARS]}..."
