"""What an agent does, and what is recorded of it: at both isolations, unless a row names one."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import tempfile
import threading
import time
from pathlib import Path

import pytest

from lab.grading import cgroup
from lab.grading.isolation import Isolation
from lab.running import child, watch
from lab.running.agent import PROMPT
from tests.running.agents import STUB, TASK, Ground, processes_with

BOTH = [pytest.param(Isolation.BWRAP, marks=pytest.mark.sandbox), Isolation.PROCESS]
SOLVED = "def f(x): return x + 1\n"
SOLVE = f"open('solution.py', 'w').write({SOLVED!r})\n"
GONE = "import os\nos.remove('solution.py')\n"
TIMEOUT_S = 2.0
LONG_S = 60.0


@dataclasses.dataclass(frozen=True)
class Deed:
    """A program of Python, and what is recorded of it."""

    what: str
    code: str
    stop: str = "done"
    exit_code: int | None = 0
    notes: tuple[str, ...] = ()
    """What each note begins with."""
    missing: str = ""
    """What is said of a solution that is none; else it is SOLVED."""
    timeout_s: float = LONG_S
    holds: frozenset[str] = frozenset({"bwrap", "process"})
    stdout_bytes: int | None = None


DEEDS = [
    Deed("solves it", SOLVE),
    Deed("fails after its work", SOLVE + "raise SystemExit(7)", exit_code=7),
    Deed("ends at once", GONE, missing="there is no solution.py"),
    Deed("never ends", SOLVE + "import time\nwhile True: time.sleep(1)", "timeout", None, timeout_s=TIMEOUT_S),
    Deed(
        "never ends, and does not let itself be ended",
        SOLVE + "import signal\nfor n in range(1, 65):\n"
        "  try: signal.signal(n, signal.SIG_IGN)\n"
        "  except (OSError, ValueError): pass\n"
        "while True: pass",
        "timeout",
        None,
        timeout_s=TIMEOUT_S,
    ),
    Deed(
        "closes its output and goes on",
        SOLVE + "import os, time\nos.close(1)\nos.close(2)\ntime.sleep(99)",
        "timeout",
        None,
        timeout_s=TIMEOUT_S,
    ),
    Deed(
        "prints without end",
        SOLVE + "import os\nwhile True: os.write(1, b'x' * 65536)",
        "timeout",
        None,
        timeout_s=TIMEOUT_S,
        notes=("* bytes of output were not kept",),
        stdout_bytes=5000,
    ),
    Deed(
        "fills the disk with one file",
        SOLVE + "with open('big', 'wb') as big:\n  while True: big.write(bytes(1 << 20)); big.flush()",
        exit_code=None,
        notes=("stopped: it left more than 64 MiB", "big was not kept"),
    ),
    Deed(
        "fills its home with small files",
        SOLVE + "import os\nfor n in range(10**9): open(os.environ['HOME'] + '/' + str(n), 'wb').write(bytes(1 << 16))",
        exit_code=None,
        notes=("stopped: it left more than 64 MiB",),
        holds=frozenset({"bwrap"}),
    ),
    Deed(
        "fills /tmp, which is memory",
        SOLVE + "try:\n  with open('/tmp/big', 'wb') as big:\n    while True: big.write(bytes(1 << 20))\n"
        "except OSError: pass",
        holds=frozenset({"bwrap"}),
    ),
    Deed(
        "takes much memory",
        SOLVE + "held = []\nimport time\nwhile True: held.append(bytearray(b'x' * (8 << 20))); time.sleep(0.02)",
        exit_code=None,
        notes=("stopped: it used more than 256 MiB",),
    ),
    Deed(
        "takes much memory in many processes",
        SOLVE + "import os, time\nfor _ in range(12):\n"
        "  if not os.fork(): held = bytearray(b'x' * (32 << 20)); time.sleep(99)\n"
        "time.sleep(99)",
        exit_code=None,
        notes=("stopped: it used more than 256 MiB",),
    ),
    Deed(
        "forks without end",
        # at most so often: where nothing stops it, that is enough to see
        SOLVE + "import os, time\nfor _ in range(400):\n  if not os.fork(): time.sleep(99)\ntime.sleep(99)",
        exit_code=None,
        notes=("stopped: it had more than 20 processes",),
    ),
    Deed(
        "forks without end from processes that it leaves",
        SOLVE + "import os, time\n"
        "for _ in range(400):\n"
        "  if not os.fork():\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    time.sleep(99)\n"
        "time.sleep(99)",
        exit_code=None,
        notes=("stopped: it had more than 20 processes",),
        holds=frozenset({"bwrap"}),
    ),
    Deed("leaves a link", GONE + "os.symlink('/etc/passwd', 'solution.py')", missing="link"),
    Deed("leaves a link to a device", GONE + "os.symlink('/dev/zero', 'solution.py')", missing="link"),
    Deed("leaves a FIFO", GONE + "os.mkfifo('solution.py')", missing="not a regular file"),
    Deed("leaves a folder", GONE + "os.mkdir('solution.py')", missing="not a regular file"),
    Deed(
        "leaves a socket",
        GONE + "import socket\nsocket.socket(socket.AF_UNIX).bind('solution.py')",
        missing="regular file",
    ),
    Deed("leaves a huge file", "import os\nos.truncate('solution.py', 1 << 40)", missing="larger than"),
    Deed(
        "leaves a file that it may not read itself",
        SOLVE + "import os\nos.chmod('solution.py', 0)",
        missing="" if os.geteuid() == 0 else "cannot be opened",
    ),
    Deed(
        "leaves a deep nest of locked folders",
        SOLVE + "import os\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')\n"
        "for _ in range(1500): os.chdir('..'); os.chmod('d', 0)",
        notes=("d is too deep",),
    ),
    Deed(
        "leaves a deep nest of the longest names",
        SOLVE + "import os\nfor _ in range(40): os.mkdir('d' * 250); os.chdir('d' * 250)",
        notes=("ddd",),
    ),
    Deed(
        "leaves paths about as long as paths can be",
        # some of them are too long where they are kept, and not where they were left
        SOLVE + "import os\nfor _ in range(15): os.mkdir('d' * 250); os.chdir('d' * 250)\n"
        "for n in range(1, 250): os.mkdir('e' * n); open('f' * n, 'w').write('x')",
        notes=("ddd",),
    ),
    Deed("replaces its work folder's permissions", SOLVE + "import os\nos.chmod('.', 0)"),
]


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.what)
def test_deed(ground: Ground, monkeypatch: pytest.MonkeyPatch, deed: Deed, isolation: Isolation) -> None:
    if isolation.value not in deed.holds:
        pytest.skip("does not hold without a sandbox")
    temporary = ground.folder / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setattr(child, "MAX_OUTPUT_BYTES", 5000)
    monkeypatch.setattr(watch, "MAX_LEFT_BYTES", 64 << 20)
    monkeypatch.setattr(watch, "MAX_MEMORY_MB", 256)
    monkeypatch.setattr(watch, "MAX_PROCESSES", 20)
    # what is watched is tried here: where there are control groups these would be quicker
    monkeypatch.setattr(cgroup, "take", lambda: None)
    monkeypatch.setattr("lab.running.agent_sandbox.TMP_BYTES", 16 << 20)
    began = time.monotonic()
    tried, folder = ground.attempt(ground.agent("-c", deed.code, isolation=isolation, timeout_s=deed.timeout_s))
    assert time.monotonic() - began < LONG_S / 2
    said = (folder / "trace/stderr").read_text()
    assert (tried.stop, tried.exit_code) == (deed.stop, deed.exit_code), (said, tried)
    assert len(tried.notes) >= len(deed.notes), tried.notes
    for note, expected in zip(tried.notes, deed.notes, strict=False):
        assert note.startswith(expected) or (expected.startswith("*") and note.endswith(expected[1:])), tried.notes
    assert bool(deed.notes) == bool(tried.notes) or deed.missing
    if deed.missing:
        assert tried.work is None
        assert deed.missing in tried.missing
    else:
        assert tried.work is not None
        assert tried.work.files["solution.py"].decode() == SOLVED
    if deed.stdout_bytes is not None:
        assert (folder / "trace/stdout").stat().st_size == deed.stdout_bytes
    assert not list(temporary.iterdir())
    assert not (folder / "work/solution.py").is_symlink()


@pytest.mark.parametrize("isolation", BOTH)
@pytest.mark.skipif(cgroup.place() is None, reason="no control groups here")
def test_the_kernels_limits(ground: Ground, monkeypatch: pytest.MonkeyPatch, isolation: Isolation) -> None:
    """Between two looks the kernel stands guard, where it may."""
    monkeypatch.setattr(watch, "LOOK_S", LONG_S)
    monkeypatch.setattr(watch, "MAX_MEMORY_MB", 256)
    code = SOLVE + "held = bytearray(b'x' * (2 << 30))"
    tried, _ = ground.attempt(ground.agent("-c", code, isolation=isolation))
    assert tried.notes == ("it used more than 256 MiB of memory",)
    assert tried.exit_code in {-signal.SIGKILL, 128 + signal.SIGKILL}
    assert tried.work is not None
    monkeypatch.setattr(watch, "MAX_TASKS", 30)
    code = (
        "import os, time\ntry:\n for _ in range(99):\n  if not os.fork(): time.sleep(99)\nexcept OSError: print('no')"
    )
    _, folder = ground.attempt(ground.agent("-c", code, isolation=isolation))
    assert (folder / "trace/stdout").read_text() == "no\n"


DAEMON = """
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(99)", "{mark}"])
"""


@pytest.mark.parametrize(
    "isolation",
    [
        BOTH[0],
        pytest.param(
            Isolation.PROCESS, marks=pytest.mark.skipif(cgroup.place() is None, reason="nothing would find it")
        ),
    ],
)
def test_no_daemon_outlives_the_attempt(ground: Ground, isolation: Isolation) -> None:
    mark = f"daemon-{os.getpid()}-{ground.folder.name}"
    code = DAEMON.replace("{mark}", mark)
    wait = f"import subprocess, sys, time\nsubprocess.run([sys.executable, '-c', {code!r}])\ntime.sleep(0.5)"
    tried, _ = ground.attempt(ground.agent("-c", wait, isolation=isolation))
    assert tried.exit_code == 0
    until = time.monotonic() + 5
    while processes_with(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes_with(mark) == []


@pytest.mark.sandbox
def test_a_sandbox_that_is_killed_from_outside_is_an_end_like_others(ground: Ground) -> None:
    """As the kernel does it that is out of memory: to all of a control group, bubblewrap with it."""
    mark = f"mark-{os.getpid()}-{ground.folder.name}"

    def kill() -> None:
        until = time.monotonic() + LONG_S / 2
        while len(found := processes_with(mark)) < 3 and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(min(found), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    tried, _ = ground.attempt(ground.agent("-c", SOLVE + "import time\ntime.sleep(99)", mark))
    killer.join()
    assert (tried.stop, tried.exit_code) == ("done", -signal.SIGKILL)
    assert tried.work is not None
    assert processes_with(mark) == []


@pytest.mark.parametrize("isolation", BOTH)
def test_it_stops_when_lab_does(ground: Ground, isolation: Isolation) -> None:
    stopping = threading.Event()
    timer = threading.Timer(0.5, stopping.set)
    timer.start()
    began = time.monotonic()
    tried, folder = ground.attempt(ground.agent("-c", "import time\ntime.sleep(99)", isolation=isolation), stopping)
    timer.join()
    assert time.monotonic() - began < LONG_S / 2
    assert (tried.stop, tried.exit_code) == ("interrupted", None)
    assert (folder / "work/solution.py").read_text() == STUB


@pytest.mark.parametrize("isolation", BOTH)
def test_the_most_memory_that_all_of_it_had(ground: Ground, isolation: Isolation) -> None:
    code = "import os, time\nos.fork()\nheld = bytearray(b'x') * (64 << 20)\ntime.sleep(1)"
    tried, _ = ground.attempt(ground.agent("-c", code, isolation=isolation))
    assert tried.peak_mb is not None
    assert 128 < tried.peak_mb < 256


@pytest.mark.parametrize("isolation", BOTH)
def test_what_it_is_told_and_what_is_recorded(ground: Ground, isolation: Isolation) -> None:
    agent = ground.agent(
        "-c",
        "import sys\nprint(open(sys.argv[2]).read())\nprint(sys.argv[1], end='')",
        "{prompt}",
        "{prompt_file}",
        isolation=isolation,
        environment={"AGENT_HOME": "{home}"},
    )
    _, folder = ground.attempt(agent)
    told = PROMPT.replace("{problem}", "Write f.")
    assert (folder / "trace/stdout").read_text() == f"Write f.\n{told}"
    assert "solution.py" in told
    assert "current folder" in told
    record = json.loads((folder / "trace/command.json").read_text())
    assert record["argv"][3] == told
    assert Path(record["argv"][4]).name == "prompt.txt"
    assert list(record["environment"]) == ["AGENT_HOME"]
    (planned,) = agent.plan([TASK])
    assert planned.setup.tool_version == "1.0"
    assert set(planned.setup.settings) == {"adapter_sha256", "timeout_s", "isolation", "network", "prompt_sha256"}
    assert planned.setup.isolation == isolation.value
    assert planned.setup.network == ("model" if isolation is Isolation.BWRAP else "host")
    assert ("no network" in (agent.notice or "")) == (isolation is Isolation.BWRAP)
