"""A tool that is a program: an adapter's, or one of `--command`. An attempt is a process, in a sandbox of its own."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.environment import agent_variables
from lab.errors import LabError
from lab.files import NotRegularFile, disk_error, read_regular, write_atomic
from lab.grading.isolation import Isolation
from lab.running.agent_sandbox import sandbox_for
from lab.running.attempt import Planned, Tried
from lab.running.child import run_child
from lab.running.collect import Ran, collect, noting
from lab.running.folders import temporary_folders
from lab.running.holder import Network, PlainProcess
from lab.running.identity import Setup
from lab.running.keep import is_over
from lab.running.watch import Watch
from lab.tools.placeholders import fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lab.layout import Root, SuitePaths
    from lab.proxy.server import Proxy, Tap
    from lab.running.folders import Folders
    from lab.running.holder import Holder, Start
    from lab.tasks import Task
    from lab.tools.adapter import Adapter
    from lab.tools.presence import Presence

PROMPT = """{problem}

Work in the current folder: edit solution.py there so that it solves the problem above, which prompt.txt holds too.
The tests that decide are hidden, so check your work with tests of your own.
"""
"""What a tool is told as {prompt}."""
PROMPT_SHA256 = hashlib.sha256(PROMPT.encode()).hexdigest()
MAX_TASK_FILE_BYTES = 64 << 20
SHOWN_KEY = "KEY"
MOMENTARY = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
"""What the system says that is short of something now."""


class _NotStarted(LabError):
    """What holds a tool did not get as far as starting it."""


@dataclasses.dataclass(frozen=True)
class Agent:
    """A program that works in a fresh folder outside the root, holding prompt.txt, solution.py and its own settings.

    Made by `agent_of`, and for a command line by `lab.running.command.command_agent`.
    """

    name: str
    adapter: Adapter
    program: Path
    version: str | None
    given: Mapping[str, Any]
    """What of its settings says which program it is: JSON values."""
    holder: Holder
    proxy: Proxy | None
    """What it reaches its model through; None where it has none."""
    model: str | None
    timeout_s: float
    root: Root
    suite: SuitePaths
    instant: bool = False
    has_started: threading.Event = dataclasses.field(default_factory=threading.Event, init=False, compare=False)
    """Set once an attempt was seen to start."""

    @property
    def isolation(self) -> Isolation:
        return self.holder.isolation

    @property
    def network(self) -> Network:
        return self.holder.network

    @property
    def notice(self) -> str | None:
        """What a person has to know of its sandbox, in a plain sentence; None where it is held in whole, or has none.

        That it has none is said by `choose_for_agents`.
        """
        if self.isolation is Isolation.PROCESS:
            return None
        if self.network is Network.HOST:
            return f"{self.name} has this machine's network: it could look solutions up"
        if self.proxy is None:
            return f"{self.name} has no network and no model: an adapter gives it the run's, --network host any"
        return None

    def plan(self, tasks: Sequence[Task]) -> Iterator[Planned]:
        settings = {
            **self.given,
            "timeout_s": self.timeout_s,
            "isolation": self.isolation.value,
            "network": self.network.value,
            "prompt_sha256": PROMPT_SHA256,
        }
        setup = Setup(
            self.name,
            self.version,
            self.model,
            settings,
            api=self.adapter.api,
            adapter_sha256=self.given.get("adapter_sha256"),
            isolation=self.isolation.value,
            network=self.network.value,
        )
        return (Planned(task, setup) for task in tasks)

    def attempt(self, planned: Planned, folder: Path, stopping: threading.Event) -> Tried:
        """As `Tool` says. What fails of one attempt, of lab's or the system's, is that attempt's fault.

        Raises LabError for what holds for all: the tool cannot be started at all, or the disk takes nothing more.
        """
        paths = self.suite.task(planned.task.id)
        try:
            problem, stub = _task_file(paths.prompt), _task_file(paths.stub)
        except LabError as error:
            return Tried(None, fault=str(error))
        try:
            with (
                temporary_folders(self.root.folder) as folders,
                Watch((folders.work, folders.home, folders.tmp)) as watch,
            ):
                write_atomic(folders.work / "prompt.txt", problem)
                write_atomic(folders.work / "solution.py", stub)
                ran = self._run(folders, watch, problem.decode("utf-8", "replace"), folder / "trace", stopping)
                return collect(ran, folders, watch, folder)
        except (LabError, OSError) as error:
            return Tried(None, fault=self._of_one(error, len(problem)))

    def _run(self, folders: Folders, watch: Watch, problem: str, trace: Path, stopping: threading.Event) -> Ran:
        """Run the tool to its end. Raises LabError or OSError where it did not begin."""
        try:
            trace.mkdir(parents=True)
        except OSError as error:
            raise disk_error(trace, error) from error
        tap = None if self.proxy is None else self.proxy.attach(trace, socket=self.holder.socket(folders))
        usage, notes = None, list[str]()
        try:
            with self._start(folders, tap, problem, trace) as start:
                ended = run_child(
                    watch.enter(start.argv),
                    folder=start.folder,
                    env=start.env,
                    timeout_s=self.timeout_s,
                    stopping=stopping,
                    look=watch.look,
                    pass_fds=start.pass_fds,
                )
        finally:
            if tap is not None:
                with noting(notes):
                    tap.close()
                usage = tap.usage()
        # a holder that was killed had started
        if ended.exit_code is not None and ended.exit_code > 0 and (why := self.holder.fault(folders, ended.stderr)):
            raise _NotStarted(f"{self.name} could not be started: {why}", "See lab tools and lab doctor")
        self.has_started.set()
        return Ran(ended, usage, tuple(notes))

    def _of_one(self, error: LabError | OSError, problem_bytes: int) -> str:
        """Why lab failed on this attempt, in a line; raises LabError where the error holds for all attempts."""
        cause = error if isinstance(error, OSError) else error.__cause__
        number = cause.errno if isinstance(cause, OSError) else None
        if number == errno.E2BIG:
            return (
                f"the problem, of {problem_bytes} bytes, is too long for a command line: "
                f"an adapter of {self.name} with {{prompt_file}} in the place of {{prompt}} can take it"
            )
        if is_over(cause):
            raise error if isinstance(error, LabError) else disk_error(Path(error.filename or self.root.runs), error)
        # a problem that holds a NUL says nothing of the next one
        is_passing = isinstance(cause, ValueError) or number in MOMENTARY
        # what the tool was seen to do once it can do
        is_new = self.has_started.is_set() and (number is not None or isinstance(error, _NotStarted))
        if is_passing or is_new:
            return str(error)
        raise error

    def _start(self, folders: Folders, tap: Tap | None, problem: str, trace: Path) -> AbstractContextManager[Start]:
        """Write the tool's own settings and, without its key, the command line; give what starts it."""
        values = {
            "prompt": PROMPT.replace("{problem}", problem.rstrip()),
            "prompt_file": f"{self.holder.work(folders)}/prompt.txt",
            "model": self.model or "",
            "base_url": "" if tap is None else self.holder.base_url(tap),
            "key": "" if tap is None else tap.key,
            "work": self.holder.work(folders),
            "home": self.holder.home(folders),
        }
        # their places are the host's, their texts as the tool sees them
        places = {**values, "work": str(folders.work), "home": str(folders.home)}
        for file in self.adapter.files:
            write_atomic(Path(fill(file.path, places)), fill(file.text, values))
        shown = values | {"key": SHOWN_KEY}
        record = {"argv": self._argv(shown), "environment": self._environment(shown)}
        write_atomic(trace / "command.json", json.dumps(record, indent=1) + "\n")
        return self.holder.start(self._argv(values), self._environment(values), folders)

    def _argv(self, values: Mapping[str, str]) -> list[str]:
        return [str(self.program), *(fill(word, values) for word in self.adapter.command[1:])]

    def _environment(self, values: Mapping[str, str]) -> dict[str, str]:
        return {name: fill(text, values) for name, text in self.adapter.environment.items()}


def agent_of(
    adapter: Adapter,
    presence: Presence,
    *,
    isolation: Isolation,
    network: Network,
    proxy: Proxy | None,
    model: str | None,
    timeout_s: float,
    root: Root,
    suite: SuitePaths,
) -> Agent:
    """The tool of an adapter, as it was found here. `network` is what a sandbox gives it.

    Raises LabError where it cannot run here, or its sandbox would show the root.
    """
    variables = {"PATH": agent_variables().get("PATH", os.defpath)}
    relayed = proxy is not None and network is Network.MODEL
    return Agent(
        name=adapter.name,
        adapter=adapter,
        program=program_of(adapter, presence, isolation),
        version=presence.version,
        given={"adapter_sha256": adapter.sha256},
        holder=holder_of(presence, isolation, network, relayed=relayed, root=root, variables=variables),
        proxy=proxy,
        model=model,
        timeout_s=timeout_s,
        root=root,
        suite=suite,
    )


def holder_of(
    presence: Presence,
    isolation: Isolation,
    network: Network,
    *,
    relayed: bool,
    root: Root,
    variables: Mapping[str, str],
) -> Holder:
    """What holds a tool at this isolation; `variables` is what a plain process takes over of lab's environment.

    Raises LabError where its sandbox would show the root.
    """
    if isolation is Isolation.PROCESS:
        return PlainProcess(variables)
    return sandbox_for(
        presence.paths,
        presence.executable,
        root=root.folder,
        network=network,
        relayed=relayed,
        search=variables.get("PATH", os.defpath),
    )


def program_of(adapter: Adapter, presence: Presence, isolation: Isolation) -> Path:
    """The program of a tool that can run here; raises LabError for one that cannot.

    One that cannot be followed to what it needs (a shim) can run all the same where nothing has to be shown to it.
    """
    if presence.executable is None or (presence.why_not is not None and isolation is not Isolation.PROCESS):
        raise LabError(
            f"{adapter.name} cannot run here: {presence.why_not or 'it is not on PATH'}",
            f"Install it: {adapter.install}" if adapter.install else "See lab tools",
        )
    return presence.executable


def _task_file(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_TASK_FILE_BYTES)
    except (NotRegularFile, FileNotFoundError) as error:
        raise LabError(f"{path} cannot be read: {error}", "Run lab gen again") from error
