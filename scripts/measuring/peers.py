"""What lab is measured beside: the floor, the naive grader, and EvalPlus, from ../shared/bench."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from measuring.programs import Failed, run

if TYPE_CHECKING:
    from collections.abc import Sequence

WALL = re.compile(r"wall (\d+(?:\.\d+)?) s")
EVALPLUS_WALL = re.compile(r"== EvalPlus \w+, run (\d)|" + WALL.pattern)
DATASETS = ("humaneval", "mbpp")


@dataclasses.dataclass(frozen=True)
class Ran:
    """A peer's own account of a run: wall seconds, and per upstream id exit status and seconds."""

    wall_s: float
    tasks: dict[str, tuple[int, float]]

    @property
    def not_passed(self) -> list[str]:
        return [name for name, (code, _) in self.tasks.items() if code]


@dataclasses.dataclass(frozen=True)
class Peer:
    """`floor.py` or `naive.py`, run as it is, on the tasks that are asked for."""

    script: Path
    python: Path
    scratch: Path

    def run(self, ids: Sequence[str], workers: int) -> Ran:
        """Raises Failed where it does not run, or leaves a task out."""
        wanted, results = self.scratch / "ids.json", self.scratch / "results.json"
        wanted.write_text(json.dumps(ids))
        driver = Path(__file__).with_name("peer.py")
        done = run([self.python, driver, self.script, str(workers), wanted, results], cwd=self.scratch)
        said = WALL.search(done.out)
        tasks = {name: (code, seconds) for name, code, seconds in json.loads(results.read_text())}
        if said is None or tasks.keys() != set(ids):
            raise Failed(f"{self.script} ran {len(tasks)} of {len(ids)} tasks: {done.out}")
        return Ran(float(said[1]), tasks)


@dataclasses.dataclass(frozen=True)
class EvalPlus:
    """EvalPlus 0.3.1, installed by `peer_evalplus.sh` into `.bench` below `folder`."""

    script: Path
    folder: Path
    workers: int

    def references(self) -> float:
        """Wall seconds of its second run over the 542 references, both datasets."""
        if shutil.which("/usr/bin/time") is None:
            raise Failed("peer_evalplus.sh needs /usr/bin/time (Debian, Ubuntu: apt install time)")
        done = run(["bash", self.script, str(self.workers)], cwd=self.folder)
        return second_run(done.out)

    def samples(self, files: dict[str, Path]) -> float:
        """Wall seconds over samples files, by dataset; `references` has run before, so expected outputs are cached."""
        bench = self.folder / ".bench"
        more = {f"{name.upper()}_OVERRIDE_PATH": str(bench / f"{name}.jsonl") for name in DATASETS}
        wall_s = 0.0
        for name, file in files.items():
            # it would take an old file of results for those of these samples
            file.with_name(f"{file.stem}_eval_results.json").unlink(missing_ok=True)
            command: list[str | Path] = [
                bench / "venv" / "bin" / "evalplus.evaluate",
                "--dataset",
                name,
                "--samples",
                file,
            ]
            done = run(
                [*command, "--parallel", str(self.workers)],
                cwd=self.folder,
                more=more | {"XDG_CACHE_HOME": str(bench / "cache")},
            )
            wall_s += done.wall_s
        return wall_s


def second_run(text: str) -> float:
    """The wall seconds of the second run, summed over the datasets, from what peer_evalplus.sh prints."""
    seconds, turn = [], ""
    for found in EVALPLUS_WALL.finditer(text):
        if found[1]:
            turn = found[1]
        elif turn == "2":
            seconds.append(float(found[2]))
    if len(seconds) != len(DATASETS):
        raise Failed(f"EvalPlus did not run twice over both datasets: {text.strip()[-400:]}")
    return sum(seconds)
