"""What is known of single problems beyond their rows, by upstream id."""

from __future__ import annotations

CONSTANT_ANSWERS: dict[str, str] = {}
"""Problems that one constant answers rightly, and why: there the proof does not ask that constants fail."""

WEIGHTS_S = {
    "Mbpp/599": 20.0,
    "Mbpp/255": 8.7,
    "HumanEval/139": 7.0,
    "HumanEval/15": 5.6,
    "Mbpp/392": 3.5,
    "Mbpp/271": 2.7,
    "HumanEval/130": 2.3,
    "Mbpp/603": 2.0,
    "Mbpp/123": 2.0,
    "HumanEval/83": 1.9,
    "Mbpp/592": 1.5,
    "HumanEval/59": 1.2,
    "HumanEval/36": 1.1,
    "Mbpp/389": 1.0,
    "Mbpp/589": 1.0,
    "HumanEval/94": 0.9,
    "Mbpp/300": 0.9,
    "Mbpp/84": 0.9,
    "Mbpp/630": 0.7,
    "Mbpp/583": 0.6,
}
"""CPU seconds of the references that took more than half a second, to start the slowest first. Scale only."""
