"""The process of the candidate: loads solution.py and answers calls. Nothing of the hidden test is ever in here.

Only this file, codec/ and wire.py run beside the candidate. Whatever it does to them, it can but send bytes, and
the host takes those as answers, never as verdicts.
"""

from __future__ import annotations

import marshal
import os
import resource
import sys
import time

from lab.grading import codec, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType, TracebackType
    from typing import Any

MAX_TEXT = 2000
CPU_SLACK_S = 2
MAX_OPEN_FILES = 1024


def main(read_descriptor: int, write_descriptor: int, payload_descriptor: int, *entrances: int) -> None:
    """Enter the control group, wait for the word to go, read the payload, load, answer until the judge hangs up."""
    for entrance in entrances:
        _enter(entrance)
    os.write(write_descriptor, wire.BOOTED)
    if not os.read(read_descriptor, 1):
        return
    size = os.fstat(payload_descriptor).st_size
    payload = marshal.loads(os.pread(payload_descriptor, size, 0))  # noqa: S302 - the host wrote it
    os.close(payload_descriptor)
    _limit(payload)
    for name in [name for name in sys.modules if name.partition(".")[0] == "lab"]:
        # a solution's own codec.py or lab/ must be found, not ours
        del sys.modules[name]
    sys.path[:] = [os.getcwd(), *sys.path[1:], *payload["paths"]]
    sys.argv = ["solution.py"]
    _restore_site_builtins()
    texts = iter(payload["works"])
    channel = _Channel(read_descriptor, write_descriptor, payload["value_bytes"])
    while (files := next(texts, None)) is not None:
        function = channel.load(files, payload["entry_point"])
        wire.stay_on(payload["core"])
        while channel.answer(function):
            pass


def _enter(entrance: int) -> None:
    try:
        os.write(entrance, b"0")
    except OSError:  # refused after all: then this process is watched, as where there are no control groups
        return
    finally:
        os.close(entrance)


def _limit(payload: Mapping[str, Any]) -> None:
    cpu_s = int(payload["cpu_s"]) + CPU_SLACK_S
    for what, value in (
        (resource.RLIMIT_AS, payload["memory_bytes"]),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_FSIZE, payload["file_bytes"]),
        (resource.RLIMIT_NPROC, payload["tasks"]),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (limit, limit))


def _restore_site_builtins() -> None:
    """`exit` and `quit`, which the site module would have brought, had it been worth its 20 ms."""
    import builtins  # noqa: PLC0415

    builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]


class _Channel:
    """The candidate's end of the pipes."""

    def __init__(self, read: int, write: int, cap: int) -> None:
        self.read, self.write, self.cap = read, write, cap

    def load(self, files: Mapping[str, bytes], entry_point: str) -> Callable[..., Any]:
        """Import solution.py as a module and answer READY, or why not."""
        try:
            for name, data in files.items():
                folder = os.path.dirname(name)
                if folder:
                    os.makedirs(folder, exist_ok=True)
                with open(name, "wb") as out:
                    out.write(data)
            path = os.path.abspath("solution.py")
            module = type(sys)("solution")
            module.__file__ = path
            sys.modules["solution"] = module
            exec(compile(files["solution.py"], path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
            function = _entry_point(module, entry_point)
        except MemoryError:
            wire.send(self.write, wire.NO_MEMORY)
            raise SystemExit from None
        except BaseException as error:  # noqa: BLE001 - a candidate may raise anything
            wire.send(self.write, wire.UNLOADABLE, describe(error))
            raise SystemExit from None
        wire.send(self.write, wire.READY)
        return function

    def answer(self, function: Callable[..., Any]) -> bool:
        """Answer one call; False where the judge wants the next text."""
        kind, body = wire.receive(self.read, sys.maxsize)
        if kind == wire.NEXT:
            return False
        if kind == wire.CALL:
            arguments, keywords = marshal.loads(body)  # noqa: S302 - the host wrote it
        else:
            arguments, keywords = codec.decode(body, sys.maxsize)
        start = time.process_time_ns()
        try:
            data = codec.encode(function(*arguments, **keywords), self.cap)
        except codec.TooLarge as error:
            wire.send(self.write, wire.OVER_CAPS, str(error).encode())
        except MemoryError:
            wire.send(self.write, wire.NO_MEMORY)
        except BaseException as error:  # noqa: BLE001 - a candidate may raise anything
            wire.send(self.write, wire.RAISED, describe(error))
        else:
            wire.send(self.write, wire.VALUE, wire.CPU.pack(time.process_time_ns() - start), data)
        return True


def _entry_point(module: ModuleType, name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(module, name, None)
    if not callable(function):
        found = "no function" if function is None else "something that cannot be called"
        raise LookupError(f"solution.py defines {found} named {name}")  # noqa: TRY004 - it says what to look for
    return function


def describe(error: BaseException) -> bytes:
    """`ValueError: text (solution.py, line 7)`, whatever the exception's own methods do."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - its __str__ is the candidate's too
        text = "an exception that cannot be shown"
    line = _line(error.__traceback__)
    if line and not isinstance(error, SyntaxError):
        text = f"{text[:MAX_TEXT]} (solution.py, line {line})"
    return text[: MAX_TEXT + 40].encode("utf-8", "backslashreplace")


def _line(traceback: TracebackType | None) -> int:
    line = 0
    while traceback is not None:
        if os.path.basename(traceback.tb_frame.f_code.co_filename) == "solution.py":
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
