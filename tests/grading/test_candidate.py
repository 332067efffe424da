"""The candidate's side alone: a real process, spoken to over its pipes as the judge does."""

from __future__ import annotations

import dataclasses
import marshal
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import lab
from lab.grading import codec, wire
from lab.grading.sandbox import BOOT_CANDIDATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PACKAGE = str(Path(lab.__file__).parents[1])
CAP = 1 << 16
READY = (wire.READY, b"")


@dataclasses.dataclass
class Talk:
    """A candidate's process, and the judge's ends of its pipes."""

    process: subprocess.Popen[bytes]
    read: int
    write: int

    def hear(self) -> tuple[bytes, bytes]:
        kind, body = wire.receive(self.read, CAP + 100)
        return kind, bytes(body)

    def call(self, *arguments: Any, **keywords: Any) -> tuple[bytes, Any]:
        """Ask for one call; the value where it is one, else the text."""
        wire.send(self.write, wire.CALL, marshal.dumps((arguments, keywords)))
        return self.answer()

    def answer(self) -> tuple[bytes, Any]:
        kind, body = self.hear()
        if kind == wire.VALUE:
            return kind, codec.decode(body[wire.CPU.size :], CAP)
        return kind, body.decode()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Talk]]:
    talks: list[Talk] = []

    def go(*sources: str, files: dict[str, str] | None = None, cap: int = CAP, **more: Any) -> Talk:
        inner_read, write = os.pipe()
        read, inner_write = os.pipe()
        payload = os.memfd_create("work")
        scratch = tmp_path / f"scratch{len(talks)}"
        scratch.mkdir()
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", BOOT_CANDIDATE, PACKAGE, *map(str, (inner_read, inner_write, payload))],
            pass_fds=(inner_read, inner_write, payload),
            cwd=scratch,
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        helpers = {name: text.encode() for name, text in (files or {}).items()}
        os.write(
            payload,
            marshal.dumps(
                {
                    "works": [{"solution.py": source.encode(), **helpers} for source in sources],
                    "entry_point": "f",
                    "paths": [],
                    "cpu_s": 5,
                    "memory_bytes": 1 << 30,
                    "file_bytes": 1 << 20,
                    "tasks": 100_000,
                    "value_bytes": cap,
                    "core": None,
                }
                | more
            ),
        )
        for descriptor in (inner_read, inner_write, payload):
            os.close(descriptor)
        assert os.read(read, 1) == wire.BOOTED
        talks.append(Talk(process, read, write))
        os.write(write, b"g")
        return talks[-1]

    yield go
    for talk in talks:
        for descriptor in (talk.read, talk.write):
            os.close(descriptor)
        talk.process.communicate(timeout=60)


def test_calls_are_answered_until_the_judge_hangs_up(start: Callable[..., Talk]) -> None:
    talk = start("def f(*a, **k):\n    return a, k\n")
    assert talk.hear() == READY
    assert talk.call(1, "a", key=[2.5]) == (wire.VALUE, ((1, "a"), {"key": [2.5]}))
    assert talk.call() == (wire.VALUE, ((), {}))
    wire.send(talk.write, wire.CALL_CODED, codec.encode(((bytearray(b"x"),), {}), CAP))
    assert talk.answer() == (wire.VALUE, ((bytearray(b"x"),), {}))


def test_nothing_said_means_nothing_run(start: Callable[..., Talk], tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-c", BOOT_CANDIDATE, PACKAGE]
    read, write = os.pipe()
    heard, say = os.pipe()
    process = subprocess.Popen([*command, str(read), str(say), "0"], pass_fds=(read, say), stdin=subprocess.DEVNULL)
    os.close(read)
    os.close(say)
    os.close(write)  # the judge's end goes without a word
    assert process.wait(60) == 0
    assert os.read(heard, 10) == wire.BOOTED
    os.close(heard)


UNLOADABLE: dict[str, tuple[str, str]] = {
    "no function": ("x = 1", "LookupError: solution.py defines no function named f"),
    "no callable": ("f = 1", "LookupError: solution.py defines something that cannot be called named f"),
    "None": ("f = None", "defines no function"),
    "a syntax error": ("def f(:", "SyntaxError: "),
    "raises": ("1\n1 / 0\n", "ZeroDivisionError: division by zero (solution.py, line 2)"),
    "raises in a call": ("def g():\n    raise OSError('x')\ng()\n", "OSError: x (solution.py, line 2)"),
    "exits": ("import sys\nsys.exit(0)", "SystemExit: 0"),
    "exit()": ("exit()", "SystemExit:  (solution.py, line 1)"),
    "quit()": ("quit(0)", "SystemExit: 0"),
    "is interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
    "reads input": ("input()", "EOFError"),
    "raises the unshowable": (
        "class E(Exception):\n    def __str__(self):\n        raise E\nraise E",
        "an exception that cannot be shown (solution.py, line 4)",
    ),
    "raises without end": ("raise ValueError('x' * 10**6)", "x" * 1000),
    "a null byte": ("\0", "source code string cannot contain null bytes"),
}


@pytest.mark.parametrize("name", UNLOADABLE)
def test_what_cannot_be_loaded_says_why(start: Callable[..., Talk], name: str) -> None:
    source, why = UNLOADABLE[name]
    talk = start(source)
    kind, body = talk.hear()
    assert kind == wire.UNLOADABLE
    assert why in body.decode()
    assert len(body) < 2100
    assert talk.process.wait(60) == 0


RAISED: dict[str, tuple[str, str]] = {
    "raises": ("raise ValueError(x)", "ValueError: 7 (solution.py, line 2)"),
    "exits": ("raise SystemExit(0)", "SystemExit: 0 (solution.py, line 2)"),
    "is interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt:  (solution.py, line 2)"),
    "recurses": ("return f(x)", "RecursionError: maximum recursion depth exceeded"),
    "a hostile iterator": ("return (1 / 0 for _ in 'a')", "ZeroDivisionError: division by zero (solution.py, line 2)"),
    "too few arguments": ("return (lambda: 1)(x)", "TypeError: "),
    "a surrogate": ("raise ValueError('\\ud800')", "ValueError: \\ud800"),
    "a group": ("raise ExceptionGroup('x', [OSError()])", "ExceptionGroup: x (1 sub-exception)"),
}


@pytest.mark.parametrize("name", RAISED)
def test_what_a_call_raises_is_said_and_the_next_is_answered(start: Callable[..., Talk], name: str) -> None:
    body, why = RAISED[name]
    talk = start(f"def f(x):\n    if x: {body}\n    return x\n")
    assert talk.hear() == READY
    kind, text = talk.call(7)
    assert (kind, text.startswith(why)) == (wire.RAISED, True), text
    assert talk.call(0) == (wire.VALUE, 0)


def test_more_than_may_cross_is_said(start: Callable[..., Talk]) -> None:
    talk = start("def f(n):\n    return 'x' * n\n")
    assert talk.hear() == READY
    assert talk.call(CAP + 1) == (wire.OVER_CAPS, "the value is too large")
    assert talk.call(3) == (wire.VALUE, "xxx")


def test_out_of_memory_is_said(start: Callable[..., Talk]) -> None:
    talk = start("def f(n):\n    return len(bytearray(n))\n")
    assert talk.hear() == READY
    assert talk.call(2 << 30) == (wire.NO_MEMORY, "")
    assert talk.call(3) == (wire.VALUE, 3)
    talk = start("held = bytearray(2 << 30)")
    assert talk.hear() == (wire.NO_MEMORY, b"")


def test_the_next_text_starts_anew(start: Callable[..., Talk]) -> None:
    talk = start("state = [1]\ndef f():\n    return state\n", "def f():\n    return globals().get('state')\n")
    assert talk.hear() == READY
    assert talk.call() == (wire.VALUE, [1])
    wire.send(talk.write, wire.NEXT)
    assert talk.hear() == READY
    assert talk.call() == (wire.VALUE, None)
    wire.send(talk.write, wire.NEXT)
    assert talk.process.wait(60) == 0


SEEN = """
import os, sys
def f():
    return {
        "argv": sys.argv, "name": __name__, "file": os.path.basename(__file__), "cwd": sys.path[0] == os.getcwd(),
        "lab": [n for n in sys.modules if n.split(".")[0] == "lab"], "stdin": sys.stdin.read(),
        "module": sys.modules["solution"].f is f, "main": "__main__" in str(sys.modules["__main__"]),
        "open": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
    }
"""


def test_what_a_solution_finds_around_it(start: Callable[..., Talk]) -> None:
    talk = start(SEEN)
    assert talk.hear() == READY
    _, seen = talk.call()
    descriptors = seen.pop("open")
    assert seen == {
        "argv": ["solution.py"],
        "name": "solution",
        "file": "solution.py",
        "cwd": True,
        "lab": [],
        "stdin": "",
        "module": True,
        "main": True,
    }
    assert len(descriptors) <= 3 + 2 + 1  # standard ones, two pipes, and the listing's own


def test_the_block_for_scripts_does_not_run(start: Callable[..., Talk]) -> None:
    talk = start("def f():\n    return 1\nif __name__ == '__main__':\n    import sys\n    sys.exit(input())\n")
    assert talk.hear() == READY


HELPERS = {"codec.py": "NAME = 'own'", "lab/__init__.py": "NAME = 'lab'", "pkg/__init__.py": "", "pkg/b.py": "B = 2"}


def test_helpers_are_found_also_under_the_names_of_ours(start: Callable[..., Talk]) -> None:
    source = "import codec, lab\nfrom pkg.b import B\ndef f():\n    return codec.NAME, lab.NAME, B\n"
    talk = start(source, files=HELPERS)
    assert talk.hear() == READY
    assert talk.call() == (wire.VALUE, ("own", "lab", 2))


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("\ufeffdef f():\n    return 'é'", "é"),
        ("def f():\r\n    return '''a\r\nb'''\r\n", "a\nb"),
        ("def f(): return 1", 1),
        ("from __future__ import annotations\ndef f(x: Nothing = 1): return f.__annotations__", {"x": "Nothing"}),
        ("def f(x: int = 1): return f.__annotations__['x'] is int", True),
        ("class F:\n    def __call__(self): return 2\nf = F()", 2),
        ("f = lambda: 3", 3),
    ],
)
def test_texts_as_agents_leave_them(start: Callable[..., Talk], source: str, value: Any) -> None:
    talk = start(source)
    assert talk.hear() == READY
    assert talk.call() == (wire.VALUE, value)


def test_the_clock_of_a_call_is_its_cpu_time(start: Callable[..., Talk]) -> None:
    talk = start("import time\ndef f():\n    while time.process_time() < 0.3: pass\n")
    assert talk.hear() == READY
    wire.send(talk.write, wire.CALL, marshal.dumps(((), {})))
    _, body = talk.hear()
    (cpu_ns,) = wire.CPU.unpack_from(body)
    assert 150_000_000 <= cpu_ns < 3_000_000_000


def test_cpu_time_ends_at_the_limit_also_without_anybody_who_looks(start: Callable[..., Talk]) -> None:
    talk = start("def f():\n    while True: pass\n", cpu_s=0)
    assert talk.hear() == READY
    wire.send(talk.write, wire.CALL, marshal.dumps(((), {})))
    assert talk.process.wait(60) in {-signal.SIGXCPU, -signal.SIGKILL}


def test_a_file_over_the_limit_cannot_be_written(start: Callable[..., Talk]) -> None:
    source = "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    talk = start(f"{source}def f():\n    open('big', 'wb').write(bytes(2 << 20))\n")
    assert talk.hear() == READY
    kind, text = talk.call()
    assert (kind, "File too large" in text) == (wire.RAISED, True)
