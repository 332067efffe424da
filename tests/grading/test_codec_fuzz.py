"""Whatever bytes come: a value or a refusal, in little time and memory; and from a real pool, a verdict."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.grading.codec import Malformed, TooLarge, decode, encode
from lab.grading.job import Job
from lab.grading.show import show_value
from lab.grading.work import Work
from lab.tasks import Limits
from lab.verdict import Status
from tests.grading.exams import ANSWER_LIMIT_S, LEVELS, exam, graded, job, pool_of
from tests.grading.strategies import ANY_BYTES, VALUES, mutated, programs
from tests.grading.values import CAP, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.grading.isolation import Isolation
    from lab.grading.pool import Pool
    from tests.attacks.ground import Ground

TIME_LIMIT_S = 5.0
SMALL_CAP = 1 << 12
BYTES_PER_VALUE = 160
"""What one value of the cap may take on the host: an empty list takes 64, a dict of its own with its view 128."""


def fuzz(examples: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
    )


@given(VALUES)
@fuzz(500)
def test_plain_values_cross_as_themselves(value: Any) -> None:
    data = encode(value, CAP)
    got = decode(data, CAP)
    assert same(got, value)
    assert decode(memoryview(data), CAP) is not data


def refuses_or_decodes(data: bytes, cap: int) -> None:
    started = time.perf_counter()
    try:
        value = decode(data, cap)
    except (Malformed, TooLarge) as error:
        assert str(error)  # noqa: PT017 - any other exception fails this test
        return
    assert time.perf_counter() - started < TIME_LIMIT_S
    text = show_value(value)
    assert text.isprintable()
    assert len(text) <= 200


@given(ANY_BYTES, st.sampled_from([0, 10, SMALL_CAP, CAP]))
@fuzz(1000)
def test_any_bytes_are_a_value_or_refused(data: bytes, cap: int) -> None:
    refuses_or_decodes(data, cap)


@given(mutated())
@fuzz(1000)
def test_broken_encodings_are_a_value_or_refused(data: bytes) -> None:
    refuses_or_decodes(data, CAP)


@pytest.mark.slow
@given(ANY_BYTES | mutated(), st.sampled_from([SMALL_CAP, CAP]))
@fuzz(10_000)
def test_very_many_bytes(data: bytes, cap: int) -> None:
    refuses_or_decodes(data, cap)


MEASURE = """
import json, random, resource, sys, tracemalloc
from struct import pack
import numpy, datetime, decimal, fractions
from lab.grading.codec import Malformed, TooLarge, decode, encode
from tests.grading.test_codec import CLAIMS, MALFORMED
from tests.grading.strategies import TAGS

cap, seed = int(sys.argv[1]), int(sys.argv[2])
draw = random.Random(seed)
many = [n for n in (cap // 2, cap // 3, cap // 5, cap // 11, cap - 40)]

def sizes(n, size):
    return b"i\\x02" + pack("<h", size) * n if n < cap // 2 else b"i\\x01" + bytes((size,)) * n

def one_of_many(tag, n):
    return b"*li\\x04" + pack("<i", n) + tag + draw.choice([
        sizes(n, 0), sizes(n, 1) + b"N", sizes(n, 1) + b"i\\x01" + bytes(n), sizes(n, 0) + sizes(1, 0),
        draw.randbytes(n), b"li\\x01" + bytes(n)])

inputs = [*CLAIMS.values(), *MALFORMED.values()]
inputs += [one_of_many(tag, n) for tag in TAGS for n in many for _ in range(6)]
inputs += [b"*" + draw.randbytes(draw.randrange(200)) for _ in range(300)]
inputs += [
    b"*" + b"".join(
        draw.choice(TAGS) + draw.choice([b"", b"i\\x01\\x01", b"i\\x02\\xff\\x0f", draw.randbytes(9)])
        for _ in range(draw.randrange(1, 30)))
    for _ in range(2000)]
for value in ([[]] * 90, [{}, {1: 2}] * 40, [{1}] * 60, [numpy.float64(1)] * 20, [numpy.zeros(0)] * 20,
              [decimal.Decimal(1)] * 30, [datetime.date.today()] * 20, ["x"] * 600):
    data = encode(value, 1 << 20)
    for _ in range(60):
        at = draw.randrange(len(data))
        inputs.append(data[:at] + draw.randbytes(draw.randrange(3)) + data[at + 1:])

def look(data):
    try:
        return decode(data, cap)
    except (Malformed, TooLarge):
        return None

for data in inputs[:50]:
    look(data)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for data in inputs:
    look(data)
growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
worst = (0, b"")
tracemalloc.start()
for data in inputs:
    tracemalloc.reset_peak()
    start = tracemalloc.get_traced_memory()[0]
    look(data)
    worst = max(worst, (tracemalloc.get_traced_memory()[1] - start, data[:40]))
print(json.dumps({"growth": growth, "peak": worst[0], "by": repr(worst[1]), "inputs": len(inputs)}))
"""
SLACK_BYTES = 1 << 18
"""Modules' own caches and the interpreter's arenas."""


@pytest.mark.parametrize("cap", [SMALL_CAP, pytest.param(1 << 16, marks=pytest.mark.slow)])
def test_the_host_takes_no_more_memory_than_the_cap_allows(cap: int) -> None:
    command = [sys.executable, "-c", MEASURE, str(cap), "20"]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["inputs"] > 3000
    assert found["peak"] <= BYTES_PER_VALUE * cap + SLACK_BYTES, found
    assert found["growth"] <= 2 * BYTES_PER_VALUE * cap + (8 << 20), found


# ---- through the pipe of a real pool

PIPE_LIMITS = Limits(case_cpu_s=2, cpu_s=4, wall_s=1, memory_mb=1024, value_bytes=1 << 20)


@pytest.fixture
def pool(ground: Ground, level: Isolation) -> Iterator[Pool]:
    with pool_of(ground, level) as made:
        yield made


def answered(pool: Pool, sources: list[str]) -> None:
    """Each program gets a verdict, never infra; and a right answer is right after all of them."""
    given = Job(exam(limits=PIPE_LIMITS), tuple(map(Work.of, sources)))
    for each in pool.submit(given).result(ANSWER_LIMIT_S):
        assert each.verdict.status in set(Status) - {Status.INFRA, Status.MISSING, Status.TAMPER}, each.verdict
        assert each.verdict.reason.isprintable()
    assert graded(pool, job()).passed


@pytest.mark.parametrize("level", LEVELS, indirect=True)
@given(sources=st.lists(programs(), min_size=4, max_size=4))
@fuzz(15)
def test_whatever_a_candidate_says_on_its_pipe_gets_a_verdict(pool: Pool, sources: list[str]) -> None:
    answered(pool, sources)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
@given(sources=st.lists(programs(), min_size=8, max_size=8))
@fuzz(40)
def test_much_said_on_the_pipe_gets_verdicts(pool: Pool, sources: list[str]) -> None:
    answered(pool, sources)
