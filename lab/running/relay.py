"""The way out of an agent's sandbox: from a port on its own loopback to the Unix socket of the recording proxy.

A program of its own that is copied into the sandbox, so the standard library only and nothing of lab:
`python -I -S relay.py SOCKET PORT -- TOOL [ARGUMENT ...]` listens, starts the tool, and ends with it: its exit code, or
128 and the number of the signal that ended it. It passes bytes and looks at none, and prints nothing while the tool
runs: the streams are the tool's.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time

PIECE_BYTES = 1 << 16
BACKLOG = 256
CALM_S = 0.05
STACK_BYTES = 256 << 10
CANNOT_RUN, NOT_FOUND = 126, 127
"""Exit codes of a shell for a program that it cannot start."""
SURVIVED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""Agents end their servers with kill -1 or pkill python: the relay is not meant."""


def listen(port: int) -> list[socket.socket]:
    """Listeners on the sandbox's loopback, of version 6 too where it has that."""
    listeners = []
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            listener = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listener.bind((host, port))
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            if family == socket.AF_INET:
                raise
            continue
        listeners.append(listener)
    return listeners


def serve(listener: socket.socket, path: str) -> None:
    """Pass on every connection, for ever."""
    while True:
        try:
            inner, _ = listener.accept()
        except OSError:  # out of descriptors, or the caller was gone already
            time.sleep(CALM_S)
            continue
        try:
            threading.Thread(target=connect, args=(inner, path), daemon=True).start()
        except RuntimeError:  # out of threads
            inner.close()


def connect(inner: socket.socket, path: str) -> None:
    """Pass bytes both ways between a connection and a new one to the proxy, until both directions have ended."""
    with inner, contextlib.suppress(OSError, RuntimeError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as outer:
        with contextlib.suppress(OSError):
            inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        outer.connect(path)
        back = threading.Thread(target=pump, args=(outer, inner), daemon=True)
        back.start()
        pump(inner, outer)
        back.join()


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes one way until they end, then say so to the sink, which may still have something to say itself."""
    try:
        while data := source.recv(PIECE_BYTES):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:  # one side is gone: so is the connection
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def main(arguments: list[str]) -> int:
    """Serve until the tool ends; the exit code to end with."""
    path, port, _, *argv = arguments
    threading.stack_size(STACK_BYTES)
    for number in SURVIVED:
        # a handler, and not SIG_IGN, which the tool would inherit
        signal.signal(number, lambda _number, _frame: None)
    for listener in listen(int(port)):
        threading.Thread(target=serve, args=(listener, path), daemon=True).start()
    try:
        tool = subprocess.Popen(argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]} could not be started: {error.strerror}\n")
        return NOT_FOUND if error.errno == errno.ENOENT else CANNOT_RUN
    code = tool.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(ended)  # connections may still be open, and nobody waits for them
