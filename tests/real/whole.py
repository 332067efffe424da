"""The whole suite from a loopback viewer, generated once a test session and shared by its workers.

A session has a folder of its own, so what is found there is never an earlier session's. The first worker that needs a
generation makes it under a lock; a record, written last, tells the others what came of it, a failure too.
"""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from lab.datasets.jsonl import find_file, read_rows
from lab.files import write_atomic
from lab.layout import Root
from lab.suites.evalplus import SUITE
from tests.support.required import SHARED_DATA
from tests.support.viewer import serve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lab.layout import SuitePaths

SHARED_SAMPLES = SHARED_DATA.parent / "samples"
SAMPLES = [SHARED_SAMPLES / f"{dataset.name}.jsonl.gz" for dataset in SUITE.datasets]
TASKS = 542
DEADLINE_S = 900.0


@dataclasses.dataclass(frozen=True)
class Said:
    """What one command came to."""

    code: int
    out: str
    err: str


@dataclasses.dataclass(frozen=True)
class Generation:
    """A root that `lab gen` was run in, what it said, and what it asked of the viewer (which is gone by now)."""

    root: str
    viewer: str
    pages: int
    said: Said

    @property
    def suite(self) -> SuitePaths:
        return Root(Path(self.root)).suite(SUITE.name)

    def lab(self, *arguments: str | Path) -> Said:
        """Run the command line in this root, with the viewer's address and nobody there."""
        return lab(Path(self.root), self.viewer, *arguments)


def generated(folder: Path, *options: str) -> Generation:
    """What `lab gen --suite evalplus --all` and `options` came to in `folder`, run by whoever comes first."""
    folder.mkdir(exist_ok=True)
    record = folder / "generation.json"
    with FileLock(folder / "generation.lock"):
        if not record.exists():
            write_atomic(record, json.dumps(dataclasses.asdict(_generate(folder, options))))
    table = json.loads(record.read_text())
    return Generation(**table | {"said": Said(**table["said"])})


def _generate(folder: Path, options: tuple[str, ...]) -> Generation:
    root = folder / "root"
    root.mkdir()
    rows = {
        str(dataset.hub_id): [row for _, row in read_rows(find_file(SHARED_DATA, dataset))]
        for dataset in SUITE.datasets
    }
    with serve(rows) as server:
        said = lab(root, server.url, "gen", "--suite", SUITE.name, "--all", *options)
        return Generation(str(root), server.url, len(server.requests), said)


def lab(root: Path, viewer: str, *arguments: str | Path) -> Said:
    """Run the command line as a user would, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "lab", "--root", root, *arguments],
        env=variables(root) | {"LAB_DATASETS_SERVER": viewer},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def variables(root: Path) -> dict[str, str]:
    """The environment less lab's own settings, its caches beside `root`: pip's index stays the user's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LAB_") and name != "HF_TOKEN"}
    return kept | {"XDG_CACHE_HOME": str(root.parent / "cache"), "LAB_PYTHON": sys.executable}


def snapshot(suite: SuitePaths) -> Mapping[str, tuple[bytes, int]]:
    """Bytes and time of every file of a suite but its venv's."""
    venv = suite.venv
    return {
        str(path.relative_to(suite.folder)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in suite.folder.rglob("*")
        if path.is_file() and not path.is_relative_to(venv)
    }


def lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a .jsonl.gz file."""
    with gzip.open(path, "rt", encoding="utf-8") as text:
        return [json.loads(line) for line in text]
