from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from lab.errors import LabError
from lab.grading.slots import claim_core, slot

if TYPE_CHECKING:
    from pathlib import Path

# each process marks its stay by a file, and says how many it saw
STAY = """
import os, sys, time
from pathlib import Path
from lab.grading.slots import claim_core, slot
base, count, marks = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
with slot(count, bases=[base]):
    mark = marks / str(os.getpid())
    mark.touch()
    print(len(list(marks.iterdir())), flush=True)
    time.sleep(float(sys.argv[4]))
    mark.unlink()
"""


def stay(base: Path, count: int, marks: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STAY, str(base), str(count), str(marks), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_hundred_processes_share_the_slots(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    processes = [stay(tmp_path, 3, marks, 0.01) for _ in range(200)]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    seen = [int(output) for output in outputs]
    assert len(seen) == 200
    assert max(seen) <= 3
    assert [process.returncode for process in processes] == [0] * 200


def test_the_slot_of_a_killed_process_is_free_again(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    with stay(tmp_path, 1, marks, 600) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        with slot(1, bases=[tmp_path]):
            pass


def test_waiting_takes_its_turn_and_threads_count_too(tmp_path: Path) -> None:
    inside = threading.Event()

    def wait() -> None:
        with slot(1, bases=[tmp_path]):
            inside.set()

    thread = threading.Thread(target=wait)
    with slot(1, bases=[tmp_path]):
        thread.start()
        assert not inside.wait(0.2)
    thread.join(60)
    assert inside.is_set()


def test_an_exception_frees_the_slot(tmp_path: Path) -> None:
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), slot(1, bases=[tmp_path]):
            raise ZeroDivisionError


@pytest.mark.parametrize("planted", ["symlink", "file", "open to others", "another owner"])
def test_what_others_planted_is_passed_by(tmp_path: Path, planted: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    name = f"lab-slots-{os.geteuid()}"
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    if planted == "symlink":
        (first / name).symlink_to(target)
    elif planted == "file":
        (first / name).touch()
    else:
        (first / name).mkdir()
        (first / name).chmod(0o777 if planted == "open to others" else 0o700)
        if planted == "another owner":
            if os.geteuid() != 0:
                pytest.skip("only root can give a folder away")
            os.chown(first / name, 12345, 12345)
    with slot(1, bases=[first, second]):
        assert (second / name / "slot-0").exists()
    assert not list(target.iterdir())
    with pytest.raises(LabError, match="slots"), slot(1, bases=[first]):
        pass


def test_a_symbolic_link_in_the_place_of_a_slot_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / f"lab-slots-{os.geteuid()}"
    folder.mkdir(mode=0o700)
    (folder / "slot-0").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LabError, match="slot-0"), slot(1, bases=[tmp_path]):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_free_slot_is_had_at_once(tmp_path: Path) -> None:
    start = time.monotonic()
    with slot(2, bases=[tmp_path]), slot(2, bases=[tmp_path]):
        pass
    assert time.monotonic() - start < 5


def test_a_core_is_claimed_once(tmp_path: Path) -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) == 1:
        assert claim_core(bases=[tmp_path]) is None
        return
    claims = [claim_core(bases=[tmp_path]) for _ in allowed]
    held = {core: descriptor for claim in claims if claim is not None for core, descriptor in [claim]}
    assert held.keys() == allowed
    assert claim_core(bases=[tmp_path]) is None
    freed = min(allowed)
    os.close(held.pop(freed))
    again = claim_core(bases=[tmp_path])
    assert again is not None
    assert again[0] == freed
    for descriptor in (*held.values(), again[1]):
        os.close(descriptor)


def test_no_core_is_claimed_where_no_lock_can_be_had(tmp_path: Path) -> None:
    assert claim_core(bases=[tmp_path / "absent"]) is None
