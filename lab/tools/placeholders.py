"""Placeholders like {prompt_file} in the texts that start a tool: which there are, and their values put in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PLACEHOLDERS = ("prompt", "prompt_file", "model", "base_url", "key", "work", "home")
# doubled braces stand for themselves, and ${name} is a shell's own
PATTERN = re.compile(r"(?P<plain>\{\{[a-z_]+\}\})|(?<!\$)\{(?P<name>[a-z_]+)\}")


def names(text: str) -> list[str]:
    """The placeholders that a text holds, known or not, in its order."""
    return [match["name"] for match in PATTERN.finditer(text) if match["name"]]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put the values in. They are never looked at again for placeholders; {{name}} becomes {name}.

    `values` has one for every name that the text holds, which its reader has checked.
    """
    return PATTERN.sub(lambda match: values[match["name"]] if match["name"] else match["plain"][1:-1], text)


def advice(name: str, known: Collection[str]) -> str:
    """What to tell who wrote a placeholder that is not among the known ones."""
    near = did_you_mean(name, known)
    return f"{near}{'' if near.endswith('?') else '.'} For the text itself write {{{{{name}}}}}"
