"""The host side: hidden tests against stand-ins for a candidate, and then in real judges, hostile ones among them."""

from __future__ import annotations

import dataclasses
import os
import shutil
import textwrap
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from lab.grading import patience, worker
from lab.grading.job import Job
from lab.grading.pool import Pool
from lab.grading.proxy import CandidateFailed, Proxy, is_plain
from lab.grading.trial import run_test
from lab.grading.work import Work
from lab.tasks import Limits
from lab.verdict import Status
from tests.attacks.watch import END_LIMIT_S, adopt_orphans, born_since, descendants, none_after
from tests.grading.exams import ANSWER_LIMIT_S, IDENTITY, LEVELS, LIMITS, TEST, exam, graded, job, pool_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.grading.isolation import Isolation
    from lab.grading.site import Venv
    from tests.attacks.ground import Ground

AT_EACH_LEVEL = pytest.mark.parametrize("level", LEVELS, indirect=True)
IN_BWRAP = pytest.mark.parametrize("level", LEVELS[:1], indirect=True)


class StandIn(Proxy):
    """Answers calls with a function right here, where a proxy asks the candidate's process."""

    def __init__(self, function: Callable[..., Any], unloadable: CandidateFailed | None = None) -> None:
        self.function, self.unloadable = function, unloadable
        self.calls = 0
        self.answered = False
        self.arguments, self.keywords, self.value = (), {}, None

    def load(self) -> None:
        if self.unloadable is not None:
            raise self.unloadable

    def __call__(self, /, *arguments: Any, **keywords: Any) -> Any:
        self.calls += 1
        self.arguments, self.keywords, self.answered = arguments, keywords, False
        value = self.function(*arguments, **keywords)
        self.value, self.answered = value, True
        return value


def fails(status: str, reason: str) -> Callable[..., Any]:
    def function(*_: Any) -> Any:
        raise CandidateFailed(status, reason)

    return function


def run(test: str, function: Callable[..., Any] = lambda x: x, *, cases: int = 3) -> dict[str, Any]:
    return run_test(compile(test, "hidden_test.py", "exec"), "f", StandIn(function), cases)


class Uncomparable:
    def __eq__(self, other: object) -> bool:
        raise TypeError("never compare me")

    __hash__ = object.__hash__


RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all agree": (run(TEST), {"status": "pass", "reason": "3 of 3 cases agreed"}),
    "any number of cases": (run(TEST, cases=0), {"status": "pass", "reason": "3 of 3 cases agreed"}),
    "one disagrees": (
        run(TEST, lambda x: 9 if x == 1 else x),
        {"status": "wrong", "reason": "returned 9", "call": "f(1)", "returned": "9", "expected": "1"},
    ),
    "cannot be compared": (
        run("assert f(1) == 1", lambda _: Uncomparable()),
        {"status": "wrong", "call": "f(1)", "expected": None},
    ),
    "is of another kind": (
        run("exp = 3\nassert len(f('a', k=1)) == exp", lambda *_, **__: 5),
        {
            "status": "wrong",
            "reason": "returned 5, which cannot be compared (TypeError: object of type 'int' has no len())",
            "call": "f('a', k=1)",
            "expected": "3",
        },
    ),
    "the test itself fails": (
        run("1 / 0"),
        {"status": "judge", "reason": "the hidden test failed by itself: ZeroDivisionError: division by zero"},
    ),
    "the test fails before an answer": (run("assert False"), {"status": "judge"}),
    "the test exits": (run("raise SystemExit(0)"), {"status": "judge"}),
    "the test exits after an answer": (run("f(1)\nraise SystemExit(0)"), {"status": "wrong"}),
    "no call": (run("pass"), {"status": "judge", "reason": "the hidden test made 0 calls, not 3"}),
    "no call, of any number": (
        run("pass", cases=0),
        {"status": "judge", "reason": "the hidden test made 0 calls, not any"},
    ),
    "a call too few": (run("f(1)\nf(2)"), {"status": "judge", "reason": "the hidden test made 2 calls, not 3"}),
    "a call too many": (run(TEST + "f(3)"), {"status": "judge", "reason": "the hidden test made 4 calls, not 3"}),
    "out of memory": (
        run("f(1)\nraise MemoryError"),
        {"status": "judge", "reason": "the hidden test ran out of memory"},
    ),
    "the candidate raises": (
        run(TEST, fails("error", "raised ValueError: no")),
        {"status": "error", "reason": "raised ValueError: no", "call": "f(0)", "returned": None, "expected": None},
    ),
    "the candidate ends": (run(TEST, fails("ended", "gone")), {"status": "ended", "reason": "gone", "call": "f(0)"}),
    "a handler of the test's own": (
        run("try:\n    f(1)\nexcept Exception:\n    pass\n", fails("error", "raised X"), cases=1),
        {"status": "error", "reason": "raised X"},
    ),
    "the test in a namespace of its own": (
        run("assert __name__ == 'hidden_test'\nassert 'StandIn' not in globals()\n" + TEST),
        {"status": "pass"},
    ),
    "the entry point bound again": (run("out = f(0)\nf = None\nassert out == 0", cases=1), {"status": "pass"}),
}


@pytest.mark.parametrize("name", RUNS)
def test_what_a_test_comes_to(name: str) -> None:
    outcome, expected = RUNS[name]
    assert outcome | expected == outcome


def test_what_cannot_be_loaded_has_no_case() -> None:
    stand_in = StandIn(lambda: None, CandidateFailed("error", "solution.py cannot be used"))
    outcome = run_test(compile(TEST, "hidden_test.py", "exec"), "f", stand_in, 3)
    assert outcome == {"status": "error", "reason": "solution.py cannot be used"}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (((1, "a", None, 2.5, 1j, b"x", True), {}), True),
        ((([1, [2, (3, {4})]],), {"k": {"a": [frozenset({5})]}}), True),
        (((), {}), True),
        (((bytearray(b"x"),), {}), False),
        ((([[1, bytearray(b"x")]],), {}), False),
        (((np.float64(1),), {}), False),
        (((), {"k": np.arange(3)}), False),
        ((({"k": {1: np.int64(1)}},), {}), False),
        (((range(3),), {}), False),
        (((memoryview(b"x"),), {}), False),
        (((type("Sub", (int,), {})(5),), {}), False),
        (((type("Sub", (list,), {})([1]),), {}), False),
        (((compile("1", "x", "eval"),), {}), False),
    ],
)
def test_marshal_is_only_asked_for_what_it_keeps(value: Any, plain: bool) -> None:
    assert is_plain(value) is plain


# ---- in real judges

ARGUMENTS = """
import numpy as np
from collections import OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
cases = [
    ((np.array([[1, 2]]),), "ndarray int64"), ((np.float64(1.5),), "float64 float64"), ((True,), "bool"),
    ((bytearray(b"x"),), "bytearray"), ((None,), "NoneType"),
    ((b"x",), "bytes"), ((Fraction(1, 3),), "Fraction"), ((Decimal("1.5"),), "Decimal"), ((deque([1]),), "deque"),
    ((OrderedDict(a=1),), "dict"), ((range(3),), "range"), (({1: {2}},), "dict"),
    ((1 << 80,), "int"), (("\\ud800",), "str"), ((-0.0,), "float"), ((1j,), "complex"), ((iter([1]),), "list_iterator"),
]
for given, exp in cases:
    assert f(*given) == exp, exp
"""
NAMES = "def f(x):\n    return ' '.join([type(x).__name__, *([str(x.dtype)] if hasattr(x, 'dtype') else [])])\n"


@AT_EACH_LEVEL
@pytest.mark.parametrize("warm", [True, False])
def test_arguments_arrive_as_what_they_are(ground: Ground, level: Isolation, warm: bool) -> None:
    with pool_of(ground, level, warm=warm) as pool:
        verdict = graded(pool, job(NAMES, of=exam(ARGUMENTS, cases=17, reference=NAMES)))
    assert verdict.passed, verdict


MUTATES = "def f(x):\n    x.append(9)\n    return len(x)\n"
KEEPS = "value = [1]\nfor _ in range(3):\n    assert f(value) == 2\nassert value == [1]\n"


@AT_EACH_LEVEL
def test_what_a_candidate_does_to_its_arguments_changes_nothing_here(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        assert graded(pool, job(MUTATES, of=exam(KEEPS, reference=MUTATES))).passed


@AT_EACH_LEVEL
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    "test",
    [
        "def f(:",
        "\0",
        "return 1",
        "f(" * 300 + ")" * 300,
        "'\\ud800'.encode()",
        "pass",
        "f(1)",
        TEST + "f(9)\n",
        "import os\nos._exit(0)\n",
        "import os\nf(0)\nos._exit(0)\n",
        "import ctypes\nf(0)\nctypes.string_at(0)\n",
        "raise MemoryError",
        "f(0)\nraise MemoryError",
    ],
    ids=lambda test: test[:20].replace("\n", " ").replace("\0", "0"),
)
def test_a_test_that_cannot_judge_is_infra(ground: Ground, level: Isolation, test: str, warm: bool) -> None:
    with pool_of(ground, level, warm=warm) as pool:
        verdict = graded(pool, job(of=exam(test)))
        assert (verdict.status, verdict.failed_case) == (Status.INFRA, None), verdict
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_values_that_make_grading_fail_are_the_candidates_error(ground: Ground, level: Isolation) -> None:
    test = "import os\nfor value in range(3):\n    out = f(value)\n    assert out == value or os._exit(1)\n"
    with pool_of(ground, level) as pool:
        died, right = pool.submit(job("def f(x): return 'die'\n", IDENTITY, of=exam(test))).result(ANSWER_LIMIT_S)
    assert died.verdict.status is Status.ERROR
    assert died.verdict.reason.startswith("its values made grading fail: ")
    assert right.verdict.passed


@AT_EACH_LEVEL
def test_a_set_of_what_the_host_cannot_hold_there_is_wrong(ground: Ground, level: Isolation) -> None:
    hashed = "class Hashed(list):\n    __hash__ = lambda self: 7\ndef f(x):\n    return {Hashed([x])}\n"
    test = "for value in range(3):\n    exp = {(value,)}\n    assert f(value) == exp\n"
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(hashed, of=exam(test)))
    assert (verdict.status, verdict.reason) == (Status.WRONG, "f(0) returned {<list>}")


# ---- numpy

CLOSE = "import numpy as np\nfor value in range(3):\n    assert np.allclose(f(value), value)\n"
UNTOUCHED = "import sys\nassert type(sys.modules['numpy']).__name__ == 'LateNumpy'\n"


@AT_EACH_LEVEL
@pytest.mark.parametrize(
    ("test", "source"),
    [
        (CLOSE, IDENTITY),
        (CLOSE, "import numpy as np\ndef f(x): return np.array([x])\n"),
        (TEST, "import numpy as np\ndef f(x): return np.int64(x)\n"),
        ("import numpy\n" + TEST, IDENTITY),
        ("from numpy import array\n" + TEST, IDENTITY),
        ("import numpy.linalg\n" + CLOSE, IDENTITY),
        (UNTOUCHED + TEST + UNTOUCHED, IDENTITY),
        (UNTOUCHED + "import numpy as np\n" + TEST + UNTOUCHED, IDENTITY),
    ],
)
def test_numpy_is_there_when_it_is_touched(ground: Ground, level: Isolation, test: str, source: str) -> None:
    with pool_of(ground, level, warm=False) as pool:
        verdict = graded(pool, job(source, of=exam(test)))
    assert verdict.passed, verdict


@pytest.fixture(scope="module")
def damaged(ground: Ground, tmp_path_factory: pytest.TempPathFactory) -> Venv:
    """The same venv with a numpy that cannot be imported."""
    before = ground.venv
    folder = tmp_path_factory.mktemp("damaged") / ".venv"
    shutil.copytree(before.folder, folder, symlinks=True, ignore=shutil.ignore_patterns("numpy*"))
    site_packages = folder / before.site_packages.relative_to(before.folder)
    (site_packages / "numpy").mkdir()
    (site_packages / "numpy" / "__init__.py").write_text("ndarray = generic = None\nraise ImportError('damaged')\n")
    return dataclasses.replace(
        before, python=folder / before.python.relative_to(before.folder), site_packages=site_packages
    )


@AT_EACH_LEVEL
@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    ("test", "source"),
    [
        (CLOSE, IDENTITY),
        (TEST, "import numpy\ndef f(x): return x\n"),
        (TEST, "def f(x):\n    import numpy\n    return x\n"),
        (
            TEST,
            "def f(x):\n    try:\n        import numpy\n    except ImportError:\n        return None\n    return x\n",
        ),
        (TEST, "import numpy, os\n"),
        (TEST, "try:\n    import numpy\nexcept ImportError:\n    import os\n    os._exit(1)\n"),
    ],
)
def test_a_broken_numpy_is_infra_and_never_the_candidates_fault(
    damaged: Venv, level: Isolation, warm: bool, test: str, source: str
) -> None:
    with Pool(damaged, suite="attacked", jobs=1, isolation=level, warm=warm) as pool:
        verdict = graded(pool, job(source, of=exam(test)))
    assert verdict.status is Status.INFRA, verdict
    assert "numpy" in verdict.reason or "damaged" in verdict.reason


# ---- hostile tests: whatever they say of their own candidate, the next task is graded right

QUICK = Limits(case_cpu_s=1, cpu_s=1, wall_s=1, memory_mb=1024, value_bytes=1 << 20)
UP = textwrap.dedent(
    """
    import os, signal, sys, time
    def up(name):
        frame = sys._getframe()
        while frame is not None:
            if name in frame.f_locals:
                return frame.f_locals[name]
            frame = frame.f_back
    def say(**message):
        frame, found = sys._getframe(), {}
        while frame is not None:
            found |= {id(each): each for each in frame.f_locals.values() if type(each).__name__ == "Control"}
            frame = frame.f_back
        assert found
        for each in found.values():
            try: each.send(message)
            except Exception: pass
    def everything_written(data):
        for descriptor in range(3, 64):
            try: os.write(descriptor, data)
            except OSError: pass
    def to_parent(number):
        # never to the tests themselves, should they have adopted this process
        os.getppid() in (1, @PYTEST@) or os.kill(os.getppid(), number)
    FRAMED = lambda body: len(body).to_bytes(8, "little") + body
    passed = dict(kind="outcome", status="pass", reason="forged", calls=3)
    """
)
HOSTILE: dict[str, str] = {
    "takes the next task": """
        say(**passed); say(kind="task-done")
        import _socket
        for descriptor in range(3, 64):
            try: socket = _socket.socket(fileno=os.dup(descriptor))
            except OSError: continue
            try:
                socket.settimeout(1)
                got = socket.recvmsg(8, 64)
                if got[0]: time.sleep(1); say(**passed); say(kind="task-done")
            except OSError: pass
        """,
    "says it is done": 'say(kind="task-done"); time.sleep(0.5)',
    "says a sample is done": 'say(kind="sample-done", status=0); time.sleep(0.5)',
    "says much": "for _ in range(50): say(**passed)",
    "says a number too large for a float": 'say(kind="outcome", status="pass", case_cpu_ns=10**400, calls=10**400)',
    "says a number too long to print": "say(kind='outcome', status=10**5000, reason=-10**5000)",
    "says arrays": "import numpy as np; say(kind='outcome', status=np.arange(3), reason=np.ones(2), calls=np.int64(3))",
    "says nothing known": "say(what=object())",
    "says a list": "everything_written(FRAMED(b'*li\\x01\\x01N'))",
    "says no value": "everything_written(FRAMED(b'*?'))",
    "says too much": "everything_written((1 << 40).to_bytes(8, 'little') + bytes(70_000))",
    "begins to say": "everything_written((60_000).to_bytes(8, 'little') + b'*'); time.sleep(600)",
    "says it byte by byte": """
        for byte in (60_000).to_bytes(8, "little") + b"*" * 50_000:
            everything_written(bytes([byte])); time.sleep(0.05)
        """,
    "says it passed and stays": "say(**passed); up('progress')[:8] = (7).to_bytes(8, 'little'); time.sleep(600)",
    "keeps the clock from being looked at": """
        while True: up("progress")[:8] = b"\\x01" + bytes(7); time.sleep(0.01)
        """,
    "sleeps": "time.sleep(600)",
    "stops itself": "os.kill(os.getpid(), signal.SIGSTOP)",
    "sleeps, and works a little between": "while True: time.sleep(0.1); sum(range(1000))",
    "sleeps between calls": "while True: f(0); time.sleep(0.3)",
    "sleeps after an answer": "f(0); time.sleep(600)",
    "computes for ever": "while True: pass",
    "prints for ever": "while True: print('x' * 10_000, file=sys.stderr); print('y' * 10_000)",
    "kills its parent": "to_parent(signal.SIGKILL); time.sleep(600)",
    "kills its parent and passes": "say(**passed); to_parent(signal.SIGKILL)",
    "stops its parent": "to_parent(signal.SIGSTOP)",
    "kills itself": "os.kill(os.getpid(), signal.SIGKILL)",
    "closes everything": "os.closerange(0, 256)",
    "becomes another program": "os.execv('/bin/sh', ['sh', '-c', 'exec sleep 600'])",
    "leaves threads": "import threading; [threading.Thread(target=time.sleep, args=(600,)).start() for _ in range(9)]",
    "raises its limits": """
        import resource
        for limit in (resource.RLIMIT_CPU, resource.RLIMIT_AS):
            try: resource.setrlimit(limit, (-1, -1))
            except (ValueError, OSError): pass
        while True: pass
        """,
    "ignores signals": """
        for number in range(1, 64):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: pass
        """,
    "patches the judge": """
        for name in ("judge", "control", "proxy", "trial", "codec", "wire"):
            module = sys.modules["lab.grading." + name]
            for each in list(vars(module)): setattr(module, each, None)
        """,
}
ONLY_IN_BWRAP = {
    "forks a daemon": "if os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n",
    "forks many": "for _ in range(60):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(600)\n",
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minutes are seconds: the waits are the supervisor's own, and would be waited for in full."""
    monkeypatch.setattr(patience, "JUDGE_IDLE_S", 1.0)
    monkeypatch.setattr(worker, "JUDGE_CPU_S", 0.0)
    monkeypatch.setattr(worker, "ENDED_WALL_S", 0.5)


def harmless(ground: Ground, level: Isolation, test: str) -> None:
    """Grade the hostile test and, by the same judge and side by side with it, sound ones."""
    adopt_orphans()
    before = set(descendants())
    hostile = exam(
        UP.replace("@PYTEST@", str(os.getpid())) + textwrap.dedent(test), limits=QUICK, reference="", name="hostile-1"
    )
    with pool_of(ground, level) as pool:
        first = pool.submit(Job(hostile, (Work.of(IDENTITY),) * 2))
        after = pool.submit(job(IDENTITY, "def f(x): return 99\n", IDENTITY))
        again = pool.submit(Job(hostile, (Work.of(IDENTITY),)))
        last = pool.submit(job("def f(x): return 98\n"))
        sound = [each.verdict for each in (*after.result(ANSWER_LIMIT_S), *last.result(ANSWER_LIMIT_S))]
        forged = [each.verdict for each in (*first.result(ANSWER_LIMIT_S), *again.result(ANSWER_LIMIT_S))]
    assert [each.status for each in sound] == ["pass", "wrong", "pass", "wrong"], sound
    assert not any("forged" in each.reason for each in sound)
    assert all(each.reason.isprintable() for each in forged)
    assert none_after(END_LIMIT_S, lambda: born_since(before)) == []


@AT_EACH_LEVEL
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_test_harms_no_other_task(ground: Ground, level: Isolation, name: str) -> None:
    harmless(ground, level, HOSTILE[name])


@IN_BWRAP
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("name", ONLY_IN_BWRAP)
def test_what_a_hostile_test_leaves_behind_ends_in_a_sandbox(ground: Ground, level: Isolation, name: str) -> None:
    harmless(ground, level, ONLY_IN_BWRAP[name])


@pytest.fixture
def secrets(tmp_path: Path, ground: Ground) -> Iterator[list[str]]:
    (tmp_path / "key").write_text("secret")
    yield [
        *("/etc/passwd", "/etc/shadow", "/proc/self", "/sys/kernel", "/var/log"),
        *(
            str(tmp_path / "key"),
            str(ground.suite.oracle),
            str(ground.suite.tasks),
            str(ground.suite.folder / "lock.toml"),
        ),
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


@IN_BWRAP
def test_a_test_sees_nothing_of_the_host_but_its_venv(ground: Ground, level: Isolation, secrets: list[str]) -> None:
    test = f"""
import os, socket
found = [path for path in {secrets!r} if os.path.exists(path)]
assert not found, found
assert set(os.environ) <= {{"PATH", "LANG", "TZ", "HOME", "TMPDIR", "PYTHONHASHSEED", "PWD", "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"}}, dict(os.environ)
for path in ("/x", "/usr/x", "/bin/x", {str(ground.venv.site_packages / "x.py")!r}, {str(ground.venv.folder / "x")!r}):
    try: open(path, "w")
    except OSError: pass
    else: raise ValueError(path)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try: socket.socket(socket.AF_INET, kind).connect(("192.0.2.1", 9))
    except OSError: pass
    else: raise ValueError(kind)
"""
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(of=exam(test + TEST)))
    assert verdict.passed, verdict


# ---- how long a judge is waited for

IDLES = {
    "stops itself": "import os, signal\nf(0)\nos.kill(os.getpid(), signal.SIGSTOP)\n",
    "sleeps": "import time\nf(0)\ntime.sleep(600)\n",
    "sleeps a little at a time": "import time\nwhile True:\n    f(0)\n    time.sleep(0.3)\n",
}


@AT_EACH_LEVEL
@pytest.mark.parametrize("name", IDLES)
def test_a_judge_that_does_nothing_is_not_waited_for(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(patience, "JUDGE_IDLE_S", 1.0)
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(of=exam(IDLES[name])))
        assert (verdict.status, verdict.reason) == (Status.INFRA, "the judge did nothing for 1 s"), verdict
        assert graded(pool, job()).passed


@AT_EACH_LEVEL
def test_a_judge_that_computes_is_not_idle_nor_one_that_waits_for_the_candidate(
    ground: Ground, level: Isolation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "JUDGE_IDLE_S", 0.5)
    computes = "import time\nend = time.process_time() + 1.5\nwhile time.process_time() < end: pass\n"
    slow = "import time\ndef f(x):\n    time.sleep(0.5)\n    return x\n"
    with pool_of(ground, level) as pool:
        assert graded(pool, job(slow, of=exam(computes + TEST))).passed


# ---- values that make judging slow

OF_ONE_HASH = "[n * (2**61 - 1) for n in range({})]"
UNBUILT = """
import sys
def f(x):
    codec = sys._getframe(1).f_globals["codec"]
    listed = codec.encode(@LIST@, 1 << 20)
    codec.encode = lambda *_: b"*e" + listed[2:]  # from the next call on
    return x
""".replace("@LIST@", OF_ONE_HASH.format(60_000))
HELD: dict[str, tuple[str, str, str]] = {
    "a set of one hash, by the codec": (TEST, IDENTITY, UNBUILT),
    "a list of one hash, by the test": (
        "assert set(f(0)) == {1}\n",
        "def f(x):\n    return [1]\n",
        f"def f(x):\n    return {OF_ONE_HASH.format(60_000)}\n",
    ),
    "a little in every case": (
        "for value in range(1000):\n    assert len(set(f(value))) == 6000\n",
        "def f(x):\n    return list(range(6000))\n",
        f"def f(x):\n    return {OF_ONE_HASH.format(6000)}\n",
    ),
}


@AT_EACH_LEVEL
@pytest.mark.parametrize("name", HELD)
def test_values_that_hold_the_judge_are_soon_the_candidates_error(ground: Ground, level: Isolation, name: str) -> None:
    test, reference, source = HELD[name]
    limits = dataclasses.replace(LIMITS, cpu_s=1)
    held = exam(test, cases=0, limits=limits, reference=reference)
    with pool_of(ground, level) as pool:
        started = time.monotonic()
        slow, right = pool.submit(job(source, reference, of=held)).result(ANSWER_LIMIT_S)
        took_s = time.monotonic() - started
    assert slow.verdict.status is Status.ERROR, slow
    assert slow.verdict.reason == "its values made grading fail: the judge ran out of CPU time"
    assert right.verdict.passed, right
    assert took_s < 30
