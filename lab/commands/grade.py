"""`lab grade`: a samples file on one suite."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING

from lab.bulk.contents import read_contents
from lab.bulk.grading import Grader
from lab.bulk.journal import PARTIAL, Journal
from lab.bulk.results import write_results
from lab.bulk.summary import summarise
from lab.bulk.terms import make_terms
from lab.console import out as standard_output
from lab.console import print_json, print_line, warn
from lab.errors import ExitCode, LabError
from lab.grading.exam import lock_digest
from lab.grading.isolation import choose
from lab.grading.pool import Pool
from lab.progress import progress
from lab.samples import open_samples
from lab.samples.foreign import foreign_line
from lab.samples.prompts import Prompts
from lab.selection import EVERYTHING, Filters, generated_suite, select
from lab.suites import get_suite
from lab.tasks import read_lock
from lab.venv import ensure_venv
from lab.verdict import Status

if TYPE_CHECKING:
    from pathlib import Path

    from lab.bulk.contents import Contents, Row, Unit
    from lab.bulk.summary import Summary
    from lab.environment import Environment
    from lab.layout import Root, SuitePaths
    from lab.verdict import Verdict

MAX_LINES_SHOWN = 20


@dataclasses.dataclass(frozen=True)
class GradeOptions:
    """The options of `lab grade`, as given."""

    samples: Path
    suite: str | None
    out: Path | None = None
    """None is beside the samples."""
    filters: Filters = EVERYTHING
    ks: tuple[int, ...] = (1,)
    """Of pass@k, in rising order."""
    grade_timeout_s: float | None = None
    """Of one candidate, wall; None is what the task's limits say."""
    jobs: int | None = None
    """None is what the environment says."""
    fresh: bool = False
    all_cases: bool = False
    isolation: str = "auto"
    as_json: bool = False


def grade(root: Root, environment: Environment, options: GradeOptions) -> ExitCode:
    """Grade the samples of the selected tasks: DONE where each got a verdict, PARTLY for infra and for bad lines.

    Raises LabError for usage, samples, venv and disk; KeyboardInterrupt once what is graded is kept.
    """
    suite = generated_suite(root, options.suite)
    out = results_path(options.samples, options.out)
    every = select(suite, EVERYTHING)
    selected = {task.id: task for task in select(suite, options.filters)}
    prompts = Prompts(suite)
    with open_samples(options.samples) as samples:
        known = {name: task for task in every for name in (task.id, task.upstream_id)}
        contents = read_contents(samples, prompts, known, set(selected))
        _tell(contents, suite, len(selected))
        _check(contents, options)
        isolation = choose(options.isolation, say=warn)
        venv = ensure_venv(suite, get_suite(suite.name), say=warn)
        tasks = {name: task for name, task in selected.items() if contents.counts[name]}
        lock = {name: entry for name, entry in read_lock(suite).items() if name in tasks}
        terms = make_terms(
            tasks,
            {name: entry.test for name, entry in lock.items()},
            venv=venv,
            isolation=isolation,
            grade_timeout_s=options.grade_timeout_s,
            all_cases=options.all_cases,
        )
        header = terms.header(suite.name, hashlib.sha256(suite.lock.read_bytes()).hexdigest())
        units = contents.units()
        jobs = options.jobs or environment.jobs
        unselected = {task.id for task in every} - selected.keys()
        with Journal(out, terms, header, fresh=options.fresh, unselected=unselected) as journal:
            left = [row for unit, row in units.items() if unit not in journal]
            if left:
                timeout_s = options.grade_timeout_s
                with Pool(venv, suite=suite.name, jobs=jobs, isolation=isolation, grade_timeout=timeout_s) as pool:
                    _grade(Grader(suite, samples, prompts, pool, jobs, options.all_cases), left, journal)
            digests = {name: lock_digest(entry) for name, entry in lock.items()}
            statuses = write_results(out, header, contents.rows, journal, digests)
            journal.finish()
    summary = summarise(statuses, tasks, options.ks)
    _print(summary, contents, options, suite=suite.name, out=out, units=len(units), reused=len(units) - len(left))
    return ExitCode.PARTLY if contents.bad or summary.all.count(Status.INFRA) else ExitCode.DONE


def results_path(samples: Path, out: Path | None) -> Path:
    """Where the results go: `out`, else SAMPLES with .results.jsonl. Raises LabError where that is the samples file."""
    if out is None:
        # the current folder has no name of its own
        named = samples if samples.name not in {"", ".."} else samples.resolve()
        out = named.with_name(f"{named.name.removesuffix('.gz').removesuffix('.jsonl')}.results.jsonl")
    # the target of a link is written, not the link
    out = out.resolve()
    for path in (out, out.with_name(f"{out.name}{PARTIAL}")):
        if path == samples.resolve() or (path.exists() and samples.exists() and path.samefile(samples)):
            raise LabError(f"the results would be written over the samples {samples}", "Name another file with --out")
    return out


def _tell(contents: Contents, suite: SuitePaths, selected: int) -> None:
    """Say what of the samples is not graded."""
    bad = contents.bad
    for row in bad[:MAX_LINES_SHOWN]:
        warn(f"{row}; it is left out")
    if len(bad) > MAX_LINES_SHOWN:
        warn(f"{len(bad) - MAX_LINES_SHOWN} more lines are left out; the results say which")
    if contents.unknown:
        warn(foreign_line(contents.unknown, suite.name, contents.unknown_samples))
    if without := selected - len(contents.counts):
        warn(f"{without} of the {selected} selected tasks have no sample")


def _check(contents: Contents, options: GradeOptions) -> None:
    """Raise LabError where there is nothing to grade, or a pass@k that the samples cannot give."""
    if not contents.counts:
        if contents.unselected or contents.unknown:
            raise LabError("none of the selected tasks has a sample", "Select others, or name other samples")
        first = f": {contents.bad[0]}" if contents.bad else ""
        raise LabError(
            f"{options.samples} holds no samples{first}", 'Give one JSON object a line, {"task_id", "solution"}'
        )
    task_id, fewest = min(contents.counts.items(), key=lambda pair: pair[1])
    if options.ks[-1] > fewest:
        raise LabError(
            f"pass@{options.ks[-1]} needs that many samples of every task, and {task_id} has {fewest}",
            f"Give --k at most {fewest}, or leave tasks out with -t",
        )


def _grade(grader: Grader, rows: list[Row], journal: Journal) -> None:
    """Grade rows, keeping each result as it comes."""
    done = 0
    with progress(f"grading {grader.suite.name}") as tell:
        tell(done, len(rows))

        def settle(unit: Unit, verdict: Verdict) -> None:
            nonlocal done
            done += 1
            journal.add(unit, verdict.record())
            tell(done, len(rows))

        try:
            grader.grade(rows, settle)
        except KeyboardInterrupt:
            warn(f"stopped with {done} of {len(rows)} solutions graded; the same command goes on from here")
            raise


def _print(
    summary: Summary, contents: Contents, options: GradeOptions, *, suite: str, out: Path, units: int, reused: int
) -> None:
    samples = sum(contents.counts.values())
    if options.as_json:
        record = {
            "suite": suite,
            "results": str(out),
            "samples": samples,
            "identical": samples - units,
            "reused": reused,
            "invalid": len(contents.bad),
            "unknown": contents.unknown_samples,
            "unknown_tasks": dict(contents.unknown),
            "unselected": contents.unselected,
        }
        print_json(record | summary.record())
        return
    notes = [f"{reused} graded before"] * bool(reused) + [f"{samples - units} the same as another"] * (samples > units)
    notes += [f"{len(contents.bad)} bad lines left out"] * bool(contents.bad)
    print_line(f"{suite}: {samples} samples of {len(contents.counts)} tasks{': ' * bool(notes)}{', '.join(notes)}")
    standard_output().print(summary.table())
    if short := [k for k in options.ks if summary.all.pass_at(k) is None]:
        print_line(f"pass@{short[0]}: a task has fewer scored samples than that, since lab could not grade some")
    print_line(f"results: {out}")
