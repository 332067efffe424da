"""The attack suite: what must not pass does not, what is right passes, and the host is left as it was."""

from __future__ import annotations

import json
import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from lab.grading import cgroup
from lab.grading.isolation import Isolation, bwrap_trouble, choose
from lab.grading.job import Job
from lab.grading.verdicts import missing_verdict
from lab.grading.work import Missing, Work, read_work
from lab.verdict import Status, Verdict
from tests.attacks import tiny, watch
from tests.attacks.builders import BUILDERS
from tests.attacks.cases import LEVELS, Case, own_cases, own_rows, shared_cases
from tests.attacks.ground import ANSWER_LIMIT_S, ATTACK_LIMITS, GOOD_LIMITS, Ground

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.grading.exam import Exam
    from lab.grading.pool import Pool
    from tests.attacks.watch import Watch

OWN_ATTACKS, OWN_INNOCENTS, ALL_CASES = 60, 30, 90
MAX_REASON_CHARS = 4000
UPSTREAM_FILES = {"humanevalplus": "HumanEvalPlus-OriginFmt", "mbppplus": "MbppPlus-OriginFmt"}


def params(cases: list[Case], *, attacks: bool) -> list[Any]:
    """A test for each case at each level that holds it. Quick is one a row, at the level that is usual here."""
    usual = choose()
    return [
        pytest.param(
            case,
            level,
            id=f"{case.name}-{level}",
            marks=[mark for mark, is_on in ((pytest.mark.slow, slow), (pytest.mark.sandbox, bwrap)) if is_on],
        )
        for case in cases
        if case.is_attack is attacks
        for level in case.holds_at
        for bwrap in (level is Isolation.BWRAP and not case.by_groups,)
        for slow in (case.slow or case.is_variant or level is not usual,)
    ]


@pytest.mark.parametrize(("case", "level"), params(own_cases(), attacks=True))
def test_attack(
    case: Case,
    level: Isolation,
    own_ground: Ground,
    attacked: Callable[[Ground], Watch],
    capfd: pytest.CaptureFixture[str],
) -> None:
    attack(case, level, own_ground, attacked, capfd)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize(("case", "level"), params(shared_cases(), attacks=True))
def test_shared_attack(
    case: Case,
    level: Isolation,
    shared_ground: Ground,
    attacked: Callable[[Ground], Watch],
    capfd: pytest.CaptureFixture[str],
) -> None:
    attack(case, level, shared_ground, attacked, capfd)


def attack(
    case: Case,
    level: Isolation,
    ground: Ground,
    attacked: Callable[[Ground], Watch],
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Grade a right answer, the attack and a right answer with one pool, then look at the host."""
    need(level)
    if case.by_groups and cgroup.place() is None:
        pytest.skip("no control group can be made here, and nothing else sees what this takes")
    host = attacked(ground)
    exam = ground.exam(case.task, ATTACK_LIMITS)
    started = time.monotonic()
    with ground.pool(level) as pool:
        before, verdict, after = grade(case, exam, ground.right(case.task), host, pool)
        took_s = time.monotonic() - started
        marked = [] if level in case.outlives_at else host.marked()
    captured = capfd.readouterr()
    assert verdict.status in case.verdicts, (case.why, verdict)
    assert (before.status, after.status) == (Status.PASS, Status.PASS), ("not the attack itself", before, after)
    assert took_s < ANSWER_LIMIT_S
    assert marked == []
    assert host.troubles(case, level) == []
    assert_quiet(verdict, captured.out + captured.err)


def grade(case: Case, exam: Exam, right: Work, host: Watch, pool: Pool) -> tuple[Verdict, Verdict, Verdict]:
    """The verdicts on a right answer, on the attack, and on a right answer after it."""
    try:
        work = work_of(case, host)
    except Missing as missing:
        graded = pool.submit(Job(exam, (right, right))).result(ANSWER_LIMIT_S)
        verdict = missing_verdict(exam, missing, pool.isolation, pool.venv.grader)
        return graded[0].verdict, verdict, graded[1].verdict
    first, second, third = pool.submit(Job(exam, (right, work, right))).result(2 * ANSWER_LIMIT_S)
    return first.verdict, second.verdict, third.verdict


def work_of(case: Case, host: Watch) -> Work:
    """What an agent left, taken in as lab does it; raises Missing."""
    if case.source is not None:
        return Work.of(host.fill(case.source).encode(case.encoding))
    folder, closing = host.work_folder(case)
    found: list[Work | Exception] = []

    def read() -> None:
        try:
            found.append(read_work(folder))
        except Exception as error:  # noqa: BLE001 - raised again where it can be seen
            found.append(error)

    with closing:
        # a thread of its own: who opens a FIFO waits for ever, and the test must not
        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        reader.join(ANSWER_LIMIT_S)
    assert found, "reading the work folder does not end"
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def assert_quiet(verdict: Verdict, printed: str) -> None:
    """One printable line that can be sent as UTF-8, and no word of the caller's keys anywhere."""
    record = json.dumps(verdict.record())
    for key in (watch.API_KEY, watch.HOME_KEY):
        assert key not in record + printed + str(verdict.expected)
    for text in (verdict.reason, verdict.expected or ""):
        assert text.isprintable(), text
        assert len(text) <= MAX_REASON_CHARS
        text.encode("utf-8")
    assert 0 <= verdict.cpu_s <= ANSWER_LIMIT_S, "a clock that is not the host's"
    assert f"exit code {watch.FUSE_CODE}" not in verdict.reason, "not in a process namespace of its own"


@pytest.fixture(scope="module")
def pools(request: pytest.FixtureRequest) -> Iterator[dict[tuple[str, Isolation], Pool]]:
    """Pools that innocents share: nothing of theirs needs one of its own."""
    made: dict[tuple[str, Isolation], Pool] = {}
    yield made
    for pool in made.values():
        pool.__exit__(None, None, None)


@pytest.mark.parametrize(("case", "level"), params(own_cases(), attacks=False))
def test_innocent(case: Case, level: Isolation, own_ground: Ground, tmp_path: Path, pools: Any) -> None:
    innocent(case, level, own_ground, tmp_path, pools)


@pytest.mark.real
@pytest.mark.parametrize(("case", "level"), params(shared_cases(), attacks=False))
def test_shared_innocent(case: Case, level: Isolation, shared_ground: Ground, tmp_path: Path, pools: Any) -> None:
    innocent(case, level, shared_ground, tmp_path, pools)


def innocent(
    case: Case, level: Isolation, ground: Ground, folder: Path, pools: dict[tuple[str, Isolation], Pool]
) -> None:
    need(level)
    key = (str(ground.suite.folder), level)
    if key not in pools:
        pools[key] = ground.pool(level).__enter__()
    if case.source is not None:
        work = Work.of(case.source.encode(case.encoding))
    else:
        for name, text in (case.files or {}).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.removeprefix("\n"), encoding="utf-8", newline="")
        work = read_work(folder)
    job = Job(ground.exam(case.task, GOOD_LIMITS), (work,))
    verdict = pools[key].submit(job).result(2 * GOOD_LIMITS.wall_s + ANSWER_LIMIT_S)[0].verdict
    assert verdict.passed, (case.why, verdict)


def need(level: Isolation) -> None:
    if level is Isolation.BWRAP and (trouble := bwrap_trouble()):
        pytest.skip(f"bubblewrap does not run here: {trouble}")


class TestRows:
    """The data itself."""

    def test_there_are_enough(self) -> None:
        rows = own_rows()
        attacks = sum(row["kind"] != "good" for row in rows)
        assert attacks >= OWN_ATTACKS
        assert len(rows) - attacks >= OWN_INNOCENTS
        assert len(rows) + len(shared_cases()) >= ALL_CASES

    def test_each_has_a_name_of_its_own_and_a_reason(self) -> None:
        cases = own_cases()
        assert len({case.name for case in cases}) == len(cases)
        assert all(case.why and "\n" not in case.why for case in cases)

    def test_each_names_what_there_is(self) -> None:
        tasks = tiny.problems().keys()
        assert all(case.task in tasks and case.holds_at for case in own_cases())
        assert {case.make for case in own_cases() if case.make} == BUILDERS.keys()

    def test_no_attack_allows_what_counts_as_a_pass_or_not_at_all(self) -> None:
        for case in own_cases():
            if case.is_attack:
                assert not case.verdicts & {Status.PASS, Status.INFRA}, case.name

    def test_every_level_is_tested(self) -> None:
        for level in LEVELS:
            assert any(level in case.holds_at for case in own_cases())

    def test_no_word_is_left_unfilled(self, own_ground: Ground, attacked: Callable[[Ground], Watch]) -> None:
        host = attacked(own_ground)
        for case in own_cases():
            for text in (case.source or "", *(case.files or {}).values()):
                assert not re.search("@[A-Z_]+@", host.fill(text)), case.name
