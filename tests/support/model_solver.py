"""A model that solves: it has whatever agent asks it write a given solution.py, each by the tools that it offers."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

from lab.apis import Api
from tests.support.model_wire import Call, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.model_server import Seen

SHELLS = (
    "exec_command",
    "shell_command",
    "shell",
    "bash",
    "run_shell_command",
    "execute",
    "exec",
    "run_command",
    "run",
)
"""What agents call the tool that runs a command line, in lower case; the first that is offered is used."""
WRITERS = ("write_file", "write", "fs_write", "create_file")
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent wants printed at the end."""
SHOWN = re.compile(r"solution\.py\n(`{3,})\w*\n(.*?)\n\1", re.DOTALL)


def solver(solution: str, *, path: str = "solution.py") -> Callable[[Seen], Reply]:
    """A step for any request of any API: have `solution` written to `path`, then say that it is done.

    An agent without tools gets a SEARCH/REPLACE block where it asks for one (aider), else a fenced block of Python.
    """

    def step(seen: Seen) -> Reply:
        text, tools = seen.raw.decode(), offered(seen)
        if not tools:
            return Reply(_block(seen, solution) if "SEARCH/REPLACE" in text else f"```python\n{solution}\n```\n")
        shell = next((tools[name] for name in SHELLS if name in tools), None)
        if has_results(seen):
            if SUBMIT in text and shell is not None:
                return Reply("It is done.", (shell(f"echo {SUBMIT}"),))
            return Reply("It is done.")
        if shell is not None:
            return Reply("I write it.", (shell(f"printf %s {shlex.quote(solution)} > {shlex.quote(path)}"),))
        writer = next((tools[name] for name in WRITERS if name in tools), None)
        assert writer is not None, f"none of the tools is known: {', '.join(tools)}"
        return Reply("I write it.", (writer(solution, path),))

    return step


class Offered:
    """A tool of a request: called with a command line, or with the text of a file and its path."""

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        self._name = name
        self._properties: dict[str, Any] = dict(schema.get("properties") or {})
        self._required = list(schema.get("required") or ())

    def __call__(self, text: str, path: str = "") -> Call:
        arguments: dict[str, Any] = {name: self._filler(name) for name in self._required}
        for name, about in self._properties.items():
            key = name.lower().replace("_", "")
            if key in {"cmd", "command", "script"} and not path:
                arguments[name] = ["bash", "-lc", text] if _type(about) == "array" else text
            elif path and key in {"content", "contents", "filetext", "text"}:
                arguments[name] = text
            elif path and key in {"path", "filepath", "file", "filename"}:
                arguments[name] = path
        return Call(self._name, arguments)

    def _filler(self, name: str) -> Any:
        return {"boolean": False, "integer": 10_000, "number": 10_000, "array": [], "object": {}}.get(
            _type(self._properties.get(name, {})), "write the solution"
        )


def offered(seen: Seen) -> dict[str, Offered]:
    """The function tools of a request, by name in lower case."""
    found: dict[str, Offered] = {}
    for tool in seen.body.get("tools") or ():
        match seen.api:
            case Api.OPENAI_CHAT:
                functions = [tool.get("function", {})]
            case Api.GEMINI:
                functions = tool.get("functionDeclarations") or tool.get("function_declarations") or []
            case _:
                functions = [tool]
        for function in functions:
            schema: dict[str, Any] = next((function[key] for key in SCHEMAS if isinstance(function.get(key), dict)), {})
            if name := function.get("name"):
                found[name.lower()] = Offered(name, schema)
    return found


SCHEMAS = ("parameters", "input_schema", "parametersJsonSchema")


def has_results(seen: Seen) -> bool:
    """Whether the conversation already holds what a tool gave."""
    match seen.api:
        case Api.OPENAI_CHAT:
            return any(message.get("role") == "tool" for message in seen.body["messages"])
        case Api.OPENAI_RESPONSES:
            return any(str(item.get("type", "")).endswith("_call_output") for item in _items(seen.body["input"]))
        case Api.ANTHROPIC:
            blocks = (block for message in seen.body["messages"] for block in _items(message["content"]))
            return any(block.get("type") == "tool_result" for block in blocks)
        case _:
            parts = (part for content in seen.body["contents"] for part in content.get("parts", ()))
            return any("functionResponse" in part for part in parts)


def _items(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _type(about: Any) -> str:
    kind = about.get("type") if isinstance(about, dict) else None
    return str(kind[0] if isinstance(kind, list) and kind else kind).lower()


def _block(seen: Seen, solution: str) -> str:
    """The whole of the file that the request shows, replaced; without one the solution is appended."""
    texts = [message["content"] for message in seen.body["messages"]]
    flat = [text if isinstance(text, str) else json.dumps(text) for text in texts]
    shown = [found.group(2) for text in flat for found in SHOWN.finditer(text)]
    search = f"{shown[-1]}\n" if shown else ""
    return f"solution.py\n```python\n<<<<<<< SEARCH\n{search}=======\n{solution}\n>>>>>>> REPLACE\n```\n"
