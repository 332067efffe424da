"""A generation with the real venv, the real grader and the real check.sh."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

from lab.tasks import read_lock
from tests.generate.tiny import good_row, row, run, snapshot, suite_paths, write_rows

WRONG = row("One/2", "assert f(1) == 3\n", "def f(x):\n    return x + 1\n")
NEVER_ENDS = row("One/3", "assert f(1) == 2\n", "import time\ndef f(x):\n    time.sleep(600)\n")
GENERATE = """
import sys
from pathlib import Path
from lab.generate.ledger import Ledger
from tests.generate import tiny
prove = Ledger.prove
def told(self, problem, *proof):
    prove(self, problem, *proof)
    print("proven", problem.task_id, flush=True)
Ledger.prove = told
tiny.run(Path(sys.argv[1]), Path(sys.argv[2]), every=True)
"""


def check(script: Path, text: str, folder: Path) -> int:
    folder.mkdir(exist_ok=True)
    (folder / "solution.py").write_text(text)
    return subprocess.run([script, folder], check=False, capture_output=True, timeout=60).returncode


def test_check_sh_agrees_with_the_proof(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows", [good_row(1), WRONG, good_row(4)], [good_row(0, "Two")])
    outcome = run(tmp_path, source)
    assert (list(outcome.written), list(outcome.dropped)) == (["ones-1", "ones-4", "twos-0"], ["ones-2"])
    paths = suite_paths(tmp_path)
    for name in outcome.written:
        task = paths.task(name)
        assert check(task.check, task.reference.read_text(), tmp_path / "work") == 0
        assert check(task.check, task.stub.read_text(), tmp_path / "work") == 1
        assert check(task.check, "def f(*arguments):\n    return 7\n", tmp_path / "work") == 1
    before = snapshot(paths.folder)
    assert run(tmp_path, source).dropped.keys() == {"ones-2"}
    assert snapshot(paths.folder) == before


def test_an_interrupt_ends_a_proof_that_would_not_end(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows", [good_row(1)], [good_row(0, "Two")])
    run(tmp_path, source)
    paths = suite_paths(tmp_path)
    before = snapshot(paths.folder)
    write_rows(source, [good_row(1), good_row(2), NEVER_ENDS])
    command = [sys.executable, "-c", GENERATE, str(tmp_path), str(source)]
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root, start_new_session=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "proven ones-2\n"
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=30)
    assert "KeyboardInterrupt" in said
    after = snapshot(paths.folder)
    assert "ones-2" in tomllib.loads(after.pop("measured.toml")[0].decode())["tasks"], "what was proven is kept"
    del before["measured.toml"]
    assert after == before
    assert list(read_lock(paths)) == ["ones-1", "twos-0"]
