"""Real agent CLIs at pinned versions, installed from their registries by their ordinary clients, once a machine.

They stay in the project's `.bench` folder, which git ignores: a new machine builds it by itself.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from tests.support.laboratory import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

CACHE = PROJECT / ".bench" / "agents"
INSTALL_TIMEOUT_S = 600
MAX_SHOWN = 2000


@dataclasses.dataclass(frozen=True)
class Pin:
    """What is installed, at which version, by which client."""

    client: str
    package: str
    version: str

    def line(self, folder: Path) -> list[str]:
        """The command line that installs it into `folder`."""
        match self.client:
            case "npm":
                quiet = ("--no-audit", "--no-fund", "--loglevel", "error")
                return ["npm", "install", "--global", "--prefix", str(folder), *quiet, f"{self.package}@{self.version}"]
            case "pip":
                python = str(folder / "bin/python")
                return [python, "-m", "pip", "install", "--quiet", f"{self.package}=={self.version}"]
            case _:
                return ["go", "install", f"{self.package}@{self.version}"]


PINS = {
    "codex": Pin("npm", "@openai/codex", "0.171.0"),
    "pi": Pin("npm", "@mariozechner/pi-coding-agent", "0.73.1"),
    "mini-swe-agent": Pin("pip", "mini-swe-agent", "2.4.6"),
    "tomo": Pin("go", "github.com/tamnd/tomo/cmd/tomo", "v0.2.11"),
    "claude-code": Pin("npm", "@anthropic-ai/claude-code", "2.1.197"),
    "gemini-cli": Pin("npm", "@google/gemini-cli", "0.61.0"),
    "opencode": Pin("npm", "opencode-ai", "1.18.33"),
    "aider": Pin("pip", "aider-chat", "0.86.2"),
    "qwen-code": Pin("npm", "@qwen-code/qwen-code", "0.15.10"),
}


def installed(tool: str) -> Path:
    """The folder with the tool's program, to be put on PATH. Skips the test where it cannot be had, saying why."""
    pin = PINS[tool]
    if shutil.which(pin.client) is None:
        pytest.skip(f"{tool} is installed by {pin.client}, which is not there")
    CACHE.mkdir(parents=True, exist_ok=True)
    folder = CACHE / f"{tool}-{pin.version}"
    with FileLock(f"{folder}.lock"):
        whole = folder / "whole"
        if not whole.exists():
            shutil.rmtree(folder, ignore_errors=True)
            _install(tool, pin, folder)
            whole.touch()
    return folder / "bin"


def _install(tool: str, pin: Pin, folder: Path) -> None:
    if pin.client == "pip":
        subprocess.run([sys.executable, "-m", "virtualenv", "--quiet", folder], check=True, stdin=subprocess.DEVNULL)
    environment = os.environ | {"GOBIN": str(folder / "bin")}
    done = subprocess.run(
        pin.line(folder),
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        errors="replace",
        timeout=INSTALL_TIMEOUT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        pytest.skip(f"{tool} could not be installed: {(done.stdout + done.stderr).strip()[-MAX_SHOWN:]}")
