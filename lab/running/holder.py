"""What holds a tool while it works: a sandbox (`agent_sandbox`), or nothing but its process group (`PlainProcess`)."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
from typing import TYPE_CHECKING, Protocol

from lab.environment import UNATTENDED
from lab.grading.isolation import Isolation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lab.proxy.server import Tap
    from lab.running.folders import Folders


class Network(enum.StrEnum):
    """What `--network` takes."""

    MODEL = "model"
    """The run's model, through the recording proxy, and nothing else."""
    HOST = "host"
    """All that this machine reaches."""


@dataclasses.dataclass(frozen=True)
class Start:
    """A process to start: its whole environment, and the descriptors that it keeps."""

    argv: list[str]
    env: Mapping[str, str]
    folder: Path
    pass_fds: tuple[int, ...] = ()


class Holder(Protocol):
    """A way to hold a tool, over all its attempts."""

    @property
    def isolation(self) -> Isolation: ...

    @property
    def network(self) -> Network: ...

    def work(self, folders: Folders) -> str:
        """The work folder, as the tool sees it."""
        ...

    def home(self, folders: Folders) -> str:
        """Its home, as it sees it."""
        ...

    def socket(self, folders: Folders) -> Path | None:
        """Where the proxy is to listen for this attempt; None is a port of the host's loopback."""
        ...

    def base_url(self, tap: Tap) -> str:
        """Where the tool reaches the proxy."""
        ...

    def start(
        self, argv: Sequence[str], environment: Mapping[str, str], folders: Folders
    ) -> AbstractContextManager[Start]:
        """What starts `argv` with the tool's own `environment` beside what every tool gets. Raises LabError."""
        ...

    def fault(self, folders: Folders, stderr: bytes) -> str | None:
        """Why the tool did not start at all, after a process that ended by itself; None where it did."""
        ...


@dataclasses.dataclass(frozen=True)
class PlainProcess:
    """No sandbox: the tool runs as the user, in a folder of its own, with the user's files and network."""

    variables: Mapping[str, str]
    """What it takes over of lab's environment."""
    isolation: Isolation = Isolation.PROCESS
    network: Network = Network.HOST

    def work(self, folders: Folders) -> str:
        return str(folders.work)

    def home(self, folders: Folders) -> str:
        return str(folders.home)

    def socket(self, folders: Folders) -> Path | None:  # noqa: ARG002
        return None

    def base_url(self, tap: Tap) -> str:
        return tap.base_url

    @contextlib.contextmanager
    def start(self, argv: Sequence[str], environment: Mapping[str, str], folders: Folders) -> Iterator[Start]:
        given = {**UNATTENDED, "HOME": str(folders.home), **self.variables}
        given |= {"TMPDIR": str(folders.tmp), "PWD": str(folders.work), **environment}
        yield Start(list(argv), given, folders.work)

    def fault(self, folders: Folders, stderr: bytes) -> str | None:  # noqa: ARG002
        return None
