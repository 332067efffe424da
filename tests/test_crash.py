"""kill -9 at random moments of gen, run and grade: nothing half-written, nobody left, nothing lost or done twice."""

from __future__ import annotations

import dataclasses
import json
import random
import shutil
import signal
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from lab.grading.isolation import bwrap_trouble
from lab.tasks import read_lock
from tests.generate import tiny
from tests.running.agents import PYTHON
from tests.running.test_end_to_end import lab, start
from tests.support.model_server import TOKENS, Reply, Slow, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.laboratory import Laboratory

pytestmark = pytest.mark.sandbox

GONE_S = 3.0
SAMPLES = 26
LOOKS = 6
ASKER = """
import json, sys, urllib.request
question = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}
headers = {"Authorization": "Bearer " + sys.argv[2], "Content-Type": "application/json"}
request = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(question).encode(), headers)
with urllib.request.urlopen(request) as answer:
    assert b"[DONE]" in answer.read()
stub = open("solution.py").read()
open("solution.py", "w").write(stub.replace("...", "return x + 2"))
"""
SLOW = Slow(Reply("a few pieces of text"), first_s=0.1, between_s=0.05)
Done = dict[str, Any]
"""What is done and may be neither lost nor done again, and what it came to."""


@dataclasses.dataclass(frozen=True)
class Work:
    """A command that goes on where a kill stopped it."""

    laboratory: Laboratory
    witnesses: ClassVar[tuple[str, ...]] = ("lab.grading.candidate",)
    """What stands in the arguments of processes that might be left behind."""

    def arguments(self) -> list[str | Path]:
        raise NotImplementedError

    def done(self) -> Done:
        """As it stands on the disk."""
        raise NotImplementedError

    def final(self) -> object:
        """What all of it comes to, to be the same however often it was killed."""
        return self.done()

    def reused(self, out: str) -> int | None:
        """How much was done before, as the command that finished says; None where it does not say."""
        return None

    def forget(self) -> None:
        """Back to the start."""
        raise NotImplementedError

    def finish(self) -> int | None:
        code, out, err = lab(self.laboratory, *self.arguments())
        assert code == 0, err
        return self.reused(out)


class Gen(Work):
    def arguments(self) -> list[str | Path]:
        return ["gen", "--suite", "tiny", "--all", "--source", self.laboratory.root.parent / "rows", "--jobs", "2"]

    def done(self) -> Done:
        """The proofs that were kept, and the published tasks."""
        paths = tiny.suite_paths(self.laboratory.root)
        proofs = tomllib.loads(paths.measured.read_text())["tasks"] if paths.measured.exists() else {}
        return {**proofs, **(read_lock(paths) if paths.lock.exists() else {})}

    def final(self) -> object:
        files = tiny.snapshot(tiny.suite_paths(self.laboratory.root).folder)
        return {name: (data, mode) for name, (data, mode, _) in files.items() if name != "measured.toml"}

    def forget(self) -> None:
        for path in tiny.suite_paths(self.laboratory.root).folder.iterdir():
            if path.name in {".venv", ".venv.lock"}:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


class Run(Work):
    tool = "replay"

    def arguments(self) -> list[str | Path]:
        file = slow_samples(self.laboratory)
        return ["run", "replay", "--samples", file, "--suite", "tiny", "--jobs", "2", "--json"]

    def done(self) -> Done:
        results = self.laboratory.results(self.tool)
        done = {f"{r.task} {r.sample}": r.verdict.status for r in results if r.stop == "done" and r.verdict}
        assert len(done) == sum(r.stop == "done" and r.verdict is not None for r in results), "one is there twice"
        return done

    def final(self) -> object:
        return self.done(), len(self.laboratory.results(self.tool))

    def reused(self, out: str) -> int:
        return int(json.loads(out)["skipped"])

    def forget(self) -> None:
        shutil.rmtree(self.laboratory.root / "runs", ignore_errors=True)


class RunAgent(Run):
    tool = "agent"

    def arguments(self) -> list[str | Path]:
        # the root stands in it, so that `processes` finds it and what it starts
        script = f"sleep 0.2 & sed -i 's/[.][.][.]/return x + 2/' solution.py; wait; : {self.laboratory.root}"
        return ["run", "agent", "--command", f'sh -c "{script}"', "--suite", "tiny", "--jobs", "2", "--json"]


class RunAdapter(Run):
    """With all that stands up for a tool that has a model: the proxy, a line an attempt, the relay in the sandbox."""

    tool = "asker"
    witnesses = (*Work.witnesses, "relay.py")

    def arguments(self) -> list[str | Path]:
        adapter = self.laboratory.root / "tools" / f"{self.tool}.toml"
        adapter.parent.mkdir(exist_ok=True)
        # the root stands in it, as above
        words = json.dumps([str(PYTHON), "-c", f"# {self.laboratory.root}\n{ASKER}", "{base_url}", "{key}"])
        adapter.write_text(f'name = "{self.tool}"\napi = "openai-chat"\ncommand = {words}\n')
        return ["run", self.tool, "--suite", "tiny", "--model", "m", "--jobs", "2", "--json"]

    def done(self) -> Done:
        for result in self.laboratory.results(self.tool):
            if result.stop == "done":
                assert result.requests == 1
                assert result.tokens is not None
                assert result.tokens.completion == TOKENS.completion
        return super().done()


class Grade(Work):
    @property
    def out(self) -> Path:
        return self.laboratory.root / "mine.results.jsonl"

    @property
    def journal(self) -> Path:
        return self.out.with_name(f"{self.out.name}.partial")

    def arguments(self) -> list[str | Path]:
        return ["grade", slow_samples(self.laboratory), "--suite", "tiny", "--jobs", "2", "--json"]

    def done(self) -> Done:
        records = [record for path in (self.out, self.journal) for record in whole_lines(path) if "status" in record]
        done = {record["solution_sha256"]: record["status"] for record in records}
        if not self.out.exists():
            assert len(done) == len(records), "one is there twice"
        return done

    def final(self) -> object:
        assert not self.journal.exists()
        return [(r["line"], r["task"], r["sample"], r["status"]) for r in whole_lines(self.out) if "status" in r]

    def reused(self, out: str) -> int:
        return int(json.loads(out)["reused"])

    def forget(self) -> None:
        for path in (self.out, self.journal):
            path.unlink(missing_ok=True)


def slow_samples(laboratory: Laboratory) -> Path:
    """Solutions that take a while, every second of them right."""
    lines = []
    for number in range(SAMPLES):
        task = number % 11 + 1
        body = f"# {number}\n    import time; time.sleep(0.05)\n    return x + {task * (number % 2)}"
        lines.append({"task_id": f"One/{task}", "solution": f"def f(x):\n    {body}\n"})
    return laboratory.samples(*lines)


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file; the last line of a journal may be what a kill cut off."""
    for line in path.read_bytes().splitlines(keepends=True) if path.exists() else ():
        if line.endswith(b"\n"):
            yield json.loads(line)
        else:
            assert path.suffix == ".partial"


def processes(root: Path) -> list[str]:
    """The arguments of every process that has to do with `root`, but this one's."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            arguments = (folder / "cmdline").read_bytes() if folder.name.isdecimal() else b""
        except OSError:  # it has ended meanwhile
            continue
        if str(root).encode() in arguments:
            found.append(arguments.replace(b"\0", b" ").decode("utf-8", "replace"))
    return found


def assert_nobody_is_left(root: Path) -> None:
    deadline = time.monotonic() + GONE_S
    while left := processes(root):
        assert time.monotonic() < deadline, left
        time.sleep(0.02)


def assert_whole(root: Path) -> None:
    """No file that something reads is half-written."""
    for path in root.rglob("*"):
        if ".venv" in path.parts or not path.is_file():
            continue
        match path.suffix:
            case ".toml":
                tomllib.loads(path.read_text())
            case ".json":
                json.loads(path.read_text())
            case ".jsonl":
                list(whole_lines(path))


@pytest.fixture
def _model(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # after `laboratory`, which drops lab's variables
    with serve(always=SLOW) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, 7])
@pytest.mark.parametrize("kind", [Gen, Run, RunAgent, RunAdapter, Grade])
@pytest.mark.usefixtures("_model")
def test_killed_at_random_points(laboratory: Laboratory, kind: type[Work], kills: int) -> None:
    if trouble := bwrap_trouble():
        pytest.skip(f"bubblewrap does not run here: {trouble}")
    work = kind(laboratory)
    work.finish()  # builds the venv; whether that bears a kill is tested in test_venv
    work.forget()
    duration_s = time_while_watched(work)
    final = work.final()
    work.forget()

    killed = 0
    while killed < kills:
        before = work.done()
        process = start(laboratory, *work.arguments())
        time.sleep(random.uniform(0.1, 0.9) * duration_s)
        process.kill()
        assert_nobody_is_left(laboratory.root)
        _, err = process.communicate()
        assert process.returncode in {0, -signal.SIGKILL}, err
        assert_whole(laboratory.root)
        after = work.done()
        assert before.items() <= after.items()
        if process.returncode:
            killed += 1
        else:
            assert work.final() == final
            work.forget()
    before = work.done()
    assert work.finish() in {len(before), None}
    assert work.final() == final


def time_while_watched(work: Work) -> float:
    """How long it takes; and that those who might be left behind are there to be seen.

    Some live for a few milliseconds only, so on a busy machine it may take several looks to see each of them once.
    """
    missing = set(work.witnesses)
    for _ in range(LOOKS):
        begun = time.monotonic()
        process = start(work.laboratory, *work.arguments())
        while process.poll() is None:
            seen = processes(work.laboratory.root)
            missing -= {witness for witness in missing if any(witness in arguments for arguments in seen)}
            time.sleep(0.002)
        duration_s = time.monotonic() - begun
        _, err = process.communicate()
        assert process.returncode == 0, err
        if not missing:
            return duration_s
        work.forget()
    raise AssertionError(f"never seen in {LOOKS} looks: {missing}")
