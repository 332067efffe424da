"""What is committed of the starter suite, and shown of it in the README, is what lab makes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lab.grading.isolation import bwrap_trouble

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "evals" / "starter"
NOT_COMMITTED = {"measured.toml", "samples"}


def texts(suite: Path) -> dict[str, tuple[bytes, bool]]:
    """The bytes of every committed file of a suite, and whether it can be run."""
    parts = [part for part in suite.iterdir() if not part.name.startswith(".") and part.name not in NOT_COMMITTED]
    files = [file for part in parts for file in (part.rglob("*") if part.is_dir() else [part]) if file.is_file()]
    return {str(file.relative_to(suite)): (file.read_bytes(), os.access(file, os.X_OK)) for file in files}


def test_gen_makes_the_suite_that_is_committed(tmp_path: Path) -> None:
    variables = {name: value for name, value in os.environ.items() if not name.startswith("LAB_")}
    command = [sys.executable, "-m", "lab", "gen", "--suite", "starter", "--all", "--root", str(tmp_path)]
    done = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    made = texts(tmp_path / "evals" / "starter")
    assert made["lock.toml"] == texts(COMMITTED)["lock.toml"]
    assert made == texts(COMMITTED)


@pytest.mark.sandbox
def test_the_readme_shows_the_table_that_the_suite_gives() -> None:
    if trouble := bwrap_trouble():
        pytest.skip(f"bubblewrap does not run here: {trouble}")
    script = str(ROOT / "scripts" / "readme.py")
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
