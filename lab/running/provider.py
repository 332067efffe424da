"""Where a run's model is asked: the address, the key and the model's name, from the options and the environment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.apis import Api
from lab.errors import LabError
from lab.proxy.line import Upstream

if TYPE_CHECKING:
    from lab.environment import Environment

MODEL = re.compile(r"[A-Za-z0-9._:/@+-]{1,200}")
"""Names of models as they are in use; nothing in them needs quoting in JSON, TOML, YAML or a URL."""


def upstream_of(api: Api, environment: Environment, model: str | None) -> Upstream:
    """The provider of `api`; `model` wins over LAB_MODEL. Raises LabError where address or model are not given."""
    variable, address = {
        Api.OPENAI_CHAT: ("LAB_BASE_URL", environment.base_url),
        Api.OPENAI_RESPONSES: ("LAB_BASE_URL", environment.base_url),
        Api.ANTHROPIC: ("LAB_ANTHROPIC_BASE_URL", environment.anthropic_base_url),
        Api.GEMINI: ("LAB_GEMINI_BASE_URL", environment.gemini_base_url),
    }[api]
    if address is None:
        raise LabError(
            f"{variable} does not say where the model is asked ({api})",
            f"Set it, like {variable}=http://127.0.0.1:8080",
        )
    chosen = model or environment.model
    if chosen is None:
        raise LabError("no model was named", "Add --model NAME, or set LAB_MODEL")
    if not MODEL.fullmatch(chosen):
        raise LabError(
            f"{chosen!r} is no name of a model", "Names have letters, digits and . _ : / @ + - and at most 200 of them"
        )
    return Upstream(api, address, environment.api_key, chosen)
