"""What makes a run the same run, so that resume skips it and nothing else."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

RUN_ID_HEX = 12


def digest(value: object) -> str:
    """sha256 of a JSON value in its canonical form: sorted keys, no spaces, ASCII."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Setup:
    """A tool as one invocation set it up: everything of a run's identity but the task."""

    tool: str
    tool_version: str | None = None
    model: str | None = None
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """JSON values: the command, the agent's timeout, the sha256 of a samples file."""
    api: str | None = None
    adapter_sha256: str | None = None
    isolation: str = "none"
    """Of the tool's process. This and those beside it are said in a result; where they make another run they are
    settings, too."""
    network: str = "host"

    def having(self, **settings: Any) -> Setup:
        """The same with further settings."""
        return dataclasses.replace(self, settings={**self.settings, **settings})

    @property
    def settings_sha256(self) -> str:
        return digest(dict(self.settings))

    def identity(self, entry_sha256: str) -> str:
        """The sha256 of this setup on the task whose lock entry hashes to `entry_sha256`."""
        return digest([self.tool, self.tool_version, self.model, self.settings_sha256, entry_sha256])


def run_id(identity: str, sample: int) -> str:
    """The name of a run's folder: the same run has the same name."""
    return f"{identity[:RUN_ID_HEX]}-{sample}"
