"""A root of its own with the evalplus suite in it, and the commands of lab that are measured there."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring.programs import Done, Failed, run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

PROJECT = Path(__file__).resolve().parents[2]
SUITE = "evalplus"


@dataclasses.dataclass(frozen=True)
class Laboratory:
    """The folder `root`, where the first `limit` problems of each dataset (None: all) are tasks."""

    root: Path
    shared: Path
    limit: int | None
    jobs: int

    @property
    def suite(self) -> Path:
        return self.root / "evals" / SUITE

    @property
    def python(self) -> Path:
        return self.suite / ".venv" / "bin" / "python"

    def lab(
        self,
        *arguments: str | Path,
        codes: Collection[int] = (0,),
        watch: bool = False,
        more: Mapping[str, str] | None = None,
    ) -> Done:
        """Run a command of lab; raises Failed where it exits with a code that is not among `codes`.

        `more` are variables beside the environment's, in which there is none of lab's.
        """
        argv = [lab_program(), "--root", self.root, *arguments]
        return run(argv, cwd=self.root, more=more, codes=codes, watch=watch)

    def gen(self) -> Done:
        """Generate and prove the suite from local rows."""
        amount = ["--all"] if self.limit is None else ["--limit", str(self.limit)]
        source: list[str | Path] = ["--source", self.shared / "data", "--jobs", str(self.jobs)]
        return self.lab("gen", "--suite", SUITE, *amount, *source)

    def gen_anew(self) -> Done:
        """The same as on a machine that has nothing but the suite's venv."""
        for path in self.suite.iterdir():
            if path.name in {".venv", ".venv.lock"}:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        return self.gen()

    def grade(self, samples: Path, *, watch: bool = False) -> tuple[Done, list[dict[str, Any]]]:
        """Grade a samples file from nothing; the records come in the file's order."""
        out = self.root / "results" / f"{samples.stem}.results.jsonl"
        shutil.rmtree(out.parent, ignore_errors=True)
        out.parent.mkdir()
        done = self.lab("grade", samples, "--suite", SUITE, "--jobs", str(self.jobs), "--out", out, watch=watch)
        with out.open(encoding="utf-8") as lines:
            _header, *records = [json.loads(line) for line in lines]
        return done, records

    def tasks(self) -> dict[str, str]:
        """Upstream id to task id, in natural order."""
        names = tomllib.loads((self.suite / "lock.toml").read_text("utf-8"))["tasks"]
        return {_upstream(self.suite / "tasks" / name / "task.toml"): name for name in names}

    def easiest(self, count: int) -> list[str]:
        """The ids of the tasks whose references take the least CPU time, as the proof measured it."""
        measured = tomllib.loads((self.suite / "measured.toml").read_text("utf-8"))["tasks"]
        return sorted(measured, key=lambda name: float(measured[name]["cpu_s"]))[:count]

    def check_script(self, task: str) -> Path:
        return self.suite / "tasks" / task / "check.sh"


def prepare(work: Path, shared: Path, *, limit: int | None, jobs: int) -> Laboratory:
    """A laboratory below `work` with its tasks proven and its venv built; quick where it stands already."""
    root = work / ("all" if limit is None else f"first-{limit}")
    root.mkdir(parents=True, exist_ok=True)
    laboratory = Laboratory(root.resolve(), shared.resolve(), limit, jobs)
    laboratory.gen()
    return laboratory


def lab_program() -> Path:
    """The lab of this checkout's .venv, else the one beside the Python that runs this."""
    beside = Path(sys.executable).parent / "lab"  # not resolved: a venv's python is a link out of it
    for program in (PROJECT / ".venv" / "bin" / "lab", beside):
        if os.access(program, os.X_OK):
            return program
    raise Failed("lab is not installed: run ./scripts/quickstart first")


def write_samples(path: Path, samples: Iterable[tuple[str, str]]) -> Path:
    """A samples file of (task, solution)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for task, solution in samples:
            file.write(json.dumps({"task_id": task, "solution": solution}) + "\n")
    return path


def _upstream(settings: Path) -> str:
    return str(tomllib.loads(settings.read_text("utf-8"))["upstream_id"])
