"""The function under test, as the hidden test sees it: every call goes to the candidate's process."""

from __future__ import annotations

import marshal
import os
import resource
import sys
import time

from lab.grading import codec, wire
from lab.grading.control import PROGRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mmap import mmap
    from typing import Any

SCALARS = frozenset((type(None), bool, int, float, complex, str, bytes))
CONTAINERS = frozenset((tuple, list, set, frozenset))
CANDIDATE_ENDED = "ended"
NOT_STARTED = "not-started"


class CandidateFailed(BaseException):
    """The candidate gave no value for a call. Not an Exception: a test's own handlers must not see it."""

    def __init__(self, status: str, reason: str, *, ends_test: bool = True) -> None:
        self.status = status
        self.reason = reason
        self.ends_test = ends_test


class Proxy:
    """The function under test, as the hidden test sees it."""

    def __init__(
        self, descriptors: list[int], progress: mmap, cap: int, cpu_s: float, core: int | None, *, first: bool
    ) -> None:
        self.write, self.read = descriptors
        self.core = core
        self.first = first
        self.progress = progress
        self.cap = cap
        self.cpu_s = cpu_s
        self.calls = 0
        self.loaded = False
        self.answered = False
        self.arguments: tuple[Any, ...] = ()
        self.keywords: dict[str, Any] = {}
        self.value: Any = None
        self.case_cpu_ns = 0
        self.largest_bytes = 0
        self._mark(busy=True)

    def _mark(self, *, busy: bool) -> None:
        """Tell the supervisor, which watches the clocks, whose turn it is and which case runs."""
        self.progress[: PROGRESS.size] = PROGRESS.pack(2 * self.calls + busy)

    def load(self) -> None:
        """Wait until solution.py is imported; raises CandidateFailed where it cannot be."""
        if not self.first:
            self._ask_for_next()
        elif os.read(self.read, 1) != wire.BOOTED:
            raise CandidateFailed(NOT_STARTED, "the candidate's process could not be started")
        kind, body = self._receive()
        self._mark(busy=False)
        if kind == wire.UNLOADABLE:
            raise CandidateFailed("error", f"solution.py cannot be used: {_text(body)}")
        if kind == wire.NO_MEMORY:
            raise CandidateFailed("memory", "over its memory limit while solution.py was imported")
        if kind != wire.READY:
            raise CandidateFailed("error", "it spoke out of turn")
        self.loaded = True
        wire.stay_on(self.core)

    def _ask_for_next(self) -> None:
        """Have the candidate's process load the next of lab's own texts."""
        try:
            wire.send(self.write, wire.NEXT)
        except OSError:
            return  # it is gone: waiting for its answer will tell

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        self.arguments, self.keywords = arguments, keywords
        self.answered = False
        if is_plain((arguments, keywords)):
            kind, body = wire.CALL, marshal.dumps((arguments, keywords))
        else:
            kind, body = wire.CALL_CODED, codec.encode((arguments, keywords), sys.maxsize)
        if self.calls == 0:
            # what is computed from now on is computed on values that the candidate chose
            _limit_cpu_from_here(self.cpu_s)
        self.calls += 1
        self._mark(busy=True)
        try:
            wire.send(self.write, kind, body)
        except OSError:
            raise CandidateFailed(CANDIDATE_ENDED, "its process ended") from None
        answer, view = self._receive()
        self._mark(busy=False)
        if answer == wire.VALUE and len(view) >= wire.CPU.size:
            return self._take(view)
        if answer == wire.RAISED:
            raise CandidateFailed("error", f"raised {_text(view)}", ends_test=False)
        if answer == wire.NO_MEMORY:
            raise CandidateFailed("memory", "over its memory limit")
        if answer == wire.OVER_CAPS:
            raise CandidateFailed("wrong", f"returned more than may cross: {_text(view)}")
        raise CandidateFailed("error", "its process sent what is no answer")

    def _receive(self) -> tuple[bytes, memoryview]:
        try:
            return wire.receive(self.read, self.cap + wire.CPU.size)
        except wire.TooLong:
            raise CandidateFailed("wrong", "returned more than may cross") from None
        except wire.Ended as error:
            raise CandidateFailed(CANDIDATE_ENDED, str(error)) from None

    def _take(self, view: memoryview) -> Any:
        (cpu_ns,) = wire.CPU.unpack_from(view)
        self.case_cpu_ns = max(self.case_cpu_ns, cpu_ns)
        size = len(view) - wire.CPU.size
        try:
            value = codec.decode(view[wire.CPU.size :], self.cap)
        except codec.TooLarge as error:
            raise CandidateFailed("wrong", f"returned more than may cross: {error}") from None
        except codec.Malformed as error:
            raise CandidateFailed("error", f"its process sent what is no value: {error}") from None
        self.largest_bytes = max(self.largest_bytes, size)
        self.value, self.answered = value, True
        return value

    def seen(self) -> dict[str, Any]:
        """What the supervisor records of this sample."""
        return {
            "calls": self.calls,
            "case_cpu_ns": self.case_cpu_ns,
            "largest_bytes": self.largest_bytes,
        }


def is_plain(value: Any) -> bool:
    """Whether marshal writes a value as what it is: of an array or a bytearray it would write the bytes."""
    kind = type(value)
    if kind in SCALARS:
        return True
    if kind is dict:
        return is_plain(list(value)) and is_plain(list(value.values()))
    return kind in CONTAINERS and (SCALARS.issuperset(map(type, value)) or all(map(is_plain, value)))


def _limit_cpu_from_here(cpu_s: float) -> None:
    """Lower the limit to what was used until now and `cpu_s` more."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(time.process_time() + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _text(body: memoryview) -> str:
    return bytes(body[:4096]).decode("utf-8", "replace")
