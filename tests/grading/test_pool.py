"""The pool with real processes: many jobs, what goes wrong in the middle of them, and what is left behind."""

from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import gc
import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab.errors import LabError
from lab.grading.job import Job
from lab.grading.judge_process import JudgeLost, JudgeProcess
from lab.grading.limits import PROOF_LIMITS
from lab.grading.pool import Pool
from lab.grading.supervise import Candidate
from lab.grading.usage import first_child, tree_usage
from lab.grading.work import Work
from lab.process import has_ended
from lab.verdict import Status
from tests.attacks.watch import END_LIMIT_S, adopt_orphans, born_since, descendants, none_after
from tests.grading.exams import ANSWER_LIMIT_S, CASES, IDENTITY, LEVELS, LIMITS, LOOPS, exam, graded, job, pool_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.grading.isolation import Isolation
    from lab.grading.worker import Worker
    from lab.tasks import Limits
    from tests.attacks.ground import Ground

AT_EACH_LEVEL = pytest.mark.parametrize("level", LEVELS, indirect=True)
WRONG = "def f(x):\n    return -1\n"
SLEEPS = "import time\ndef f(x):\n    time.sleep(600)\n"
SLOW = "import time\ndef f(x):\n    time.sleep(0.4)\n    return x\n"
SHORT_WALL = dataclasses.replace(LIMITS, wall_s=1)


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where scratch folders are made, to see that none is left."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _nothing_left(scratch: Path) -> Iterator[None]:
    """After every test of the pool: no process, no descriptor, no thread, no folder more than before."""
    adopt_orphans()
    processes, threads = set(descendants()), set(threading.enumerate())
    gc.collect()
    descriptors = open_descriptors()
    yield
    assert none_after(END_LIMIT_S, lambda: born_since(processes)) == []
    assert set(threading.enumerate()) <= threads
    gc.collect()
    assert open_descriptors() == descriptors
    assert list(scratch.iterdir()) == []


def open_descriptors() -> dict[str, str]:
    found = {}
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the listing's own
            found[path.name] = str(path.readlink())
    return found


def statuses(future: concurrent.futures.Future[tuple[Any, ...]]) -> list[str]:
    return [str(each.verdict.status) for each in future.result(ANSWER_LIMIT_S)]


@AT_EACH_LEVEL
def test_many_jobs_each_with_its_own_verdicts_in_order(ground: Ground, level: Isolation) -> None:
    sources = {"pass": IDENTITY, "wrong": WRONG, "error": "def f(x):\n    raise ValueError\n"}
    with pool_of(ground, level, jobs=3) as pool:
        orders = [list(sources)[n % 3 :] + list(sources)[: n % 3] for n in range(12)]
        futures = [pool.submit(job(*(sources[name] for name in order))) for order in orders]
        assert [statuses(future) for future in futures] == orders


@AT_EACH_LEVEL
def test_what_a_verdict_says(ground: Ground, level: Isolation) -> None:
    burns = "import time\nheld = bytearray(50 << 20)\ndef f(x):\n    end = time.process_time() + 0.1\n"
    source = f"{burns}    while time.process_time() < end: pass\n    return x\n"
    with pool_of(ground, level) as pool:
        (result,) = pool.submit(job(source)).result(ANSWER_LIMIT_S)
    verdict, measured = result.verdict, result.measured
    assert verdict.passed
    assert (verdict.cases_run, verdict.cases_total, verdict.failed_case) == (CASES, CASES, None)
    assert 0.28 <= verdict.cpu_s < 5
    assert verdict.cpu_s <= verdict.wall_s + 1
    assert verdict.peak_mb is not None
    assert 50 <= verdict.peak_mb < 500
    assert (verdict.isolation, verdict.grader, verdict.boundary) == (level.value, ground.venv.grader, "values")
    assert (measured.cases, measured.value_bytes) == (CASES, 9)
    assert 0.09 <= measured.case_cpu_s <= measured.cpu_s


@AT_EACH_LEVEL
def test_what_a_candidate_says_of_its_own_clock_is_not_in_its_verdict(ground: Ground, level: Isolation) -> None:
    source = "import itertools, time\ntime.process_time_ns = itertools.count(0, 10**13).__next__\n" + IDENTITY
    ends = "import os, time\ndef f(x):\n    end = time.process_time() + 0.3\n"
    ends += "    while time.process_time() < end: pass\n    os._exit(0)\n"
    with pool_of(ground, level) as pool:
        lied, ended = pool.submit(job(source, ends)).result(ANSWER_LIMIT_S)
    assert lied.verdict.passed
    assert lied.verdict.cpu_s < 5
    # what was seen of one that is gone is not forgotten
    assert ended.verdict.status is Status.ERROR
    assert 0.2 <= ended.verdict.cpu_s < 5


@AT_EACH_LEVEL
def test_the_first_failing_case_is_told_with_the_expected_value_apart(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job("def f(x):\n    return min(x, 1)\n"))
    assert (verdict.status, verdict.reason) == (Status.WRONG, "f(2) returned 1")
    assert (verdict.failed_case, verdict.cases_run, verdict.expected) == (2, 3, "2")


@AT_EACH_LEVEL
def test_together_in_one_process_one_after_the_other(ground: Ground, level: Isolation) -> None:
    texts = [f"def f(*_):\n    return {constant}\n" for constant in ("None", "0", "7", "[]")]
    with pool_of(ground, level) as pool:
        given = Job(exam(), tuple(map(Work.of, (*texts, IDENTITY))), together=True)
        assert statuses(pool.submit(given)) == ["wrong"] * 4 + ["pass"]
        given = Job(exam(), tuple(map(Work.of, ("1 / 0", "def g(): pass", IDENTITY))), together=True)
        assert statuses(pool.submit(given))[0] == "error"


@AT_EACH_LEVEL
def test_solo_runs_when_nothing_else_does(ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    with pool_of(ground, level, jobs=2) as pool:
        running: set[str] = set()
        most: list[set[str]] = []
        begin = pool._begin

        def note(given: Job) -> None:
            running.add(given.exam.task.id)
            most.append(set(running))
            given.future.add_done_callback(lambda _: running.discard(given.exam.task.id))
            begin(given)

        monkeypatch.setattr(pool, "_begin", note)
        jobs = [job(SLOW, of=exam(name=f"made-{n}")) for n in range(4)]
        alone = dataclasses.replace(job(SLOW, of=exam(name="alone-1")), solo=True)
        futures = [pool.submit(each) for each in (jobs[0], alone, *jobs[1:])]
        assert {status for future in futures for status in statuses(future)} == {"pass"}
    assert {"alone-1"} in most
    assert not any("alone-1" in each and len(each) > 1 for each in most)
    assert max(map(len, most)) == 2


@AT_EACH_LEVEL
def test_a_wall_timeout_is_graded_again_alone_and_a_cpu_timeout_is_not(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pool_of(ground, level, jobs=2) as pool:
        begun: list[tuple[str, bool]] = []
        begin = pool._begin

        def note(given: Job) -> None:
            begun.append((given.exam.task.id, given.solo))
            begin(given)

        monkeypatch.setattr(pool, "_begin", note)
        sleeper = pool.submit(job(SLEEPS, IDENTITY, of=exam(limits=SHORT_WALL, name="sleeps-1")))
        looper = pool.submit(job(LOOPS, of=exam(limits=dataclasses.replace(LIMITS, case_cpu_s=0.5), name="loops-1")))
        assert statuses(sleeper) == ["timeout", "pass"]
        assert statuses(looper) == ["timeout"]
        reasons = [future.result()[0].verdict.reason for future in (sleeper, looper)]
    assert reasons == ["f(0): over its wall limit of 1 s", "f(0): over its CPU limit of 0.5 s for one case"]
    assert begun.count(("sleeps-1", True)) == 1
    assert begun.count(("loops-1", False)) == 1
    assert ("loops-1", True) not in begun


# in a sandbox nothing is kept from look to look, so that it cannot be slow only once
@pytest.mark.parametrize("level", LEVELS[1:], indirect=True)
def test_what_was_slow_only_once_passes_at_the_second_look(ground: Ground, level: Isolation, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    source = f"import os, time\ndef f(x):\n    if not os.path.exists({str(mark)!r}):\n"
    source += f"        open({str(mark)!r}, 'w'); time.sleep(600)\n    return x\n"
    with pool_of(ground, level) as pool:
        assert graded(pool, job(source, of=exam(limits=SHORT_WALL))).passed


@AT_EACH_LEVEL
def test_grade_timeout_replaces_the_wall_limit(ground: Ground, level: Isolation) -> None:
    with Pool(ground.venv, suite="attacked", jobs=1, isolation=level, grade_timeout=0.7) as pool:
        started = time.monotonic()
        verdict = graded(pool, job(SLEEPS))
        assert (verdict.status, verdict.reason) == (Status.TIMEOUT, "f(0): over its wall limit of 0.7 s")
        assert time.monotonic() - started < 15
        assert graded(pool, job()).passed


LIMITED: dict[str, tuple[str, Limits, Status, str]] = {
    "CPU of a case": (LOOPS, dataclasses.replace(LIMITS, case_cpu_s=0.5), Status.TIMEOUT, "0.5 s for one case"),
    "CPU in all": (
        "import time\ndef f(x):\n    while time.process_time() < 0.6 * (x + 1): pass\n    return x",
        dataclasses.replace(LIMITS, cpu_s=1),
        Status.TIMEOUT,
        "over its CPU limit of 1 s",
    ),
    "CPU of the import": (
        "while True: pass\n",
        dataclasses.replace(LIMITS, case_cpu_s=0.5),
        Status.TIMEOUT,
        "over its CPU limit of 0.5 s for its import",
    ),
    "CPU of children": (
        "import os\ndef f(x):\n    if os.fork() == 0:\n        while True: pass\n    os.wait()\n",
        dataclasses.replace(LIMITS, case_cpu_s=0.5),
        Status.TIMEOUT,
        "CPU limit",
    ),
    "memory": ("def f(x):\n    return bytearray(2 << 30)\n", LIMITS, Status.MEMORY, "over its memory limit"),
    "memory that is caught": (
        "def f(x):\n    try:\n        bytearray(2 << 30)\n    except MemoryError:\n        return x\n",
        LIMITS,
        Status.PASS,
        "3 of 3",
    ),
    "value": (
        "def f(x):\n    return 'x' * (2 << 20)\n",
        LIMITS,
        Status.WRONG,
        "returned more than may cross: the value is too large",
    ),
    "endless value": (
        "import itertools\ndef f(x):\n    return itertools.count()\n",
        LIMITS,
        Status.WRONG,
        "returned more than may cross",
    ),
}


@AT_EACH_LEVEL
@pytest.mark.parametrize("name", LIMITED)
def test_limits(ground: Ground, level: Isolation, name: str) -> None:
    source, limits, status, why = LIMITED[name]
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(source, of=exam(limits=limits)))
        assert verdict.status is status, verdict
        assert why in verdict.reason
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_a_proof_does_not_know_the_number_of_cases(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(of=exam(cases=0, limits=PROOF_LIMITS)))
    assert (verdict.status, verdict.cases_run, verdict.cases_total) == (Status.PASS, 3, 3)


DIES: dict[str, tuple[str, str]] = {
    "at once": ("import os\nos._exit(0)\n", "its process ended with exit code 0 before it answered"),
    "in a call": (
        "import os\ndef f(x):\n    os._exit(3)\n",
        "f(0): its process ended with exit code 3 before it answered",
    ),
    "by a signal": (
        "import os\ndef f(x):\n    os.kill(os.getpid(), 9)\n",
        "f(0): its process ended by signal 9 before it answered",
    ),
    "by a fault": ("import ctypes\ndef f(x):\n    ctypes.string_at(0)\n", "f(0): its process ended by signal 11"),
    "in silence": (
        "import os, time\ndef f(x):\n    os.closerange(3, 99); time.sleep(600)\n",
        "f(0): its process closed the channel before it answered",
    ),
}


@AT_EACH_LEVEL
@pytest.mark.parametrize("name", DIES)
def test_a_candidate_that_dies_is_an_error_and_says_how(ground: Ground, level: Isolation, name: str) -> None:
    source, why = DIES[name]
    with pool_of(ground, level) as pool:
        died, after = pool.submit(job(source, IDENTITY)).result(ANSWER_LIMIT_S)
    assert died.verdict.status is Status.ERROR
    assert died.verdict.reason.startswith(why), died.verdict
    assert after.verdict.passed


# ---- what goes wrong in the middle


def until(condition: Callable[[], object]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("it did not come to that")


def called(pool: Pool) -> bool:
    """Whether a first call was made; before that a candidate counts as never started."""
    return bool(busy(pool)) and busy(pool)[0].judge.word > 1


def busy(pool: Pool) -> list[Worker]:
    return [each for each in pool._workers if each.job is not None and each._candidate is not None]


@AT_EACH_LEVEL
def test_a_judge_that_is_killed_costs_nobody_else_a_verdict(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level, jobs=2) as pool:
        hit = pool.submit(job(SLEEPS, IDENTITY, WRONG))
        until(lambda: called(pool))
        others = [pool.submit(job(IDENTITY, WRONG)) for _ in range(4)]
        os.kill(busy(pool)[0].judge._held.process.pid, signal.SIGKILL)
        # asked at once after it, the reference passes: the host is well, so it counts against the candidate
        assert statuses(hit) == ["error", "pass", "wrong"]
        assert "its values made grading fail: the judge ended" in hit.result()[0].verdict.reason
        assert [statuses(other) for other in others] == [["pass", "wrong"]] * 4
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_without_a_reference_to_ask_a_lost_judge_is_infra(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        hit = pool.submit(job(SLEEPS, of=exam(reference="")))
        until(lambda: called(pool))
        os.kill(busy(pool)[0].judge._held.process.pid, signal.SIGKILL)
        assert statuses(hit) == ["infra"]


@AT_EACH_LEVEL
def test_a_judge_killed_while_idle_is_replaced(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        assert graded(pool, job()).passed
        first = pool._workers[0].judge
        os.kill(first._held.process.pid, signal.SIGKILL)
        until(lambda: pool._workers[0].judge is not first)
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_the_excess_of_one_job_is_not_the_next_ones(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(_: object) -> None:
        raise JudgeLost("the judge does not answer")

    limits = dataclasses.replace(LIMITS, case_cpu_s=0.3)
    with pool_of(ground, level) as pool:
        assert graded(pool, job(LOOPS, of=exam(limits=limits))).status is Status.TIMEOUT
        monkeypatch.setattr(pool._workers[0].judge, "begin", lost)
        # nothing of it has run, so it is started once more
        assert statuses(pool.submit(job(of=exam(reference="")))) == ["pass"]
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_a_candidate_that_is_killed_from_outside(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        hit = pool.submit(job(SLEEPS))
        until(lambda: called(pool))
        candidate = busy(pool)[0]._candidate
        assert candidate is not None
        os.kill(candidate.held.process.pid, signal.SIGKILL)
        assert statuses(hit) == ["error"]
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_leaving_ends_whoever_waits(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level, jobs=2) as pool:
        running = [pool.submit(job(SLEEPS)) for _ in range(2)]
        until(lambda: len(busy(pool)) == 2)
        waiting = [pool.submit(job()) for _ in range(3)]
        alone = pool.submit(dataclasses.replace(job(), solo=True))
    for future in running:
        with pytest.raises(LabError, match="grading was stopped"):
            future.result(0)
    for future in (*waiting, alone):
        with pytest.raises(concurrent.futures.CancelledError):
            future.result(0)
    with pytest.raises(LabError, match="closed"):
        pool.submit(job())


@AT_EACH_LEVEL
def test_leaving_ends_whoever_waits_for_a_second_look(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level, jobs=2) as pool:
        other = pool.submit(job(SLEEPS))
        sleeper = pool.submit(job(SLEEPS, of=exam(limits=SHORT_WALL)))
        until(lambda: pool._alone)  # where its second look waits for the other to end
    for future in (other, sleeper):
        with pytest.raises(LabError, match="grading was stopped"):
            future.result(0)


@AT_EACH_LEVEL
def test_an_exception_in_the_block_leaves_nothing_running(ground: Ground, level: Isolation) -> None:
    futures = []

    def interrupted() -> None:
        with pool_of(ground, level) as pool:
            futures.append(pool.submit(job(SLEEPS)))
            until(lambda: busy(pool))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert futures[0].done()


@AT_EACH_LEVEL
def test_a_pool_that_did_nothing(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level):
        pass


@AT_EACH_LEVEL
def test_a_future_that_is_cancelled_is_not_graded(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        first, second = pool.submit(job(SLOW)), pool.submit(job(LOOPS))
        assert second.cancel()
        assert statuses(first) == ["pass"]
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_jobs_from_many_threads(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level, jobs=2) as pool, concurrent.futures.ThreadPoolExecutor(8) as threads:
        sources = [IDENTITY, WRONG] * 12
        results = threads.map(lambda source: str(graded(pool, job(source)).status), sources)
        assert list(results) == ["pass", "wrong"] * 12


@AT_EACH_LEVEL
def test_a_judge_and_a_candidate_that_were_started_ahead(ground: Ground, level: Isolation) -> None:
    judge = JudgeProcess(level, ground.venv, warm=False)
    with Pool(ground.venv, suite="attacked", jobs=1, isolation=level, warm=False, judge=judge) as pool:
        assert graded(pool, job()).passed
        assert pool._workers[0].judge is judge
    judge = JudgeProcess(level, ground.venv, warm=False)
    with Pool(ground.venv, suite="attacked", jobs=1, isolation=level, warm=False, judge=judge):
        pass


# ---- a host that is broken


@AT_EACH_LEVEL
def test_a_venv_without_its_python_is_told_and_not_waited_for(ground: Ground, level: Isolation) -> None:
    venv = dataclasses.replace(ground.venv, python=ground.venv.python.with_name("gone"))
    with Pool(venv, suite="attacked", jobs=1, isolation=level) as pool:
        future = pool.submit(job())
        if level.value == "bwrap":
            assert statuses(future) == ["infra"]
        else:
            with pytest.raises(LabError, match="gone"):
                future.result(ANSWER_LIMIT_S)
            with pytest.raises(LabError, match="grading has stopped"):
                pool.submit(job())


@AT_EACH_LEVEL
def test_a_candidate_that_cannot_be_started_ends_every_wait(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise LabError("no more processes", "Free some")

    with pool_of(ground, level, warm=False) as pool:
        monkeypatch.setattr("lab.grading.pool.Candidate", refuse)
        futures = [pool.submit(job()) for _ in range(3)]
        for future in futures:
            with pytest.raises((LabError, concurrent.futures.CancelledError)):
                future.result(ANSWER_LIMIT_S)
        assert any(not future.cancelled() for future in futures)


@pytest.mark.parametrize("level", LEVELS[1:], indirect=True)
def test_no_room_for_scratch_is_told(ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    with pool_of(ground, level) as pool, pytest.raises(LabError, match="no scratch folder"):
        pool.submit(job()).result(ANSWER_LIMIT_S)


@AT_EACH_LEVEL
def test_a_run_of_many_samples_takes_no_more_descriptors(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        pool.submit(job(*[IDENTITY] * 3)).result(ANSWER_LIMIT_S)
        before = len(open_descriptors())
        pool.submit(job(*[IDENTITY] * 40)).result(ANSWER_LIMIT_S)
        until(lambda: not busy(pool))
        assert len(open_descriptors()) <= before + 2


@AT_EACH_LEVEL
def test_a_candidate_that_died_before_it_was_given_anything_is_started_again(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        assert graded(pool, job()).passed
        (spare,) = pool._spares
        os.kill(spare.held.process.pid, signal.SIGKILL)
        until(lambda: has_ended(spare.held.process))
        assert statuses(pool.submit(job(IDENTITY, WRONG))) == ["pass", "wrong"]


LEAVES_A_CHILD = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nos._exit(0)\n"


@AT_EACH_LEVEL
def test_what_a_candidate_left_in_its_group_ends_with_it(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.grading.cgroup.take", lambda: None)  # as where there are no control groups
    # its child holds the pipe, so that only the clock ends the waiting
    closes = LEAVES_A_CHILD.replace("time.sleep", "os.closerange(3, 99); time.sleep")
    before = set(descendants())
    with pool_of(ground, level) as pool:
        judged = pool.submit(job(closes, LEAVES_A_CHILD, IDENTITY, of=exam(limits=SHORT_WALL)))
        assert statuses(judged) in (["error", "error", "pass"], ["error", "timeout", "pass"])
    assert none_after(END_LIMIT_S, lambda: born_since(before)) == []


@AT_EACH_LEVEL
def test_a_candidate_that_is_gone_is_not_looked_for_by_its_number(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is reaped, its number may be somebody else's, whose first child must not be killed in its place."""
    candidate = Candidate(level, ground.venv)
    candidate.end()
    bystander = subprocess.Popen(["sh", "-c", "sleep 600 & wait"], start_new_session=True)
    try:
        until(lambda: first_child(bystander.pid))
        monkeypatch.setattr(candidate.held.process, "pid", bystander.pid)
        candidate.look(1)
        candidate.end()
        assert tree_usage(bystander.pid).processes == 2
        assert candidate.measured({}).peak_mb == 0
    finally:
        os.killpg(bystander.pid, signal.SIGKILL)
        bystander.wait()
