"""A suite small enough to write by hand, and a grader in this process for tests of the flow alone."""

from __future__ import annotations

import dataclasses
import json
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from lab.datasets import row_digest
from lab.environment import Environment, read_environment
from lab.generate.choice import Amount
from lab.generate.generation import Outcome, Request, generate
from lab.grading.isolation import Isolation
from lab.grading.job import Graded, Job
from lab.grading.limits import Measured
from lab.grading.site import Venv
from lab.layout import SuitePaths
from lab.suites.base import Dataset, Problem, Repair, Row, Unusable
from lab.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pytest

    from lab.grading.work import Work

COLUMNS = {"id": str, "test": str, "reference": str, "kind": str}


@dataclasses.dataclass(frozen=True)
class TinySuite:
    """Rows are problems already; `kind` is a word that changes what becomes of one."""

    name: str = "tiny"
    summary: str = "for tests"
    datasets: Sequence[Dataset] = (
        Dataset("ones", COLUMNS, "id", file_stem="Ones"),
        Dataset("twos", COLUMNS, "id", file_stem="Twos", prompt_is_code=True),
    )
    requirements: str = ""
    imports: Sequence[str] = ()

    def problem(self, dataset: Dataset, row: Row) -> Problem | Unusable:
        name = f"{dataset.name}-{row['id'].partition('/')[2]}"
        if not row["test"]:
            return Unusable(name, row["id"], dataset.name, "there is no test")
        return Problem(
            task_id=name,
            upstream_id=row["id"],
            dataset=dataset.name,
            entry_point="f",
            prompt=f"Write f ({row['id']}).\n",
            stub="def f(x):\n    return x\n" if row["kind"] == "lazy" else "def f(x): ...\n",
            test=row["test"],
            reference=row["reference"],
            row_sha256=row_digest(row),
            upstream_test="upstream's\n" if row["kind"] == "mended" else None,
            repairs=(Repair("mend", "it was broken", "an issue"),) if row["kind"] == "mended" else (),
            constant_answer="nothing else is right" if row["kind"] == "constant" else None,
            tags={"tiny.domain": ("sums",)},
        )


def good_row(number: int, prefix: str = "One") -> Row:
    """A row whose reference is right, and nothing constant is."""
    return {
        "id": f"{prefix}/{number}",
        "test": f"assert f(1) == {number + 1}\nassert f(5) == {number + 5}\n",
        "reference": f"def f(x):\n    return x + {number}\n",
        "kind": "",
    }


def row(identifier: str, test: str, reference: str, kind: str = "") -> Row:
    return {"id": identifier, "test": test, "reference": reference, "kind": kind}


def write_rows(folder: Path, ones: Iterable[Row], twos: Iterable[Row] = ()) -> Path:
    """A --source folder."""
    folder.mkdir(exist_ok=True)
    for name, rows in (("ones", ones), ("twos", twos)):
        text = "".join(json.dumps(each) + "\n" for each in rows)
        path = folder / f"{name}.jsonl"
        if text:
            path.write_text(text)
    return folder


class InProcessPool:
    """Grades by running texts of these tests right here: quick, and of course no boundary at all."""

    graded: list[str]

    def __init__(self, venv: Venv, **options: Any) -> None:
        self.graded = []
        self.venv, self.isolation = venv, options.get("isolation", Isolation.PROCESS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def submit(self, job: Job) -> Future[tuple[Graded, ...]]:
        done: Future[tuple[Graded, ...]] = Future()
        done.set_result(tuple(self._grade(job, work) for work in job.works))
        return done

    def _grade(self, job: Job, work: Work) -> Graded:
        calls = 0
        task = job.exam.task
        self.graded.append(task.id)
        solution: dict[str, Any] = {}
        # compiled first: Python takes an interrupt of exec(text) for one that nobody caught, and exits by it
        exec(compile(work.files["solution.py"], "solution.py", "exec"), solution)

        def proxy(*arguments: object) -> object:
            nonlocal calls
            calls += 1
            return solution["f"](*arguments)

        status, reason = Status.PASS, "every case agreed"
        try:
            exec(job.exam.test, {"f": proxy})
        except AssertionError:
            status, reason = Status.WRONG, f"case {calls - 1} disagreed"
        if calls == 0:
            status, reason = Status.INFRA, "the hidden test made 0 calls"
        verdict = Verdict(
            status,
            reason,
            task.id,
            task.upstream_id,
            task.suite,
            task.dataset,
            cases_run=calls,
            solution_sha256=work.sha256,
            oracle_sha256=job.exam.test_sha256,
            lock_sha256=job.exam.lock_sha256,
        )
        return Graded(verdict, Measured(cases=calls, cpu_s=0.01))


FAKE_VENV = Venv(Path("python"), Path("site"), Path("base"), "fingerprint", "grader")


def fake_grading(monkeypatch: pytest.MonkeyPatch) -> list[InProcessPool]:
    """Generate without processes or venv; gives the pools that were made."""
    pools: list[InProcessPool] = []

    def make(venv: Venv, **options: Any) -> InProcessPool:
        pools.append(InProcessPool(venv, **options))
        return pools[-1]

    monkeypatch.setattr("lab.generate.generation.Pool", make)
    monkeypatch.setattr("lab.generate.generation.ensure_venv", lambda *_args, **_options: FAKE_VENV)
    return pools


def environment(folder: Path) -> Environment:
    return read_environment({"HOME": str(folder), "LAB_DATASETS_SERVER": "http://127.0.0.1:9"})


def run(root: Path, source: Path, *, every: bool = False, limit: int | None = None, **more: Any) -> Outcome:
    """One generation of the tiny suite, from the rows in `source`."""
    request = Request(jobs=2, amount=Amount(every=every, limit=limit), source=source, **more)
    return generate(suite_paths(root), TinySuite(), request, environment=environment(root), say=lambda _line: None)


def suite_paths(root: Path) -> SuitePaths:
    return SuitePaths(root / "evals" / "tiny")


def names(folder: Path) -> list[str]:
    """What is in `folder`, hidden names too."""
    return sorted(path.name for path in folder.iterdir())


def snapshot(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every published file below `folder`: content, mode and time of change."""
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock") and ".venv" not in path.parts
    }
