"""The flow of a generation: rows, problems, proof, publication."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from lab.datasets import Rows, datasets_in, fetch_rows
from lab.errors import LabError
from lab.files import write_atomic
from lab.generate.choice import Amount, belongs, choose, choose_datasets, task_id
from lab.generate.exclusive import exclusive
from lab.generate.ledger import Ledger, read_ledger
from lab.generate.proof import Proven, Refused, prove_all
from lab.generate.publish import Staging, holds, interrupted, stands, task_folders
from lab.generate.render import lock_entry, proof_key, task_files, task_of
from lab.grading.isolation import choose as choose_isolation
from lab.grading.limits import PROOF_LIMITS, limits_from
from lab.grading.pool import Pool
from lab.grading.work import Missing, Work
from lab.order import natural
from lab.progress import progress
from lab.suites.base import Problem, Unusable
from lab.venv import ensure_venv

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lab.environment import Environment
    from lab.grading.site import Venv
    from lab.layout import SuitePaths
    from lab.suites.base import Dataset, Row, Suite


@dataclasses.dataclass(frozen=True)
class Request:
    """What a generation was asked to do."""

    jobs: int
    amount: Amount = dataclasses.field(default_factory=Amount)
    datasets: tuple[str, ...] = ()
    """Names; none is every dataset of the suite."""
    source: Path | None = None
    offline: bool = False
    refresh: bool = False
    validate: bool = True
    fresh: bool = False
    """Prove again what an earlier generation has proven here."""
    prune: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a generation did. Ids are in natural order."""

    selected: int
    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    unproven: tuple[str, ...]
    dropped: Mapping[str, Refused]
    removed: tuple[str, ...]
    constant_answers: Mapping[str, str]
    """Task to why a constant is a right answer, where one passed."""
    total: int
    """Tasks that the suite has now."""
    rows: Mapping[str, Rows] = dataclasses.field(default_factory=dict)
    """Dataset name to the rows that were used."""
    venv: Venv | None = None
    """What the proof ran in; None where nothing was to be proven."""


def generate(
    paths: SuitePaths, suite: Suite, request: Request, *, environment: Environment, say: Callable[[str], None]
) -> Outcome:
    """Generate what `request` selects, prove it and publish it; `say` is given lines for the user.

    Raises LabError where rows, disk, venv or isolation refuse: then nothing has changed. An interrupt keeps the
    proofs made so far, so that the next generation goes on from there.
    """
    datasets = choose_datasets(suite, request.datasets)
    if request.source is not None:
        datasets = list(datasets_in(request.source, datasets))
    with exclusive(paths):
        generation = _Generation(paths, suite, request, read_ledger(paths, say), say)
        rows = {dataset.name: generation.fetch(dataset, environment) for dataset in datasets}
        plan = generation.plan(datasets, rows)
        venv = ensure_venv(paths, suite, say=say) if request.validate else None
        proofs = generation.proofs(plan.problems, venv)
        for dataset in datasets:
            generation.ledger.note_rows(dataset, rows[dataset.name])
        return dataclasses.replace(generation.publish(plan, proofs), rows=rows, venv=venv)


@dataclasses.dataclass(frozen=True)
class _Plan:
    problems: list[Problem]
    unusable: list[Unusable]
    gone: list[str]
    """Tasks to be removed."""


@dataclasses.dataclass(frozen=True)
class _Generation:
    """The steps of one generation, in the order in which they are taken."""

    paths: SuitePaths
    suite: Suite
    request: Request
    ledger: Ledger
    say: Callable[[str], None]

    def fetch(self, dataset: Dataset, environment: Environment) -> Rows:
        source = self.request.source or dataset.embedded
        with progress(f"reading {dataset.name}") as shown:
            rows = fetch_rows(
                dataset,
                source=source,
                env=environment,
                offline=self.request.offline,
                refresh=self.request.refresh,
                progress=shown,
                say=self.say,
            )
        if source is not None and source == dataset.embedded:
            # where lab is installed is nobody's business: evals/starter is committed
            rows = dataclasses.replace(rows, origin="shipped with lab")
        return rows

    def plan(self, datasets: Sequence[Dataset], rows: Mapping[str, Rows]) -> _Plan:
        lock = self.ledger.lock
        folders = self._folders()
        present = {*lock, *self.ledger.dropped, *folders}
        # what is half made is completed, unless it is to go
        broken = set() if self.request.prune else interrupted(self.paths, lock, {*lock, *folders})
        whole_suite = len(datasets) == len(self.suite.datasets)
        # what no dataset of the suite has a name for goes when all of them were looked at
        kept = set() if whole_suite else {name for name in present if not any(belongs(name, d) for d in datasets)}
        made: list[Problem | Unusable] = []
        for dataset in datasets:
            by_id = _by_id(dataset, rows[dataset.name].rows)
            chosen = choose(list(by_id), self.request.amount, present=present, broken=broken)
            made += [_problem(self.suite, dataset, by_id[name]) for name in chosen]
            kept |= by_id.keys()
        if self.request.prune:
            kept = {problem.task_id for problem in made}
        return _Plan(
            problems=[problem for problem in made if isinstance(problem, Problem)],
            unusable=[problem for problem in made if isinstance(problem, Unusable)],
            gone=sorted(present - kept, key=natural),
        )

    def proofs(self, problems: Sequence[Problem], venv: Venv | None) -> dict[str, Proven | Refused]:
        """Task id to its proof; without a venv only what was proven before has one."""
        proofs: dict[str, Proven | Refused] = {}
        keys = {problem.task_id: proof_key(problem) for problem in problems}
        if not self.request.fresh:
            known = {name: self.ledger.known_proof(name, key, venv) for name, key in keys.items()}
            proofs |= {name: proof for name, proof in known.items() if proof is not None}
        left = [problem for problem in problems if problem.task_id not in proofs]
        if venv is None or not left:
            return proofs
        # a long one that starts last would run alone at the end
        left.sort(key=lambda problem: (self.ledger.seconds(problem), len(problem.test)), reverse=True)
        jobs = self.request.jobs
        try:
            with (
                progress(f"proving {self.suite.name}") as shown,
                Pool(venv, suite=self.suite.name, jobs=jobs, isolation=choose_isolation(say=self.say)) as pool,
                contextlib.closing(prove_all(pool, self.suite.name, left, jobs=jobs)) as outcomes,
            ):
                for done, (problem, outcome) in enumerate(outcomes, start=1):
                    proofs[problem.task_id] = outcome
                    if isinstance(outcome, Proven):
                        self.ledger.prove(problem, keys[problem.task_id], outcome, venv)
                    shown(done, len(left))
        finally:
            measured = self.ledger.measured_toml().encode("utf-8")
            if not holds(self.paths.measured, measured):
                write_atomic(self.paths.measured, measured)
        return proofs

    def publish(self, plan: _Plan, proofs: Mapping[str, Proven | Refused]) -> Outcome:
        had = {*self.ledger.lock, *self._folders()}
        kept = [problem for problem in plan.problems if not isinstance(proofs.get(problem.task_id), Refused)]
        dropped = {problem.task_id: Refused(problem.reason) for problem in plan.unusable}
        dropped |= {name: proof for name, proof in proofs.items() if isinstance(proof, Refused)}
        selected: list[Problem | Unusable] = [*plan.problems, *plan.unusable]
        upstream = {problem.task_id: problem.upstream_id for problem in selected}
        with Staging(self.paths) as staging:
            written = [p.task_id for p in kept if self._stage(staging, p, proofs.get(p.task_id))]
            for name in sorted(dropped, key=natural):
                self.ledger.drop(name, upstream[name], dropped[name])
            for name in plan.gone:
                self.ledger.forget(name)
            for name in {*dropped, *plan.gone} & had - self.ledger.lock.keys():
                staging.remove(name)
            for path, text in self.ledger.documents(self.suite, self.paths).items():
                staging.document(path, text)
            staging.commit()
        return Outcome(
            selected=len(selected),
            written=tuple(written),
            unchanged=tuple(problem.task_id for problem in kept if problem.task_id not in written),
            unproven=tuple(problem.task_id for problem in kept if problem.task_id not in proofs),
            dropped={name: dropped[name] for name in sorted(dropped, key=natural)},
            removed=tuple(name for name in plan.gone if name in had),
            constant_answers={
                problem.task_id: problem.constant_answer
                for problem in kept
                if problem.constant_answer and _passing_constants(proofs.get(problem.task_id))
            },
            total=len(self.ledger.lock),
        )

    def _stage(self, staging: Staging, problem: Problem, proof: Proven | Refused | None) -> bool:
        """Stage a problem that is kept; whether there was anything to write."""
        cases, limits, proven = 0, PROOF_LIMITS, isinstance(proof, Proven)
        if isinstance(proof, Proven):
            cases, limits = proof.measured.cases, limits_from(proof.measured)
        task = task_of(problem, self.suite.name, cases=cases, limits=limits)
        paths = self.paths.task(problem.task_id)
        files = task_files(problem, task, paths, proven=proven)
        self.ledger.keep(problem, lock_entry(problem), proven=proven)
        if stands(files, paths):
            return False
        staging.add(problem.task_id, files)
        return True

    def _folders(self) -> set[str]:
        """The task folders that stand; what no dataset has a name for is somebody else's."""
        return {name for name in task_folders(self.paths) if any(belongs(name, d) for d in self.suite.datasets)}


def _passing_constants(proof: Proven | Refused | None) -> tuple[str, ...]:
    return proof.constants if isinstance(proof, Proven) else ()


def _by_id(dataset: Dataset, rows: Sequence[Row]) -> dict[str, Row]:
    by_id: dict[str, Row] = {}
    for row in rows:
        name = task_id(dataset, row)
        if name in by_id:
            raise LabError(f"{dataset.name}: two rows would become the task {name}", "Use the upstream rows")
        by_id[name] = row
    return by_id


def _problem(suite: Suite, dataset: Dataset, row: Row) -> Problem | Unusable:
    problem = suite.problem(dataset, row)
    if isinstance(problem, Problem):
        why = None
        try:
            for solution in (problem.stub, problem.reference):
                Work.of(solution)
            "".join((problem.prompt, problem.test, problem.upstream_test or "")).encode("utf-8")
        except UnicodeEncodeError:
            why = "a text of the row holds a lone surrogate, which no file can hold"
        except Missing as error:
            why = f"its reference or stub could never be graded: {error}"
        if why is not None:
            return Unusable(problem.task_id, problem.upstream_id, problem.dataset, why)
    return problem
