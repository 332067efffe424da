"""What a run of a tool costs beside the grading of what it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measuring.figures import Figure
from measuring.laboratory import write_samples

if TYPE_CHECKING:
    from measuring.laboratory import Laboratory

TASKS = 60
BAR_S = 0.3


def overhead(laboratory: Laboratory, rounds: int) -> Figure:
    """Seconds a task that `lab run` of a program that does nothing takes longer than `lab grade` of as many stubs."""
    names = list(laboratory.tasks().values())[:TASKS]
    stubs = [(name, (laboratory.suite / "tasks" / name / "solution.py").read_text("utf-8")) for name in names]
    samples = write_samples(laboratory.root / "samples" / f"stubs-{len(stubs)}.jsonl", stubs)
    run = ["run", "idle", *names, "--command", "true", "--suite", laboratory.suite.name, "--fresh"]
    seconds = []
    for _ in range(rounds):
        graded, _records = laboratory.grade(samples)
        ran = laboratory.lab(*run, "--jobs", str(laboratory.jobs))
        seconds.append((ran.wall_s - graded.wall_s) / len(names))
    what = f"lab run of a tool that does nothing, a task, beyond grading; {len(names)} tasks, {laboratory.jobs} jobs"
    return Figure(what, "s", tuple(seconds), BAR_S)
