"""The real small model over the starter suite: it solves the easiest of its problems, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.running.agents import processes_with
from tests.support.laboratory import PROJECT
from tests.support.local_packages import local_packages

if TYPE_CHECKING:
    from pathlib import Path

DEADLINE_S = 600
SELECTED = ("startercomplete-0", "startercomplete-9", "startercomplete-12", "startercomplete-13", "starterprose-1")
"""Some of each kind: all 26 take ten minutes."""


def lab(root: Path, packages: Path, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "lab", "--root", root, *arguments],
        cwd=PROJECT,
        env=os.environ | {"PYTHONPATH": str(packages)},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done
    return done.stdout


@pytest.mark.slow
def test_a_real_model_passes_some_and_not_all(tmp_path: Path) -> None:
    packages = local_packages()
    lab(tmp_path, packages, "gen", "--suite", "starter", "--all")
    said = json.loads(lab(tmp_path, packages, "run", "model", "--local", *SELECTED, "--suite", "starter", "--json"))
    passed = said["statuses"].get("pass", 0)
    assert said["runs"] == len(SELECTED)
    assert 0 < passed < len(SELECTED), said["statuses"]
    assert {result["model"] for result in said["results"]} == {"smollm2-135m-instruct"}
    assert processes_with(str(packages)) == []
