"""The host side: runs the hidden test, and sends each call of the function under test to the candidate's process.

A process of its own, contained like the candidate, since test text comes from upstream. It imports numpy once and
forks: once a task, to parse its test once for all samples, and once a sample, so that nothing of one sample's
values is left for the next.
"""

from __future__ import annotations

import _socket
import gc
import marshal
import os
import resource
import sys
import time
from mmap import mmap
from struct import Struct

from lab.grading import codec, wire
from lab.grading.show import show_call, show_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ast import Module
    from types import CodeType
    from typing import Any

PROGRESS = Struct("<Q")
PROGRESS_BYTES = 4096
SIZE = Struct("<Q")
INT = Struct("i")
SCALARS = frozenset((type(None), bool, int, float, complex, str, bytes))
CONTAINERS = frozenset((tuple, list, set, frozenset))
SIGKILL = 9
"""Like the signal module's, whose import would cost a millisecond of every check.sh."""
MAX_MESSAGE_BYTES = 1 << 16
DESCRIPTORS = 2
MEMORY_BYTES = 16 << 30
"""Address space of a judge: the largest hidden test, with its data twice, needs a third of it."""
CANDIDATE_ENDED = "ended"
FAILED = frozenset(("wrong", "error", CANDIDATE_ENDED, "judge"))
NOT_STARTED = "not-started"


class CandidateFailed(BaseException):
    """The candidate gave no value for a call. Not an Exception: a test's own handlers must not see it."""

    def __init__(self, status: str, reason: str, *, ends_test: bool = True) -> None:
        self.status = status
        self.reason = reason
        self.ends_test = ends_test


class Control:
    """The judge's end of a socket to the supervisor: framed marshal messages, descriptors with some of them."""

    def __init__(self, descriptor: int) -> None:
        self.socket = _socket.socket(fileno=descriptor)

    def receive(self) -> tuple[dict[str, Any] | None, list[int]]:
        """The next message and the descriptors that came with it; None at the end."""
        room = _socket.CMSG_SPACE(DESCRIPTORS * 4)
        head, ancillary, _, _ = self.socket.recvmsg(SIZE.size, room)
        descriptors = [number for _, _, data in ancillary for (number,) in INT.iter_unpack(data)]
        while head and len(head) < SIZE.size:
            head += self.socket.recv(SIZE.size - len(head))
        if not head:
            return None, []
        (size,) = SIZE.unpack(head)
        body = bytearray(size)
        view = memoryview(body)
        while view:
            got = self.socket.recv_into(view)
            if not got:
                return None, []
            view = view[got:]
        return marshal.loads(body), descriptors  # noqa: S302 - the supervisor wrote it

    def send(self, message: dict[str, Any]) -> None:
        """Say something to the supervisor, by the codec: a hostile test may write to this socket as well."""
        body = codec.encode(message, MAX_MESSAGE_BYTES)
        self.socket.sendall(SIZE.pack(len(body)) + body)

    def close(self) -> None:
        self.socket.close()


def serve(control_descriptor: int, progress_descriptor: int, site_packages: str, *, warm: bool, alone: bool) -> None:
    """Judge task after task until the supervisor hangs up.

    `alone` says that this process has a process namespace to itself, and may end all others in it.
    """
    control = Control(control_descriptor)
    progress = mmap(progress_descriptor, PROGRESS_BYTES)
    sys.path.append(site_packages)
    broken = _prepare_numpy(site_packages, warm=warm)
    if warm:
        _hide()
    while True:
        task, descriptors = control.receive()
        if task is None or not descriptors:
            return
        child = os.fork()
        if child == 0:
            # a hostile test must not hold what the next task, with its candidate, comes by
            control.close()
            _serve_task(Control(descriptors[0]), progress, task | {"site_packages": site_packages}, broken)
            os._exit(0)
        os.close(descriptors[0])
        _, status = os.waitpid(child, 0)
        if alone:
            _sweep()
        control.send({"kind": "task-done", "status": status})


def _prepare_numpy(site_packages: str, *, warm: bool) -> str | None:
    """Import numpy, at once or when the test first touches it; the reason where the venv's is broken."""
    if not _has_numpy(site_packages):
        return None
    if not warm:
        sys.modules["numpy"] = LateNumpy("numpy")
        return None
    broken = _broken_numpy()
    gc.collect()
    gc.freeze()
    return broken


def _has_numpy(site_packages: str) -> bool:
    return os.path.isdir(os.path.join(site_packages, "numpy"))


def _broken_numpy() -> str | None:
    try:
        from numpy import asarray  # noqa: F401, PLC0415 - a name, for the module alone may be the late one
    except Exception as error:  # noqa: BLE001 - whatever a damaged package raises
        return f"numpy of the grading venv cannot be imported: {type(error).__name__}: {error}"
    return None


class NoArray:
    """Stands for the types of arrays and scalars while numpy is not imported: until then nothing can be one."""


class LateNumpy(type(sys)):  # type: ignore[misc]
    """numpy, imported when more of it is asked for than whether a value is an array: most of a check.sh's time."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get("numpy") is self:
            if name in {"ndarray", "generic"}:
                return NoArray
            del sys.modules["numpy"]
        import numpy as np  # noqa: PLC0415

        return getattr(np, name)


def _hide() -> None:
    """Make this process and its forks untraceable, so that a hostile test cannot write into the one that waits."""
    try:
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (ImportError, OSError, AttributeError):  # no libffi, or no Linux: one line of defence fewer
        return


def _sweep() -> None:
    """In a namespace of its own: end whatever a test left behind."""
    try:
        os.kill(-1, SIGKILL)
    except ProcessLookupError:
        return


def _serve_task(control: Control, progress: mmap, task: dict[str, Any], broken: str | None) -> None:
    """Parse the test once, then judge sample after sample in forks."""
    gc.disable()
    code: CodeType | None = None
    if broken is None:
        try:
            code = compile(_program(task), "hidden_test.py", "exec", dont_inherit=True)
        except Exception as error:  # noqa: BLE001 - a MemoryError, a RecursionError, a SyntaxError
            broken = f"the hidden test cannot be parsed: {type(error).__name__}: {error}"
    gc.freeze()
    while True:
        sample, descriptors = control.receive()
        if sample is None or not descriptors:
            return
        if sample["last"]:
            # nothing follows, so nothing needs this process clean
            _judge(control, progress, task | sample, descriptors, code or broken)
            return
        child = os.fork()
        if child == 0:
            _judge(control, progress, task | sample, descriptors, code or broken)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        control.send({"kind": "sample-done", "status": status})


def _program(task: dict[str, Any]) -> bytes | Module:
    """What to compile: the test as it is, or one that goes on after a failing case."""
    if not task["all_cases"]:
        test: bytes = task["test"]
        return test
    from lab.grading.all_cases import going_on  # noqa: PLC0415 - it imports ast, which a check.sh has no use for

    return going_on(task["test"], task["entry_point"])


def _judge(
    control: Control,
    progress: mmap,
    order: dict[str, Any],
    descriptors: list[int],
    code: CodeType | str | None,
) -> None:
    """Judge one candidate's process, and say an outcome for each text that it runs; a text as `code` is why not."""
    _limit(order["judge_cpu_s"])
    for index in range(order["count"]):
        if code is None or isinstance(code, str):
            outcome: dict[str, Any] = {"status": "judge", "reason": code}
        else:
            proxy = Proxy(descriptors, progress, order["value_bytes"], order["cpu_s"], order["core"], first=index == 0)
            run = run_all_cases if order["all_cases"] else run_test
            outcome = run(code, order["entry_point"], proxy, order["cases"]) | proxy.seen()
            if outcome["status"] in FAILED and _has_numpy(order["site_packages"]) and (why := _broken_numpy()):
                # never the candidate's fault, and its own import of it has failed as well
                outcome |= {"status": "infra", "reason": why}
        control.send({"kind": "outcome", **outcome})


def _limit(cpu_s: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def _limit_cpu_from_here(cpu_s: float) -> None:
    """Lower the limit to what was used until now and `cpu_s` more."""
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(time.process_time() + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))


def _is_plain(value: Any) -> bool:
    """Whether marshal writes a value as what it is: of an array or a bytearray it would write the bytes."""
    kind = type(value)
    if kind in SCALARS:
        return True
    if kind is dict:
        return _is_plain(list(value)) and _is_plain(list(value.values()))
    return kind in CONTAINERS and (SCALARS.issuperset(map(type, value)) or all(map(_is_plain, value)))


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
        if _is_plain((arguments, keywords)):
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
        except wire.Ended as error:
            if "more than may cross" in str(error):
                raise CandidateFailed("wrong", "returned more than may cross") from None
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


def run_all_cases(code: CodeType, entry_point: str, proxy: Proxy, cases: int) -> dict[str, Any]:
    """Like `run_test`, for a test that goes on after a failing case and says so."""
    from lab.grading.all_cases import NOTE, Failures  # noqa: PLC0415

    failures = Failures(lambda error: _failure(entry_point, proxy, error), lambda: proxy.calls)
    return failures.decide(run_test(code, entry_point, proxy, cases, {NOTE: failures.note}))


def run_test(
    code: CodeType, entry_point: str, proxy: Proxy, cases: int, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Execute the hidden test against the proxy. `cases` is how many calls it must make, 0 where that is unknown.

    `names` are what it finds beside the function under test.

    Status `judge` means that the host side failed, `ended` that the candidate's process did.
    """
    namespace = {"__name__": "hidden_test", entry_point: proxy, **(names or {})}
    try:
        proxy.load()
        exec(code, namespace)  # noqa: S102 - the hidden test is what this process exists to run
    except BaseException as error:  # noqa: BLE001 - an assertion, or a comparison the value cannot stand
        return _failure(entry_point, proxy, error)
    if proxy.calls == 0 or (cases and proxy.calls != cases):
        return {"status": "judge", "reason": f"the hidden test made {proxy.calls} calls, not {cases or 'any'}"}
    return {"status": "pass", "reason": f"{proxy.calls} of {proxy.calls} cases agreed"}


def _failure(entry_point: str, proxy: Proxy, error: BaseException) -> dict[str, Any]:
    """What an exception says that ended a test, or one of its cases."""
    if isinstance(error, CandidateFailed):
        return {"status": error.status, "reason": error.reason, **_case(entry_point, proxy, None)}
    if isinstance(error, MemoryError):
        return {"status": "judge", "reason": "the hidden test ran out of memory"}
    return _refused(entry_point, proxy, error)


def _refused(entry_point: str, proxy: Proxy, error: BaseException) -> dict[str, Any]:
    """What the test's own exception says: of the candidate's value, once it gave one."""
    if not proxy.answered:
        return {"status": "judge", "reason": f"the hidden test failed by itself: {_error(error)}"}
    case = _case(entry_point, proxy, error)
    reason = f"returned {case['returned']}"
    if not isinstance(error, AssertionError):
        reason += f", which cannot be compared ({_error(error)})"
    return {"status": "wrong", "reason": reason, **case}


def _case(entry_point: str, proxy: Proxy, error: BaseException | None) -> dict[str, Any]:
    """The failing case as text: the call, what it returned, what the test expected."""
    if not proxy.calls:
        return {}
    expected = None
    traceback = error.__traceback__ if error is not None else None
    while traceback is not None:
        if "exp" in traceback.tb_frame.f_locals:
            expected = show_value(traceback.tb_frame.f_locals["exp"])
        traceback = traceback.tb_next
    return {
        "call": show_call(entry_point, proxy.arguments, proxy.keywords),
        "returned": show_value(proxy.value) if proxy.answered else None,
        "expected": expected,
    }


def _error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def _text(body: memoryview) -> str:
    return bytes(body[:4096]).decode("utf-8", "replace")
