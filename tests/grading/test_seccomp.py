from __future__ import annotations

from struct import iter_unpack
from typing import TYPE_CHECKING

import pytest

from lab.grading.seccomp import ALLOW, REFUSE, RETURN, key_filter, program
from lab.verdict import Status
from tests.grading.exams import LEVELS, exam, graded, job, pool_of

if TYPE_CHECKING:
    from lab.grading.isolation import Isolation
    from tests.attacks.ground import Ground

ASKS = """
import ctypes, errno, os
def f(x):
    first = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
    call = ctypes.CDLL(None, use_errno=True).syscall
    said = []
    for number in (first, first + 1, first + 2):
        ctypes.set_errno(0)
        call(number, 0, 0, 0, 0, 0)
        said.append(errno.errorcode.get(ctypes.get_errno(), "none"))
    return said
"""


def run_filter(machine: str, architecture: int, number: int) -> int:
    """What the kernel would say of a call: an interpreter of the few instructions that the filter is made of."""
    instructions = list(iter_unpack("=HBBI", program(machine) or b""))
    data, at, loaded = {0: number, 4: architecture}, 0, 0
    while True:
        code, jump_true, jump_false, value = instructions[at]
        at += 1
        if code == RETURN:
            return int(value)
        if code == 0x20:
            loaded = data[value]
        else:
            holds = {0x15: loaded == value, 0x25: loaded > value, 0x35: loaded >= value}[code]
            at += jump_true if holds else jump_false


@pytest.mark.parametrize(
    ("machine", "architecture", "add_key"), [("x86_64", 0xC000003E, 248), ("aarch64", 0xC00000B7, 217)]
)
def test_only_the_calls_of_key_rings_are_refused(machine: str, architecture: int, add_key: int) -> None:
    refused = {number for number in range(1000) if run_filter(machine, architecture, number) == REFUSE}
    assert refused == {add_key, add_key + 1, add_key + 2}
    assert run_filter(machine, architecture, 1) == ALLOW
    assert run_filter(machine, 0x40000003, 1) == REFUSE, "a call of a program of 32 bits"
    assert run_filter(machine, architecture, 0x40000001) == REFUSE, "a call of the x32 ABI"


def test_a_machine_that_is_not_known_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert program("riscv64") is None
    monkeypatch.setattr("lab.grading.seccomp.ARCHITECTURES", {})
    with key_filter() as given:
        assert given == ([], ())


@pytest.mark.sandbox
@pytest.mark.parametrize("level", LEVELS[:1], indirect=True)
def test_a_candidate_has_no_key_rings(ground: Ground, level: Isolation) -> None:
    with pool_of(ground, level) as pool:
        verdict = graded(pool, job(ASKS, of=exam("exp = ['ENOSYS'] * 3\nassert f(0) == exp\n", cases=1)))
    assert verdict.status is Status.PASS, verdict.reason
