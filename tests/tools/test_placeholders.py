from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.tools.placeholders import PLACEHOLDERS, advice, fill, names

VALUES = {name: f"<{name}>" for name in PLACEHOLDERS} | {"prompt": "say {key} and {{work}}"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--file={prompt_file}", "--file=<prompt_file>"),
        ("{work}/x:{work}", "<work>/x:<work>"),
        ("{prompt}", "say {key} and {{work}}"),
        ("${key} {{key}} {a,b} {} {X}", "${key} {key} {a,b} {} {X}"),
        ('{"url": "{base_url}/v1", "m": {"{model}": {}}}', '{"url": "<base_url>/v1", "m": {"<model>": {}}}'),
        ("{{{model}}}", "{{model}}"),
    ],
)
def test_values_are_put_in_once(text: str, expected: str) -> None:
    assert fill(text, VALUES) == expected


def test_names_are_told_known_or_not() -> None:
    assert names("{work} {nope} {{key}} ${home} {work}") == ["work", "nope", "work"]


@given(st.text(), st.text())
def test_a_value_comes_through_whatever_it_holds(before: str, value: str) -> None:
    # a text before that ends in a brace or dollar would change what the braces mean
    assert fill(f"{before} {{prompt}}", dict.fromkeys(["prompt", *names(before)], value)).endswith(f" {value}")


@pytest.mark.parametrize(("name", "expected"), [("promt", "Did you mean prompt or "), ("zzz", "There are: ")])
def test_advice(name: str, expected: str) -> None:
    said = advice(name, PLACEHOLDERS)
    assert expected in said
    assert f"{{{{{name}}}}}" in said
    assert "?." not in said
