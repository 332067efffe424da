"""A run on the terminal, as a person reads it. Nothing of it can steer the terminal."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING, Any

from rich.rule import Rule
from rich.text import Text

from lab.console import markup, safe
from lab.trace.lines import decoded
from lab.trace.turn import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.console import Console

    from lab.proxy.summary import Tokens
    from lab.results import Attempt, Result
    from lab.trace.exchange import Exchange
    from lab.trace.turn import Part, Turn
    from lab.verdict import Verdict

RULE_CHARS = 100
SHOWN_LINES = {"text": 60, "reasoning": 20, "call": 60, "result": 20, "diff": 200, "printed": 20}
SHOWN_LINE_CHARS = 400
INDENT = "    "
STYLES = {"system": "dim", "user": "cyan", "assistant": "green", "tool": "yellow"}


@dataclasses.dataclass(frozen=True)
class View:
    """Prints to `console`; in whole where `full`, else long texts without their middle."""

    console: Console
    full: bool = False

    def header(self, result: Result, folder: Path) -> None:
        """What the run was, and what it came to."""
        version = f" {result.tool_version}" if result.tool_version else ""
        upstream = f" ({result.verdict.upstream_id})" if result.verdict else ""
        self.console.print(
            f"[bold]{markup(result.tool + version)}[/] on [bold]{markup(result.task)}[/]{markup(upstream)} of"
            f" {markup(result.suite)}, sample {result.sample}",
            soft_wrap=True,
        )
        self._line("model", f"{result.model} ({result.api})" if result.api else result.model or "")
        self._line("verdict", _verdict(result.verdict))
        self._line("stop", ", ".join(_ending(result)))
        self._line("held by", f"isolation {result.isolation}, network {result.network}")
        self._line("started", result.started_at)
        self._line("folder", str(folder))

    def attempt(self, number: int, attempt: Attempt | None) -> None:
        """How one attempt went; None where that was not recorded."""
        self.console.print()
        self._rule(f"attempt {number}")
        if attempt is None:
            self._line("verdict", "none: it was not recorded")
            return
        self._line("verdict", _verdict(attempt.verdict))
        self._line("stop", f"{attempt.stop}, {attempt.wall_s:.1f} s")
        if attempt.exit_code is not None:
            self._line("exit code", str(attempt.exit_code))
        if attempt.usage is not None:
            usage = attempt.usage
            self._line("asked", ", ".join(_spent(usage.requests, usage.tokens, usage.cost_usd)))
        for note in attempt.notes:
            self._line("note", note)

    def exchange(self, exchange: Exchange) -> None:
        """One request: what is new in it, and the answer."""
        self.console.print()
        self.console.print(Text(f"[{exchange.n}] {', '.join(_facts(exchange))}", style="bold"), soft_wrap=True)
        for turn in (*exchange.new, *exchange.answer):
            self._turn(turn)
        for problem in exchange.problems:
            self._block("problem", problem, "text", "red")

    def printed(self, name: str, text: str) -> None:
        """What the tool printed."""
        if text.strip():
            self.console.print()
            self._block(name, text.rstrip("\n"), "printed", "dim")

    def change(self, diff: str) -> None:
        """The difference, or why there is none."""
        self.console.print()
        self._rule("from the stub to what was left")
        for line in self._shortened(diff, "diff"):
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
            self.console.print(Text(safe(line, keep="\t"), style=style), soft_wrap=True)

    def say(self, line: str) -> None:
        """One line of lab's own."""
        self.console.print(markup(line), soft_wrap=True)

    def _turn(self, turn: Turn) -> None:
        for part in turn.parts:
            self._block(_label(turn, part), _readable(part), part.kind, STYLES.get(turn.role, ""))

    def _block(self, label: str, text: str, kind: str, style: str) -> None:
        self.console.print(Text(f"  {safe(label)}:", style=style), soft_wrap=True)
        for line in self._shortened(text, kind):
            self.console.print(Text(INDENT + safe(line, keep="\t")), soft_wrap=True)

    def _shortened(self, text: str, kind: str) -> Iterator[str]:
        lines = text.split("\n")
        most = SHOWN_LINES[kind]
        if self.full:
            yield from lines
            return
        head = most * 2 // 3
        left_out = len(lines) - most
        for number, line in enumerate(lines):
            if left_out > 0 and head <= number < head + left_out:
                if number == head:
                    yield f"... {left_out} lines left out; --full shows them ..."
                continue
            yield line if len(line) <= SHOWN_LINE_CHARS else _middle_out(line)

    def _line(self, name: str, value: str) -> None:
        if value:
            self.console.print(f"{name + ':':10} {markup(value)}", soft_wrap=True)

    def _rule(self, title: str) -> None:
        self.console.print(Rule(markup(title), align="left"), width=min(self.console.width, RULE_CHARS))


def _middle_out(line: str) -> str:
    head, tail = SHOWN_LINE_CHARS * 3 // 4, SHOWN_LINE_CHARS // 4
    return f"{line[:head]} ... {len(line) - head - tail} characters left out ... {line[-tail:]}"


def _label(turn: Turn, part: Part) -> str:
    match part.kind:
        case "call":
            return f"{turn.role} calls {part.name or 'a tool'}"
        case "result":
            return f"result of {part.name or part.call or 'a tool'}"
        case "reasoning":
            return f"{turn.role} thinks"
        case _:
            return turn.role


def _readable(part: Part) -> str:
    """A call's arguments by name, their line breaks as such; everything else as it is."""
    arguments = decoded(part.text.encode("utf-8", "replace")) if part.kind == "call" else None
    if not isinstance(arguments, dict):
        return part.text.strip("\n")
    return "\n".join(_argument(name, value) for name, value in arguments.items())


def _argument(name: str, value: Any) -> str:
    text = shown(value)
    if "\n" not in text:
        return f"{name}: {text}"
    return f"{name}:\n{textwrap.indent(text.rstrip(), INDENT)}"


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return "none"
    return f"{verdict.status}: {verdict.reason}" if verdict.reason else str(verdict.status)


def _ending(result: Result) -> Iterator[str]:
    yield result.stop
    if result.requests is not None:
        yield from _spent(result.requests, result.tokens, result.cost_usd)
    if result.ttfb_ms is not None:
        yield f"first byte after {result.ttfb_ms:,.0f} ms"
    yield f"{result.wall_s:.1f} s"
    if result.peak_mb is not None:
        yield f"{result.peak_mb:,.0f} MiB"


def _spent(requests: int, tokens: Tokens | None, cost_usd: float | None) -> Iterator[str]:
    yield f"{requests} request{'' if requests == 1 else 's'}"
    if tokens is None or (tokens.prompt is None and tokens.completion is None):
        yield "tokens unknown"
    else:
        yield f"{tokens.prompt or 0:,} + {tokens.completion or 0:,} tokens"
    yield "cost unknown" if cost_usd is None else f"${cost_usd:,.4f}"


def _facts(exchange: Exchange) -> Iterator[str]:
    yield safe(exchange.request) or "a request that cannot be read"
    if exchange.status is not None:
        yield str(exchange.status)
    if exchange.total_ms is not None:
        yield f"{exchange.total_ms / 1000:.1f} s"
    if exchange.prompt is not None or exchange.completion is not None:
        yield f"{exchange.prompt or 0:,} + {exchange.completion or 0:,} tokens"
