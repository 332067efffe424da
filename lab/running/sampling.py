"""How a model is sampled by the built-in tool `model`."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Sampling:
    """Temperature 0 is the model's likeliest answer; `max_tokens` caps each answer."""

    temperature: float = 0.0
    max_tokens: int = 4096
    num_samples: int = 1
    """Independent runs of each task, for pass@k."""
