from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.process import Completed, end, has_ended, run, spawn

if TYPE_CHECKING:
    from pathlib import Path

# starts a descendant that holds the outputs open, says its number, and goes on as the last argument says
WITH_DESCENDANT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True, file=open(sys.argv[2], 'w') if len(sys.argv) > 2 else sys.stdout)
time.sleep(float(sys.argv[1]))
"""


def python(code: str, *arguments: str, timeout_s: float | None = 60, **options: object) -> Completed:
    command = [sys.executable, "-I", "-S", "-c", code, *arguments]
    return run(command, env={}, cwd="/", timeout_s=timeout_s, **options)  # type: ignore[arg-type]


def is_gone(pid: int) -> bool:
    """Whether a process has ended; its new parent may be slow to reap it."""
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print('out'); import sys; print('err', file=sys.stderr)", Completed(0, b"out\n", b"err\n")),
        ("raise SystemExit(7)", Completed(7, b"", b"")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", Completed(-9, b"", b"")),
        ("import sys; print(sys.stdin.read())", Completed(0, b"\n", b"")),
        ("import os; os.close(1); os.close(2); import time; time.sleep(0.2)", Completed(0, b"", b"")),
        ("import os; print({n for n in os.environ if n != 'LC_CTYPE'})", Completed(0, b"set()\n", b"")),
        ("import os; print(sorted(map(int, os.listdir('/proc/self/fd')))[:-1])", Completed(0, b"[0, 1, 2]\n", b"")),
        ("import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())", Completed(0, b"True\n", b"")),
    ],
)
def test_what_a_process_leaves(code: str, expected: Completed) -> None:
    assert python(code) == expected


def test_stdin_larger_than_a_pipe_reaches_the_process() -> None:
    text = b"x" * 300_000
    assert python("import sys; print(len(sys.stdin.read()))", stdin=text).stdout == b"300000\n"


def test_the_last_bytes_of_the_output_are_kept() -> None:
    done = python("import sys; sys.stdout.write('a' * 5_000_000 + 'end')", max_output_bytes=1000)
    assert done.stdout == b"a" * 997 + b"end"


@pytest.mark.parametrize(("lives_s", "timed_out"), [("0", False), ("600", True)])
def test_no_descendant_outlives_the_call(lives_s: str, timed_out: bool) -> None:
    start = time.monotonic()
    done = python(WITH_DESCENDANT, lives_s, timeout_s=3 if timed_out else 60)
    assert time.monotonic() - start < 50
    assert done.timed_out is timed_out
    assert (done.code == 0) is not timed_out
    assert is_gone(int(done.stdout))


def test_a_process_that_never_stops_printing_ends_at_its_time() -> None:
    assert python("while True: print('x' * 1000)", timeout_s=0.5).timed_out


def test_an_interrupt_ends_the_group(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def interrupt() -> None:
        while not (note.exists() and note.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    try:
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            python(WITH_DESCENDANT, "600", str(note))
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert is_gone(int(note.read_text()))


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["/nonexistent/program"], "No such file"),
        (["/"], "Permission denied"),
        (["a\0b"], "could not be started"),
        (["true", "x" * 4_000_000], "Argument list too long"),
    ],
)
def test_what_cannot_be_started_is_an_error_of_one_line(argv: list[str], said: str) -> None:
    with pytest.raises(LabError, match=said) as caught:
        run(argv, env={"PATH": os.defpath}, cwd="/", timeout_s=10)
    assert "\n" not in str(caught.value)
    assert ("Install it" in caught.value.fix) is (said in {"No such file", "Permission denied"})


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="nowhere"):
        run(["true"], env={"PATH": os.defpath}, cwd=tmp_path / "nowhere", timeout_s=10)


def test_a_spawned_process_gets_its_descriptors_and_ends_with_its_group() -> None:
    reader, writer = os.pipe()
    code = f"import os, time; os.write({writer}, b'x'); time.sleep(600)"
    process = spawn([sys.executable, "-I", "-S", "-c", code], env={}, cwd="/", pass_fds=[writer])
    os.close(writer)
    assert os.read(reader, 1) == b"x"
    assert not has_ended(process)
    assert end(process) == -signal.SIGKILL
    assert end(process) == -signal.SIGKILL
    assert has_ended(process)
    assert os.read(reader, 1) == b""
    os.close(reader)
