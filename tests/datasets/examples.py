"""Small rows for the two real datasets, and the environment to fetch them in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.environment import Environment, read_environment
from lab.suites.evalplus.datasets import HUMANEVALPLUS as HUMANEVAL
from lab.suites.evalplus.datasets import MBPPPLUS as MBPP

if TYPE_CHECKING:
    from pathlib import Path

    from lab.suites.base import Row

__all__ = ["HUB_ID", "HUMANEVAL", "MBPP", "environment", "humaneval_rows", "mbpp_rows"]

HUB_ID = str(HUMANEVAL.hub_id)


def humaneval_rows(count: int) -> list[Row]:
    return [
        {
            "task_id": f"HumanEval/{n}",
            "prompt": f"def f{n}(x):\n",
            "canonical_solution": f"    return x + {n}  # ü\n",
            "entry_point": f"f{n}",
            "test": f"def check(candidate):\n    assert candidate(0) == {n}\n",
        }
        for n in range(count)
    ]


def mbpp_rows(count: int) -> list[Row]:
    return [
        {
            "task_id": n,
            "code": f"def f{n}(x):\n    return x",
            "prompt": "Return it.",
            "source_file": "problems.ipynb",
            "test_imports": [],
            "test_list": [f"assert f{n}(1) == 1"],
            "test": f"assert f{n}(2) == 2",
        }
        for n in range(2, count + 2)
    ]


def environment(tmp_path: Path, server: str = "http://127.0.0.1:9", **variables: str) -> Environment:
    return read_environment(
        {
            "HOME": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "LAB_DATASETS_SERVER": server,
            **variables,
        }
    )
