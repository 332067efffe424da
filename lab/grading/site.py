"""The suite's grading venv, as whoever grades sees it. `lab.venv` builds it. Stdlib only."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError
from lab.files import NotRegularFile, read_regular, write_atomic

if TYPE_CHECKING:
    from lab.layout import SuitePaths

MAX_READY_BYTES = 1 << 16


@dataclasses.dataclass(frozen=True)
class Venv:
    """A whole venv: what is needed to grade in it, and what decides a verdict there."""

    python: Path
    site_packages: Path
    base_prefix: Path
    """Where the base interpreter and its standard library are."""
    fingerprint: str
    """sha256 of what decides a verdict here beside the grader: the requirements and the Python."""
    grader: str
    """The grader's version: lab's own, and the first digits of the sha256 of the grader's sources."""

    @property
    def folder(self) -> Path:
        return self.python.parents[1]

    @property
    def grader_folder(self) -> Path:
        """The folder with the copy of lab that this venv carries; see SuitePaths.carried_grader."""
        return self.folder / "grader"


def read_venv(paths: SuitePaths) -> Venv:
    """The suite's venv; raises LabError where none is ready, or what says so is broken."""
    fix = f"Run lab gen --suite {paths.name} again"
    try:
        table = json.loads(read_regular(paths.venv_ready, MAX_READY_BYTES))
        texts = {field.name: table[field.name] for field in dataclasses.fields(Venv)}
    except FileNotFoundError:
        raise LabError(f"the suite has no grading venv at {paths.venv}", fix) from None
    except (NotRegularFile, ValueError, LookupError, TypeError, RecursionError) as error:
        raise LabError(f"{paths.venv_ready} cannot be read: {error!r}", fix) from error
    if not all(isinstance(text, str) and text and "\0" not in text for text in texts.values()):
        raise LabError(f"{paths.venv_ready} does not describe a venv", fix)
    return Venv(
        python=paths.venv / texts["python"],
        site_packages=paths.venv / texts["site_packages"],
        base_prefix=Path(texts["base_prefix"]),
        fingerprint=texts["fingerprint"],
        grader=texts["grader"],
    )


def write_venv(paths: SuitePaths, venv: Venv) -> None:
    """Say that the venv is whole. Its own paths are written from its folder on: a root may be moved."""
    table = dataclasses.asdict(venv) | {
        "python": venv.python.relative_to(paths.venv),
        "site_packages": venv.site_packages.relative_to(paths.venv),
    }
    write_atomic(paths.venv_ready, json.dumps({name: str(value) for name, value in table.items()}, indent=1) + "\n")
