"""Texts that the agent sees: the stub of a prose problem, and prompt.txt.

Nothing but upstream's prompt, the signature and one example comes in here, so nothing else can leak.
"""

from __future__ import annotations

import textwrap

TEMPLATE = """\
Complete the function `{entry_point}` in solution.py.

solution.py is in the current folder and holds the stub below. Edit it in place: keep the function's name and its
parameters, and return the answer rather than print it. Hidden tests import solution.py, call `{entry_point}` with many
inputs, unusual ones too, and compare what it returns.

--- solution.py ---
{stub}"""


def prose_stub(imports: str, signature: str, prose: str, example: str) -> str:
    """A function without a body: its docstring holds the prose and one example."""
    text = f"{prose.strip()}\n\nExample:\n\n{textwrap.indent(example.strip(), '    ')}\n"
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    body = textwrap.indent(f'"""{escaped}"""', "    ")
    return f"{imports}\n\n\n{signature}\n{body}\n" if imports else f"{signature}\n{body}\n"


def prompt_text(entry_point: str, stub: str) -> str:
    """The text of prompt.txt."""
    return TEMPLATE.format(entry_point=entry_point, stub=stub if stub.endswith("\n") else f"{stub}\n")
