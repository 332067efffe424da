"""What of a reply is taken for the code."""

from __future__ import annotations

import pytest

from lab.running.reply import MAX_REPLY_CHARS, NoCode, code_of, defines

F = "def f(x):\n    return x\n"
G = "def f(x):\n    return x + 1\n"
BROKEN = "def f(x):\n    return (x\n"


def fenced(code: str, fence: str = "```", info: str = "python") -> str:
    return f"{fence}{info}\n{code}{fence}\n"


TAKEN = {
    "a block": (fenced(F), F),
    "a block without a language": (fenced(F, info=""), F),
    "a block of another name for it": (fenced(F, info=" Python 3"), F),
    "a block of tildes": (fenced(F, "~~~"), F),
    "a block between words": (f"Here it is:\n\n{fenced(F)}\nThat is all.", F),
    "a block with what Windows ends lines with": (fenced(F).replace("\n", "\r\n"), F),
    "an indented block": ("1. So:\n   ```python\n   def f(x):\n       return x\n   ```\n", F),
    "a block whose fence alone is indented": (f"  ```python\n{F}  ```", F),
    "a block that is left open": ("```python\n" + F, F),
    "a longer fence around a shorter": (
        '````\ndef f(x):\n    """\n```\n    """\n````',
        'def f(x):\n    """\n```\n    """\n',
    ),
    "tildes around backquotes": ('~~~\ndef f(x): """\n```\n"""\n~~~', 'def f(x): """\n```\n"""\n'),
    "the last of two that define it": (fenced(F) + "Better:\n" + fenced(G), G),
    "not the example after it": (fenced(F) + "Use it:\n" + fenced("print(f(1))\n"), F),
    "not the tests before it": (fenced("assert f(1) == 1\n") + fenced(F), F),
    "not a shell's block": (fenced("pip install f\n", info="bash") + fenced(F), F),
    "what can be parsed before what cannot": (fenced(F) + fenced(BROKEN), F),
    "what cannot be parsed, where that is all": ("Look:\n" + fenced(BROKEN), BROKEN),
    "what was cut": ("```python\n" + BROKEN, BROKEN),
    "backquotes in a line open no block": (f"Call ```f(x)``` so:\n{fenced(F)}", F),
    "the whole reply": (F, F),
    "the whole reply with lines around it": ("\n\n" + F + "\n\n", F),
    "an asynchronous function": (fenced("async def f(x):\n    return x\n"), "async def f(x):\n    return x\n"),
    "a name that is bound": (fenced("f = lambda x: x\n"), "f = lambda x: x\n"),
    "a name with a type": (fenced("f: object = abs\n"), "f: object = abs\n"),
    "imports and helpers stay": (fenced("import re\n\n\n" + F), "import re\n\n\n" + F),
    "after its thoughts": (f"<think>\n{fenced(G)}Hm.\n</think>\n{fenced(F)}", F),
    "after thoughts without a beginning": (f"Try this:\n{fenced(G)}no.\n</think>\n\n{fenced(F)}", F),
    "after thinking": (f"<thinking>{G}</thinking>\n{F}", F),
    "a tag in the code is code": (fenced('def f(x):\n    return "</think>"\n'), 'def f(x):\n    return "</think>"\n'),
    "a tag after the answer's beginning": (f"{fenced(F)}I used <think> and </think>\n", F),
    "strings with odd escapes": (fenced('def f(x):\n    return "\\d"\n'), 'def f(x):\n    return "\\d"\n'),
}

REFUSED = {
    "nothing": ("", "the reply is empty"),
    "white space": (" \n\t\n", "the reply is empty"),
    "thoughts only": (f"<think>\n{fenced(F)}</think>\n", "all thought"),
    "thoughts without an end": (f"<think>\n{fenced(F)}", "all thought"),
    "words": ("I cannot do that.", "nothing in the reply defines f"),
    "another function": (fenced("def g(x):\n    return x\n"), "nothing in the reply defines f"),
    "a method of that name": (fenced("class A:\n    def f(self): ...\n"), "nothing in the reply defines f"),
    "a declaration without a value": (fenced("f: object\n"), "nothing in the reply defines f"),
    "words around code without a fence": (f"Here:\n{F}", "nothing in the reply defines f"),
    "code that cannot be parsed, without a fence": (BROKEN, "nothing in the reply defines f"),
    "a zero byte": (F + "\0", "nothing in the reply defines f"),
    "what Python's parser gives up on": ("f = " + "(" * 5000, "nothing in the reply defines f"),
    "what its compiler gives up on": ("f = " + "-" * 100_000 + "1", "nothing in the reply defines f"),
    "too much": ("x" * (MAX_REPLY_CHARS + 1), "longer than"),
}


@pytest.mark.parametrize(("reply", "code"), TAKEN.values(), ids=TAKEN)
def test_taken(reply: str, code: str) -> None:
    assert code_of(reply, "f") == code


@pytest.mark.parametrize(("reply", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(reply: str, why: str) -> None:
    with pytest.raises(NoCode, match=why):
        code_of(reply, "f")


def test_a_name_is_no_pattern() -> None:
    with pytest.raises(NoCode):
        code_of(fenced(BROKEN), ".")


def test_definitions() -> None:
    assert defines("def f(): ...", "f")
    assert not defines("f()", "f")
