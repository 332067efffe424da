"""The built-in tool `model`: one question to the model a task, and the code of its answer."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import threading
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from lab import __version__
from lab.apis import Api
from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic
from lab.grading.work import Missing, read_work
from lab.running.attempt import Planned, Tried
from lab.running.chat import Line, NoReply, Reply
from lab.running.identity import Setup
from lab.running.reply import NoCode, code_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.layout import SuitePaths
    from lab.proxy.server import Proxy
    from lab.results import Stop
    from lab.running.sampling import Sampling
    from lab.tasks import Task

NAME = "model"
PROMPT = """{problem}

Reply with the whole of solution.py in one fenced Python code block that defines `{entry_point}`.
"""
"""What the model is asked, in one message of the user."""
PROMPT_SHA256 = hashlib.sha256(PROMPT.encode()).hexdigest()
REPLY_FILE = "reply.txt"
MAX_PROMPT_BYTES = 1 << 20
LOOK_S = 0.1
NEW_LIMIT = "max_completion_tokens"
"""What OpenAI's newer models want the cap called; other servers do not know that name."""


class ModelTool:
    """Asks once a task and sample. Made by `model_tool`. A `lab.running.attempt.Tool`."""

    name = NAME
    instant = False

    def __init__(self, proxy: Proxy, model: str, timeout_s: float, sampling: Sampling, suite: SuitePaths) -> None:
        self._proxy = proxy
        self._model = model
        self._timeout_s = timeout_s
        self._sampling = sampling
        self._suite = suite
        self._limit = "max_tokens"

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        """One run a task and sample. How many samples there are is no setting: further ones join the earlier."""
        settings = {
            "temperature": self._sampling.temperature,
            "max_tokens": self._sampling.max_tokens,
            "timeout_s": self._timeout_s,
            "prompt_sha256": PROMPT_SHA256,
        }
        setup = Setup(NAME, __version__, self._model, settings, api=Api.OPENAI_CHAT, network="model")
        return (Planned(task, setup, sample) for task in tasks for sample in range(self._sampling.num_samples))

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:
        """Ask, and leave `work/solution.py` where the answer holds code, and `trace/` with the reply."""
        message = self._message(planned.task)
        trace = folder / "trace"
        trace.mkdir(parents=True)
        started = time.monotonic()
        deadline = started + self._timeout_s
        tap = self._proxy.attach(trace)
        giving_up = threading.Event()
        with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="ask") as executor:
            try:
                line = Line(tap.base_url, tap.key, deadline=deadline, stopping=giving_up)
                asking = executor.submit(self._ask, line, message)
                stop = _wait(asking, deadline, stopping)
            finally:
                giving_up.set()
                usage = tap.close()  # that cuts what is being asked
        wall_s = round(time.monotonic() - started, 3)
        if stop != "done":
            return Tried(None, missing=f"there was no answer in {wall_s:g} s", stop=stop, wall_s=wall_s, usage=usage)
        said = asking.result()
        if isinstance(said, NoReply):
            failed: Stop = "done" if usage.model_failure is None else "model-failure"
            return Tried(None, missing=f"the model gave no answer: {said.why}", stop=failed, wall_s=wall_s, usage=usage)
        write_atomic(trace / REPLY_FILE, said.text)
        return dataclasses.replace(self._hand_in(said, planned.task, folder / "work"), wall_s=wall_s, usage=usage)

    def _message(self, task: Task) -> str:
        path = self._suite.task(task.id).prompt
        try:
            problem = read_regular(path, MAX_PROMPT_BYTES).decode("utf-8", "replace")
        except (NotRegularFile, FileNotFoundError) as error:
            raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
        return PROMPT.replace("{entry_point}", task.entry_point).replace("{problem}", problem.rstrip(), 1)

    def _ask(self, line: Line, message: str) -> Reply | NoReply:
        limit = self._limit
        said = line.ask(self._body(message, limit))
        refused = isinstance(said, NoReply) and said.status == HTTPStatus.BAD_REQUEST and NEW_LIMIT in said.why
        if refused and limit != NEW_LIMIT:
            self._limit = NEW_LIMIT
            said = line.ask(self._body(message, NEW_LIMIT))
        return said

    def _body(self, message: str, limit: str) -> dict[str, Any]:
        # no seed: Gemini's and Mistral's servers refuse it, and hosted models do not keep to it
        return {
            "model": self._model,
            "messages": [{"role": "user", "content": message}],
            "temperature": self._sampling.temperature,
            limit: self._sampling.max_tokens,
        }

    def _hand_in(self, reply: Reply, task: Task, work: Path) -> Tried:
        cut = f"the reply was cut off before its end (--max-tokens is {self._sampling.max_tokens})"
        notes = (cut,) if reply.is_cut else ()
        try:
            write_atomic(work / "solution.py", code_of(reply.text, task.entry_point))
            return Tried(read_work(work), notes=notes)
        except NoCode as error:
            return Tried(None, missing=f"{error}; {cut}" if reply.is_cut else str(error), notes=notes)
        except Missing as error:
            return Tried(None, missing=str(error), notes=notes)


def model_tool(*, proxy: Proxy, model: str, timeout_s: float, sampling: Sampling, suite: SuitePaths) -> ModelTool:
    """The tool `model` over a suite; `proxy` asks over OpenAI's chat API. `timeout_s` is wall, of an attempt."""
    return ModelTool(proxy, model, timeout_s, sampling, suite)


def _wait(asking: concurrent.futures.Future[Reply | NoReply], deadline: float, stopping: threading.Event) -> Stop:
    while not concurrent.futures.wait((asking,), timeout=LOOK_S).done:
        if stopping.is_set():
            return "interrupted"
        if time.monotonic() > deadline:
            return "timeout"
    return "done"
