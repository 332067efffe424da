"""The options that only `lab run` has, with their checks. Help texts are what a user reads first."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from lab.running.attempt import Retry
from lab.running.holder import Network
from lab.running.sampling import Sampling

MAX_TEMPERATURE = 2.0
MAX_ATTEMPTS = 100
MAX_SAMPLES = 10_000


def _temperature(value: float | None) -> float | None:
    if value is not None and not (math.isfinite(value) and 0 <= value <= MAX_TEMPERATURE):
        raise typer.BadParameter(f"{value} is not a number from 0 to {MAX_TEMPERATURE:g}")
    return value


Model = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="The model that the tool asks. Default: LAB_MODEL.")
]
Attempts = Annotated[
    int,
    typer.Option(
        "--attempts", metavar="N", min=1, max=MAX_ATTEMPTS, help="Tries a task, each fresh. Default 1; pass ends them."
    ),
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="AMOUNT", help="Start no more once this is spent: 2.50 (dollars) or 200ktokens."),
]
Retries = Annotated[
    list[Retry] | None,
    typer.Option("--retry", help="Do only what has such a result, again. Repeatable.", show_choices=True),
]
Local = Annotated[bool, typer.Option("--local", help="For model: ask a small one that runs here (lab[local]).")]
Net = Annotated[
    Network | None, typer.Option("--network", help="What an agent's sandbox reaches: its model (default), or all.")
]


def sampling(
    *,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", metavar="T", callback=_temperature, help="For model: 0 to 2. Default 0."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", metavar="N", min=1, help="For model: of an answer. Default 4096.")
    ] = None,
    num_samples: Annotated[
        int | None,
        typer.Option("--num-samples", metavar="N", min=1, max=MAX_SAMPLES, help="For model: runs a task, for pass@k."),
    ] = None,
) -> Sampling | None:
    """How the model is sampled; None where nothing was said of it."""
    given = {"temperature": temperature, "max_tokens": max_tokens, "num_samples": num_samples}
    said = {name: value for name, value in given.items() if value is not None}
    return Sampling(**said) if said else None  # type: ignore[arg-type]
