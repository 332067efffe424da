"""From a tool's name to the tool, set up: a built-in, an adapter's program, or a command line."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from lab.apis import Api
from lab.console import warn
from lab.errors import LabError
from lab.grading.isolation import Isolation
from lab.layout import NAME
from lab.proxy.prices import load_prices
from lab.running.agent import agent_of
from lab.running.agent_sandbox import choose_for_agents
from lab.running.builtin import Copied, load_replay
from lab.running.command import command_agent, local_files, parse_command
from lab.running.holder import Network
from lab.running.provider import upstream_of
from lab.running.sampling import Sampling
from lab.tools.built_in import COMMAND, SUMMARIES, BuiltIn
from lab.tools.presence import find, find_for_sandbox
from lab.tools.registry import get_adapter, survey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lab.environment import Environment
    from lab.grading.isolation import Requested
    from lab.layout import Root, SuitePaths
    from lab.proxy.line import Upstream
    from lab.proxy.prices import Prices
    from lab.proxy.server import Proxy
    from lab.running.agent import Agent
    from lab.running.attempt import Tool

TIMEOUT_S = 600.0
"""Of an attempt, wall, unless it is given."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """A tool as it was asked for; what is None was not."""

    name: str | None
    samples: Path | None = None
    command: str | None = None
    model: str | None = None
    timeout_s: float | None = None
    isolation: Requested | str = "auto"
    network: Network | None = None
    sampling: Sampling | None = None
    """For the tool model."""
    local: bool = False
    """The tool model asks a small one that lab starts here."""

    @property
    def is_program(self) -> bool:
        """Whether it is a program that has to be held, and what does not hold it is said as it is set up."""
        return self.command is not None or self.name not in SUMMARIES


@dataclasses.dataclass(frozen=True)
class Ready:
    """A tool that can begin. `proxy` is what it asks its model through, where that is known to lab."""

    tool: Tool
    proxy: Proxy | None = None
    model: str | None = None
    is_priced: bool = False
    """Whether the price of the model's tokens is known."""


@contextlib.contextmanager
def set_up(wanted: Wanted, root: Root, suite: SuitePaths, environment: Environment) -> Iterator[Ready]:
    """The tool, with its way to the model open; a notice on what does not hold it is said. Raises LabError."""
    _check(wanted)
    if wanted.command is not None:
        yield Ready(_notice(_command(wanted, root, suite, wanted.command)))
        return
    match wanted.name:
        case None:
            raise LabError("no tool was named", f"There are: {', '.join(_names(root))}; or give a --command")
        case BuiltIn.REFERENCE | BuiltIn.STUB as name:
            yield Ready(Copied(name, suite))
        case BuiltIn.REPLAY:
            if wanted.samples is None:
                raise LabError("replay needs recorded solutions", "Add --samples FILE (.jsonl or .jsonl.gz)")
            yield Ready(load_replay(suite, wanted.samples))
        case BuiltIn.MODEL:
            from lab.running.model import model_tool  # noqa: PLC0415 - as `_proxy` says

            prices = load_prices(root)
            with _ask_model(wanted, environment) as upstream, _proxy(upstream, prices) as proxy:
                tool = model_tool(
                    proxy=proxy,
                    model=upstream.model,
                    timeout_s=wanted.timeout_s or TIMEOUT_S,
                    sampling=wanted.sampling or Sampling(),
                    suite=suite,
                )
                yield Ready(tool, proxy, upstream.model, upstream.model in prices.table)
        case name:
            with _adapter(wanted, name, root, suite, environment) as ready:
                yield ready


@contextlib.contextmanager
def _adapter(wanted: Wanted, name: str, root: Root, suite: SuitePaths, environment: Environment) -> Iterator[Ready]:
    adapter = get_adapter(root, name)
    isolation = choose_for_agents(wanted.isolation, say=warn)
    presence = find(adapter) if isolation is Isolation.PROCESS else find_for_sandbox(adapter, root.folder)
    if adapter.api is None and wanted.model is not None:
        raise LabError(f"{name} asks no model that lab knows of", "Leave out --model")
    upstream = None if adapter.api is None else upstream_of(adapter.api, environment, wanted.model)
    prices = load_prices(root)
    with contextlib.ExitStack() as stack:
        proxy = None if upstream is None else stack.enter_context(_proxy(upstream, prices))
        agent = agent_of(
            adapter,
            presence,
            isolation=isolation,
            network=wanted.network or Network.MODEL,
            proxy=proxy,
            model=None if upstream is None else upstream.model,
            timeout_s=wanted.timeout_s or TIMEOUT_S,
            root=root,
            suite=suite,
        )
        yield Ready(_notice(agent), proxy, agent.model, agent.model in prices.table)


def _proxy(upstream: Upstream, prices: Prices) -> Proxy:
    """To be entered. Imported here: aiohttp takes a quarter of a second, and most built-ins ask no model."""
    from lab.proxy.server import Proxy  # noqa: PLC0415

    return Proxy(upstream, prices)


@contextlib.contextmanager
def _ask_model(wanted: Wanted, environment: Environment) -> Iterator[Upstream]:
    if not wanted.local:
        yield upstream_of(Api.OPENAI_CHAT, environment, wanted.model)
        return
    if wanted.model is not None:
        raise LabError("--local brings its own model", "Leave out --model, or --local")
    from lab.running.local_model import local_model  # noqa: PLC0415 - as above

    with local_model() as upstream:
        yield upstream


def _command(wanted: Wanted, root: Root, suite: SuitePaths, command: str) -> Agent:
    name = wanted.name or COMMAND
    if not NAME.fullmatch(name) or name in SUMMARIES:
        raise LabError(f"{name!r} cannot be the name of a command", "Name it like my-agent, not like a built-in tool")
    if name in survey(root):
        raise LabError(f"{name} is the name of a tool that lab knows", "Name the command otherwise, or leave it out")
    words = parse_command(command)
    for word in local_files(words):
        warn(f"{word} is a file here, but the command runs in a work folder: write its full path")
    return command_agent(
        name,
        words,
        isolation=choose_for_agents(wanted.isolation, say=warn),
        network=wanted.network or Network.MODEL,
        timeout_s=wanted.timeout_s or TIMEOUT_S,
        root=root,
        suite=suite,
    )


def _check(wanted: Wanted) -> None:
    """Refuse options that the tool has no use for: who gives one counts on it."""
    if wanted.samples is not None and (wanted.name != BuiltIn.REPLAY or wanted.command is not None):
        raise LabError("--samples is for the tool replay", "Run lab run replay --samples FILE --suite S")
    if wanted.command is None and wanted.name in {BuiltIn.REFERENCE, BuiltIn.STUB, BuiltIn.REPLAY}:
        given = {"--model": wanted.model, "--timeout": wanted.timeout_s, "--network": wanted.network}
        if useless := [name for name, value in given.items() if value is not None]:
            raise LabError(f"{wanted.name} has no use for {', '.join(useless)}", "Leave it out")
    if wanted.command is not None and wanted.model is not None:
        raise LabError("a --command asks no model that lab knows of", "Leave out --model, or write an adapter for it")
    if wanted.name != BuiltIn.MODEL or wanted.command is not None:
        if wanted.local:
            raise LabError("--local is for the tool model", "Run lab run model --local --suite S")
        if wanted.sampling is not None:
            raise LabError(
                "--temperature, --max-tokens and --num-samples are for the tool model", "Run lab run model --suite S"
            )


def _notice(agent: Agent) -> Agent:
    if agent.notice is not None:
        warn(agent.notice)
    return agent


def _names(root: Root) -> list[str]:
    return [*BuiltIn, *(name for name, found in survey(root).items() if not isinstance(found, LabError))]
