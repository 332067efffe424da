from __future__ import annotations

import contextlib
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from lab.running import relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEADLINE_S = 20.0
CONNECTIONS = 60


class Upper(socketserver.StreamRequestHandler):
    """Answers only when all has come: whoever asks must end its half, and still hear."""

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # nobody listens any more
            self.wfile.write(self.rfile.read().upper())


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 100


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "socket"
    with Server(str(path), Upper) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield path
        finally:
            server.shutdown()
            thread.join()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def relay_line(path: Path, port: int, *argv: str) -> list[str]:
    return [sys.executable, "-I", "-S", relay.__file__, str(path), str(port), "--", *argv]


@contextlib.contextmanager
def relayed(path: Path) -> Iterator[int]:
    """A relay whose tool sleeps, and the port that it listens on."""
    port = free_port()
    with subprocess.Popen(relay_line(path, port, "sleep", "60"), start_new_session=True) as process:
        try:
            until = time.monotonic() + DEADLINE_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                except ConnectionRefusedError:
                    assert time.monotonic() < until
                    time.sleep(0.02)
            yield port
        finally:
            os.killpg(process.pid, 9)


def ask(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as line:
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
        answer = b""
        while piece := line.recv(1 << 16):
            answer += piece
        return answer


def test_many_connections_at_once_and_half_closed(upstream: Path) -> None:
    answers: dict[int, bytes] = {}
    with relayed(upstream) as port:

        def one(number: int) -> None:
            answers[number] = ask(port, f"line {number} ".encode() * 20_000)

        threads = [threading.Thread(target=one, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE_S)
    assert answers == {number: f"LINE {number} ".encode() * 20_000 for number in range(CONNECTIONS)}


def test_a_caller_that_goes_away_or_a_proxy_that_is_gone_ends_one_connection_only(
    upstream: Path, tmp_path: Path
) -> None:
    with relayed(upstream) as port:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port)) as line:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, no proper end
                line.sendall(b"half a requ")
        assert ask(port, b"still there") == b"STILL THERE"
        upstream.rename(tmp_path / "aside")
        # nothing is said: the proxy is not there to say it
        with contextlib.suppress(OSError):
            assert ask(port, b"anybody?") == b""
        (tmp_path / "aside").rename(upstream)
        assert ask(port, b"again") == b"AGAIN"


ENDS = [
    (["true"], 0, b"", b""),
    (["sh", "-c", "echo out; echo err >&2; exit 7"], 7, b"out\n", b"err\n"),
    (["sh", "-c", "kill -TERM $$"], 143, b"", b""),
    # the tool may end what it finds, but not what it was not to know of
    (["sh", "-c", "kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; echo here"], 0, b"here\n", b""),
    # and what the relay survives ends the tool, as it does everywhere
    (["sh", "-c", "kill -HUP $$; echo still here"], 129, b"", b""),
    (["no-such-program"], 127, b"", b"no-such-program could not be started: No such file or directory\n"),
    (["/"], 126, b"", b"/ could not be started: Permission denied\n"),
]


@pytest.mark.parametrize(("argv", "code", "out", "err"), ENDS)
def test_it_ends_as_the_tool_did_and_its_streams_are_the_tools(
    tmp_path: Path, argv: list[str], code: int, out: bytes, err: bytes
) -> None:
    line = relay_line(tmp_path / "none", free_port(), *argv)
    ended = subprocess.run(line, capture_output=True, timeout=DEADLINE_S, check=False, stdin=subprocess.DEVNULL)
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, out, err)
