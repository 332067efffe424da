"""scripts/parity: lab's verdicts on the labelled samples beside EvalPlus's, and why they differ where they do."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import gzip
import hashlib
import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measuring import shared
from measuring.laboratory import PROJECT, SUITE, prepare, write_samples
from measuring.parity_causes import find_cause, measure, read_causes
from measuring.programs import Failed, positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measuring.parity_causes import Cause, Evidence

HEAD = """# Parity with EvalPlus

Written by `scripts/parity`, not by hand. The solutions of three language models that EvalPlus published with its own
verdicts, graded by `lab grade`. A pass of EvalPlus's is a pass of its base and of its plus inputs.
"""


@dataclasses.dataclass(frozen=True)
class Label:
    """A sample with EvalPlus's recorded verdicts."""

    dataset: str
    task: str
    """Upstream id."""
    model: str
    solution: str
    base: str
    plus: str

    @property
    def passed(self) -> bool:
        return self.base == self.plus == "pass"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.solution.encode("utf-8", "surrogatepass")).hexdigest()


@dataclasses.dataclass(frozen=True)
class Pair:
    """A sample with both verdicts."""

    label: Label
    status: str
    reason: str

    @property
    def agree(self) -> bool:
        """What lab could not grade agrees with nothing."""
        return self.status not in {"infra", "invalid"} and (self.status == "pass") == self.label.passed


@dataclasses.dataclass(frozen=True)
class Explained:
    """A disagreement; without a cause where none was found."""

    pair: Pair
    cause: Cause | None
    evidence: Evidence | None

    @property
    def holds(self) -> bool:
        """Whether the cause is one for lab's passing what EvalPlus fails, and its evidence bears it out."""
        return self.pair.status == "pass" and self.evidence is not None and self.evidence.holds


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the document; 1 where a disagreement has no cause whose evidence holds, 2 where nothing was compared."""
    options = _options(arguments)
    try:
        shared.check_shared(options.shared)
        labels = read_labels(options.shared)
        causes = read_causes()
        header, records = read_results(options.results or _grade(labels, options))
        pairs = pair(labels, records)
        found = [explain(one, causes, options.shared) for one in pairs if not one.agree]
        text = document(header, pairs, found)
        options.out.write_text(text, "utf-8")
    except (Failed, OSError) as error:
        print(f"parity: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    open_questions = [one for one in found if not one.holds]
    for one in open_questions:
        print(f"no cause holds: {_title(one.pair.label)}: lab says {one.pair.status}: {one.pair.reason}")
    print(f"{sum(one.agree for one in pairs)} of {len(pairs)} agree, {len(found)} do not; see {options.out}")
    return 1 if open_questions else 0


def read_labels(folder: Path) -> list[Label]:
    """Every labelled sample, dataset by dataset, in file order."""
    labels = []
    for name in shared.LABELLED.values():
        with gzip.open(folder / "samples" / name, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                texts = (row[key] for key in ("task_id", "model", "solution", "base_status", "plus_status"))
                labels.append(Label(name.partition(".")[0], *texts))
    return labels


def read_results(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The header and the records that `lab grade` wrote. Raises Failed where it did not."""
    try:
        header, *records = map(json.loads, path.read_text("utf-8").splitlines())
    except (OSError, ValueError) as error:
        raise Failed(f"{path} is not a results file of lab grade: {error}") from error
    return header, records


def pair(labels: Sequence[Label], records: Sequence[dict[str, Any]]) -> list[Pair]:
    """Label and record, line by line. Raises Failed where the records are of other samples."""
    theirs = [(label.task, label.sha256) for label in labels]
    ours = [(record.get("upstream_id"), record.get("solution_sha256")) for record in records]
    if theirs != ours:
        raise Failed("the results are not those of the labelled samples, HumanEval+ first, each in file order")
    return [Pair(one, record["status"], record["reason"]) for one, record in zip(labels, records, strict=True)]


def explain(one: Pair, causes: Sequence[Cause], folder: Path) -> Explained:
    """Find the cause of a disagreement and measure its evidence."""
    cause = find_cause(causes, one.label.task, one.label.sha256)
    return Explained(one, cause, measure(cause, one.label.solution, folder) if cause else None)


def document(header: dict[str, Any], pairs: Sequence[Pair], found: Sequence[Explained]) -> str:
    """The Markdown of docs/parity.md."""
    parts = [HEAD, _graded_by(header), "## Agreement\n", _agreement(pairs), "## By lab's status\n", _statuses(pairs)]
    parts += [f"## Disagreements: {len(found)}\n"]
    if found:
        right = "In each of them lab is right: " if all(one.holds for one in found) else ""
        parts.append(
            f"{right}The evidence was measured when this was written, with Python {platform.python_version()}.\n"
        )
    return "\n".join([*parts, *(_section(one) for one in found)])


def _graded_by(header: dict[str, Any]) -> str:
    return f"Graded by lab {header['lab']} (grader {header['grader']}, isolation {header['isolation']}).\n"


def _agreement(pairs: Sequence[Pair]) -> str:
    rows = []
    for name in [*dict.fromkeys(one.label.dataset for one in pairs), "all"]:
        agree = [one.agree for one in pairs if name in {one.label.dataset, "all"}]
        share = f"{100 * sum(agree) / len(agree):.2f} %"
        rows.append((name, str(len(agree)), str(sum(agree)), str(len(agree) - sum(agree)), share))
    return _table(("dataset", "samples", "agree", "disagree", "agreement"), rows)


def _statuses(pairs: Sequence[Pair]) -> str:
    counts = collections.Counter((one.status, one.label.passed) for one in pairs)
    statuses = sorted({status for status, _ in counts}, key=lambda name: (name != "pass", name))
    rows = [(name, str(counts[name, True]), str(counts[name, False])) for name in statuses]
    return _table(("lab", "EvalPlus passes", "EvalPlus fails"), rows)


def _section(one: Explained) -> str:
    label = one.pair.label
    cause = one.cause.cause if one.cause else "NOT FOUND."
    lines = [
        f"### {_title(label)}\n",
        f"- EvalPlus: base {label.base}, plus {label.plus}. lab: {one.pair.status}, {one.pair.reason}.",
        f"- Cause: {cause}",
    ]
    if one.evidence:
        lines.append(f"- Evidence: {one.evidence.text}.{'' if one.evidence.holds else ' IT DOES NOT HOLD.'}")
    return "\n".join(lines) + "\n"


def _title(label: Label) -> str:
    return f"{label.task}, {label.model}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def _grade(labels: Sequence[Label], options: argparse.Namespace) -> Path:
    """Grade all of them in a root of its own; gives the results file."""
    laboratory = prepare(PROJECT / ".bench" / "lab", options.shared, limit=None, jobs=options.jobs)
    samples = write_samples(laboratory.root / "labelled.jsonl", ((one.task, one.solution) for one in labels))
    out = samples.with_suffix(".results.jsonl")
    laboratory.lab("grade", samples, "--suite", SUITE, "--jobs", str(options.jobs), "--out", out)
    return out


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/parity", description="Grade the labelled samples and compare with EvalPlus's verdicts."
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="what lab grade wrote of both sample files, one after the other"
    )
    parser.add_argument("--out", type=Path, default=PROJECT / "docs" / "parity.md", metavar="FILE")
    parser.add_argument("--jobs", type=positive, default=2, metavar="N")
    parser.add_argument("--shared", type=Path, default=PROJECT.parent / "shared", help="the folder with the data")
    return parser.parse_args(arguments)
