"""scripts/bench: how fast lab is and what memory it takes, beside its bars."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import itertools
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import shared
from measuring.figures import Figure, table
from measuring.laboratory import PROJECT, Laboratory, prepare, write_samples
from measuring.machine import busy_warning, machine_line
from measuring.peers import EvalPlus, Peer
from measuring.programs import Failed, positive, run
from measuring.proxy import first_byte
from measuring.running import overhead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

WORKERS = 2
CHUNK = 20
HEAVY = "Mbpp/255"
"""Its hidden test's own data takes 2 GB, whoever runs it."""
EASY_TASKS = 20
FEW_SAMPLES, MANY_SAMPLES = 1_000, 10_000
GEN_BAR, CHECK_BAR, GRADE_BAR, EVALPLUS_BAR, LABELLED_BAR = 1.6, 1.3, 1.2, 0.35, 0.5
MEMORY_BAR_MB, BULK_MEMORY_BAR_MB, FLAT_BAR = 500.0, 400.0, 1.1


@dataclasses.dataclass(frozen=True)
class Bench:
    """What every measurement needs, and the remarks that go under the table."""

    laboratory: Laboratory
    shared: Path
    repeat: int
    evalplus: EvalPlus | None
    remarks: list[str] = dataclasses.field(default_factory=list)

    def speed(self, only: Sequence[str]) -> Iterator[Figure]:
        """`lab gen` and `lab grade` of the references beside the floor and EvalPlus, in turn."""
        sides: dict[str, Callable[[], float]] = {"floor": self._floor}
        if "gen" in only:
            sides["gen"] = lambda: self.laboratory.gen_anew().wall_s
        if "grade" in only:
            sides["grade"] = lambda: self._grade(self._reference_samples())
        if "grade" in only and self.evalplus is not None:
            sides["evalplus"] = self.evalplus.references
        seconds = self._in_turn(sides)
        if "gen" in only:
            what = f"lab gen, {len(self._ids())} tasks proven, {WORKERS} jobs"
            yield Figure(what, "s", seconds["gen"], GEN_BAR, "floor.py", seconds["floor"])
        if "grade" in only:
            what = f"lab grade, {len(self._ids())} references, {WORKERS} jobs"
            yield Figure(what, "s", seconds["grade"], GRADE_BAR, "floor.py", seconds["floor"])
            yield Figure(what, "s", seconds["grade"], EVALPLUS_BAR, "EvalPlus, second run", seconds.get("evalplus", ()))

    def check(self) -> Iterator[Figure]:
        """The median check.sh beside the median of the naive grader, on the same tasks, some of each in turn."""
        tasks, solutions = self.laboratory.tasks(), shared.references(self.shared)
        naive = self._peer("naive.py")
        ours, theirs = [], []
        for number in range(self.repeat):
            self._say(f"check.sh and naive.py, round {number + 1}")
            seconds: dict[str, list[float]] = {"lab": [], "naive": []}
            for turn, ids in enumerate(_chunks(list(tasks), CHUNK)):
                sides = {
                    "lab": lambda ids=ids: [self._check(tasks[name], solutions[name]) for name in ids],
                    "naive": lambda ids=ids: [one for _, one in naive.run(ids, 1).tasks.values()],
                }
                # whatever the machine does meanwhile comes to both: now one goes first, now the other
                for side in sorted(sides, reverse=bool(turn % 2)):
                    seconds[side] += sides[side]()
            ours.append(statistics.median(seconds["lab"]))
            theirs.append(statistics.median(seconds["naive"]))
        what = f"median check.sh, {len(tasks)} references, one at a time"
        yield Figure(what, "s", tuple(ours), CHECK_BAR, "naive.py 1, median", tuple(theirs))

    def labelled(self) -> Iterator[Figure]:
        """The labelled samples, about forty of which never end, beside EvalPlus on the same files."""
        known = self.laboratory.tasks()
        files = {
            name: write_samples(
                self._samples / f"{name}-labelled.jsonl",
                (s for s in shared.labelled(self.shared, name) if s[0] in known),
            )
            for name in shared.LABELLED
        }
        both = self._samples / "labelled.jsonl"
        both.write_text("".join(file.read_text("utf-8") for file in files.values()), encoding="utf-8")
        sides: dict[str, Callable[[], float]] = {"lab": lambda: self._grade(both, may_fail=True)}
        if self.evalplus is not None:
            evalplus = self.evalplus
            evalplus.references()  # installs it, and leaves the expected outputs behind
            sides["evalplus"] = lambda: evalplus.samples(files)
        seconds = self._in_turn(sides)
        what = f"lab grade, {len(both.read_text('utf-8').splitlines()):,} labelled samples, {WORKERS} jobs"
        yield Figure(what, "s", seconds["lab"], LABELLED_BAR, "EvalPlus", seconds.get("evalplus", ()))

    def memory(self) -> Iterator[Figure]:
        """The most that lab's own processes hold while every reference but the heavy one is graded."""
        samples = self._reference_samples(without=HEAVY)
        peaks = tuple(self._watched(samples) for _ in range(self.repeat))
        what = f"lab's own peak memory, references without {HEAVY}"
        yield Figure(what, "MB", peaks, MEMORY_BAR_MB)

    def flat(self) -> Iterator[Figure]:
        """The same for many samples of easy tasks, and for ten times as many."""
        tasks = {task: upstream for upstream, task in self.laboratory.tasks().items()}
        solutions = shared.references(self.shared)
        easy = [tasks[name] for name in self.laboratory.easiest(EASY_TASKS)]
        peaks: dict[int, tuple[float, ...]] = {}
        for count in (FEW_SAMPLES, MANY_SAMPLES):
            # no two are alike, so that none is answered from another's verdict
            texts = (f"{solutions[name]}\n# sample {n}\n" for n, name in enumerate(itertools.cycle(easy)))
            numbered = zip(itertools.cycle(easy), itertools.islice(texts, count), strict=False)
            samples = write_samples(self._samples / f"easy-{count}.jsonl", numbered)
            peaks[count] = tuple(self._watched(samples) for _ in range(self.repeat))
            yield Figure(f"lab's own peak memory, {count:,} samples", "MB", peaks[count], BULK_MEMORY_BAR_MB)
        yield Figure(
            f"the same, {MANY_SAMPLES:,} samples beside {FEW_SAMPLES:,}",
            "MB",
            peaks[MANY_SAMPLES],
            FLAT_BAR,
            f"{FEW_SAMPLES:,} samples",
            peaks[FEW_SAMPLES],
        )

    def run(self) -> Iterator[Figure]:
        """What running a tool costs, beside grading what it left."""
        self._say("lab run of a tool that does nothing")
        yield overhead(self.laboratory, self.repeat)

    def proxy(self) -> Iterator[Figure]:
        """What the way through the recording proxy costs."""
        self._say("streams through the proxy")
        yield first_byte(self.repeat)

    # ---- one run each

    def _floor(self) -> float:
        ran = self._peer("floor.py").run(self._ids(), WORKERS)
        if ran.not_passed:
            self._remark(f"floor.py: not passed: {', '.join(ran.not_passed)}")
        return ran.wall_s

    def _grade(self, samples: Path, *, may_fail: bool = False) -> float:
        done, records = self.laboratory.grade(samples)
        self._remark_on(samples, [str(record["status"]) for record in records], may_fail=may_fail)
        return done.wall_s

    def _watched(self, samples: Path) -> float:
        self._say(f"{samples.name}, watched")
        done, records = self.laboratory.grade(samples, watch=True)
        self._remark_on(samples, [str(record["status"]) for record in records], may_fail=False)
        return done.peak_mb

    def _check(self, task: str, solution: str) -> float:
        work = self._samples / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "solution.py").write_text(solution, encoding="utf-8")
        done = run([self.laboratory.check_script(task), work], cwd=work, codes=(0, 1))
        if done.code:
            self._remark(f"check.sh did not pass the reference of {task}: {done.out.strip()}")
        return done.wall_s

    # ---- what they share

    @property
    def _samples(self) -> Path:
        return self.laboratory.root / "samples"

    def _ids(self) -> list[str]:
        return list(self.laboratory.tasks())

    def _reference_samples(self, without: str = "") -> Path:
        solutions = shared.references(self.shared)
        chosen = [(name, solutions[name]) for name in self._ids() if name != without]
        return write_samples(self._samples / f"references-{len(chosen)}.jsonl", chosen)

    def _peer(self, script: str) -> Peer:
        return Peer(self.shared / "bench" / script, self.laboratory.python, self.laboratory.root)

    def _in_turn(self, sides: Mapping[str, Callable[[], float]]) -> dict[str, tuple[float, ...]]:
        """A B A B: every side once a round, so that all of them meet the same machine."""
        seconds: dict[str, list[float]] = {name: [] for name in sides}
        for number in range(self.repeat):
            for name, side in sides.items():
                self._say(f"{name}, round {number + 1} of {self.repeat}")
                seconds[name].append(side())
        return {name: tuple(values) for name, values in seconds.items()}

    def _remark_on(self, samples: Path, statuses: Sequence[str], *, may_fail: bool) -> None:
        """What verdicts a timed run gave: a fast run that is wrong is no good."""
        counts = collections.Counter(statuses)
        if may_fail or counts.keys() != {"pass"}:
            shown = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
            self._remark(f"lab grade {samples.name}: {shown}")

    def _remark(self, line: str) -> None:
        if line not in self.remarks:
            self.remarks.append(line)

    def _say(self, line: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


PAGE = PROJECT / "docs" / "bench.md"
GROUPS = ("gen", "check", "grade", "labelled", "memory", "flat", "run", "proxy")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table and write it; 0 where every bar that was measured is met, else 1, 2 where none was."""
    options = _options(arguments)
    try:
        figures, text = _measure(options)
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    print(text)
    whole = options.limit is None and set(options.only) == set(GROUPS)
    if (out := options.out or (PAGE if whole else None)) is not None:
        out.write_text(text, encoding="utf-8")
    else:
        print(f"bench: not all was measured, so {PAGE} stays as it is", file=sys.stderr)
    return int(any(figure.met is False for figure in figures))


def _measure(options: argparse.Namespace) -> tuple[list[Figure], str]:
    """The figures of the chosen groups, and the page that says them."""
    shared.check_shared(options.shared)
    if (warning := busy_warning()) is not None:
        print(f"bench: {warning}", file=sys.stderr)
    laboratory = prepare(PROJECT / ".bench" / "lab", options.shared, limit=options.limit, jobs=WORKERS)
    folder = options.shared.resolve()
    evalplus = EvalPlus(folder / "bench" / "peer_evalplus.sh", PROJECT, WORKERS) if options.with_peer else None
    bench = Bench(laboratory, folder, options.repeat, evalplus, [warning] if warning else [])
    machine = machine_line(laboratory)
    figures: list[Figure] = []
    if {"gen", "grade"} & set(options.only):
        figures += bench.speed(options.only)
    for name in ("check", "labelled", "memory", "flat", "run", "proxy"):
        if name in options.only:
            figures += getattr(bench, name)()
    return figures, page(machine, figures, bench.remarks, options.repeat)


def page(machine: str, figures: Sequence[Figure], remarks: Sequence[str], repeat: int) -> str:
    """The whole of docs/bench.md."""
    rounds = "one round" if repeat == 1 else f"{repeat} rounds, each side once a round; medians, and all of them"
    return "\n".join(
        [
            "# Speed and memory",
            "",
            f"Written by `scripts/bench`: {rounds}. {machine}.",
            "",
            "Times of lab are wall times of whole commands, those of floor.py and naive.py what these print: without",
            "the start of their own interpreter. Both grade in the suite's Python, with its numpy.",
            "",
            "Memory is that of lab's own processes (the supervisor, the judges and what they fork), not of the graded",
            "code: the sum of their proportional set sizes, looked at every 50 ms. It includes the hidden tests' own",
            "data, so it is more than the bar counts.",
            "",
            table(figures),
            *(f"- {remark}" for remark in remarks),
            "",
        ]
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure lab beside its peers and its bars.")
    parser.add_argument("--only", type=_groups, default=GROUPS, metavar="A,B", help=f"of {','.join(GROUPS)}")
    parser.add_argument("--shared", type=Path, default=PROJECT.parent / "shared", help="data, samples and peers")
    parser.add_argument("--repeat", type=positive, default=3, metavar="N", help="rounds; the medians are compared")
    parser.add_argument("--limit", type=positive, metavar="N", help="the first N of each dataset, to try the script")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help=f"default: {PAGE.relative_to(PROJECT)}, where all groups are measured"
    )
    parser.add_argument("--with-peer", action="store_true", help="EvalPlus too: installs 830 MB into .bench/")
    options = parser.parse_args(arguments)
    if options.with_peer and options.limit is not None:
        parser.error("--with-peer grades all tasks: leave out --limit")
    return options


def _groups(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if unknown := set(names) - set(GROUPS):
        raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))} is none of {', '.join(GROUPS)}")
    return names


def _chunks(items: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
