"""Traces as the recording proxy writes them, of conversations with a scripted model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lab.apis import Api
from tests.proxy.attempt import asking_path, attempt
from tests.support.model_server import Call, Reply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ARGUMENTS = {"path": "solution.py", "text": "def f(x):\n    return x + 1\n"}
CALL = Call("write", ARGUMENTS)
FIRST, LAST = Reply("I write it.", (CALL,)), Reply("It is done, and that is all there is to say.")
SYSTEM, QUESTION, RESULT = "You are an agent.", "Write f.", "written: 2 lines"


def bodies(api: Api) -> list[dict[str, Any]]:
    """What an agent asks: the question, and then all of it again with the call's result."""
    arguments = json.dumps(ARGUMENTS)
    match api:
        case Api.OPENAI_CHAT:
            start: list[Any] = [{"role": "developer", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
            call = {"id": "call_0", "type": "function", "function": {"name": "write", "arguments": arguments}}
            said = {"role": "assistant", "content": "I write it.", "tool_calls": [call]}
            given = {"role": "tool", "tool_call_id": "call_0", "content": [{"type": "text", "text": RESULT}]}
            return [{"model": "m", "messages": start}, {"model": "m", "messages": [*start, said, given]}]
        case Api.OPENAI_RESPONSES:
            items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}]}]
            spoken = {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I write it."}],
            }
            called = {"type": "function_call", "call_id": "call_0", "name": "write", "arguments": arguments}
            output = {"type": "function_call_output", "call_id": "call_0", "output": RESULT}
            asked = {"model": "m", "instructions": SYSTEM}
            return [asked | {"input": items}, asked | {"input": [*items, spoken, called, output]}]
        case Api.ANTHROPIC:
            first = {"role": "user", "content": QUESTION}
            use = {"type": "tool_use", "id": "toolu_0", "name": "write", "input": ARGUMENTS}
            turn = {"role": "assistant", "content": [{"type": "text", "text": "I write it."}, use]}
            back = {"type": "tool_result", "tool_use_id": "toolu_0", "content": [{"type": "text", "text": RESULT}]}
            base = {"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": SYSTEM}]}
            return [
                base | {"messages": [first]},
                base | {"messages": [first, turn, {"role": "user", "content": [back]}]},
            ]
        case Api.GEMINI:
            user = {"role": "user", "parts": [{"text": QUESTION}]}
            model = {
                "role": "model",
                "parts": [{"text": "I write it."}, {"functionCall": {"name": "write", "args": ARGUMENTS}}],
            }
            response = {"functionResponse": {"name": "write", "response": {"output": RESULT}}}
            system = {"systemInstruction": {"parts": [{"text": SYSTEM}]}}
            return [
                system | {"contents": [user]},
                system | {"contents": [user, model, {"role": "user", "parts": [response]}]},
            ]


def record(trace: Path, api: Api, *, stream: bool, script: Sequence[Reply] = (FIRST, LAST)) -> None:
    """Have a conversation in the words of `api`, recorded in `trace` by the proxy."""
    with attempt(trace, api, script) as made:
        for body in bodies(api):
            asked = body if api is Api.GEMINI else body | {"stream": stream}
            assert made.ask(asked, path=asking_path(api, stream=stream)).ok
