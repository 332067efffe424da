"""What a run of a tool costs beside the grading of what it left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measuring.figures import Figure
from measuring.laboratory import write_samples

if TYPE_CHECKING:
    from measuring.laboratory import Laboratory

TASKS = 60
BAR_S = 0.3
NAME = "idle"
ADAPTER = f"""\
name = "{NAME}"
api = "openai-chat"
command = ["true", "{{prompt}}"]

[environment]
BASE_URL = "{{base_url}}/v1"
API_KEY = "{{key}}"

[[files]]
path = "{{home}}/settings.json"
text = '{{"model": "{{model}}"}}'
"""
"""A tool with all that lab puts up for one: a proxy, a line of its own through a relay, settings. It asks nothing."""
MODEL = {"LAB_BASE_URL": "http://127.0.0.1:9", "LAB_MODEL": "nobody"}
"""Nobody answers there."""


def overhead(laboratory: Laboratory, rounds: int) -> Figure:
    """Seconds a task that `lab run` of an agent that does nothing takes longer than `lab grade` of as many stubs."""
    names = list(laboratory.tasks().values())[:TASKS]
    stubs = [(name, (laboratory.suite / "tasks" / name / "solution.py").read_text("utf-8")) for name in names]
    samples = write_samples(laboratory.root / "samples" / f"stubs-{len(stubs)}.jsonl", stubs)
    adapter = laboratory.root / "tools" / f"{NAME}.toml"
    adapter.parent.mkdir(exist_ok=True)
    adapter.write_text(ADAPTER, "utf-8")
    run = ["run", NAME, *names, "--suite", laboratory.suite.name, "--fresh", "--jobs", str(laboratory.jobs)]
    seconds = []
    for _ in range(rounds):
        graded, _records = laboratory.grade(samples)
        ran = laboratory.lab(*run, more=MODEL)
        seconds.append((ran.wall_s - graded.wall_s) / len(names))
    what = f"lab run of an agent that asks nothing, a task, beyond grading; {len(names)} tasks, {laboratory.jobs} jobs"
    return Figure(what, "s", tuple(seconds), BAR_S)
