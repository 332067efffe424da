"""The host side: a process that takes tasks and candidates from the supervisor, and runs the hidden tests.

A process of its own, contained like the candidate, since test text comes from upstream. It imports numpy once and
forks: once a task, to parse its test once for all samples, and once a sample, so that nothing of one sample's
values is left for the next.
"""

from __future__ import annotations

import gc
import os
import resource
import sys
from mmap import mmap

from lab.grading.control import PROGRESS_BYTES, Control
from lab.grading.late_numpy import broken_numpy, has_numpy, prepare_numpy
from lab.grading.proxy import CANDIDATE_ENDED, Proxy
from lab.grading.trial import run_all_cases, run_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ast import Module
    from types import CodeType
    from typing import Any

SIGKILL = 9
"""Like the signal module's, whose import would cost a millisecond of every check.sh."""
MEMORY_BYTES = 16 << 30
"""Address space of a judge: the largest hidden test, with its data twice, needs a third of it."""
FAILED = frozenset(("wrong", "error", CANDIDATE_ENDED, "judge"))


def serve(control_descriptor: int, progress_descriptor: int, site_packages: str, *, warm: bool, alone: bool) -> None:
    """Judge task after task until the supervisor hangs up.

    `alone` says that this process has a process namespace to itself, and may end all others in it.
    """
    control = Control(control_descriptor)
    progress = mmap(progress_descriptor, PROGRESS_BYTES)
    sys.path.append(site_packages)
    broken = prepare_numpy(site_packages, warm=warm)
    if warm:
        _hide()
    while True:
        task, descriptors = control.receive()
        if task is None or not descriptors:
            return
        child = os.fork()
        if child == 0:
            # a hostile test must not hold what the next task, with its candidate, comes by
            control.close()
            _serve_task(Control(descriptors[0]), progress, task | {"site_packages": site_packages}, broken)
            os._exit(0)
        os.close(descriptors[0])
        _, status = os.waitpid(child, 0)
        if alone:
            _sweep()
        control.send({"kind": "task-done", "status": status})


def _hide() -> None:
    """Make this process and its forks untraceable, so that a hostile test cannot write into the one that waits."""
    try:
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except (ImportError, OSError, AttributeError):  # no libffi, or no Linux: one line of defence fewer
        return


def _sweep() -> None:
    """In a namespace of its own: end whatever a test left behind."""
    try:
        os.kill(-1, SIGKILL)
    except ProcessLookupError:
        return


def _serve_task(control: Control, progress: mmap, task: dict[str, Any], broken: str | None) -> None:
    """Parse the test once, then judge sample after sample in forks."""
    gc.disable()
    code: CodeType | None = None
    if broken is None:
        try:
            code = compile(_program(task), "hidden_test.py", "exec", dont_inherit=True)
        except Exception as error:  # noqa: BLE001 - a MemoryError, a RecursionError, a SyntaxError
            broken = f"the hidden test cannot be parsed: {type(error).__name__}: {error}"
    gc.freeze()
    while True:
        sample, descriptors = control.receive()
        if sample is None or not descriptors:
            return
        if sample["last"]:
            # nothing follows, so nothing needs this process clean
            _judge(control, progress, task | sample, descriptors, code or broken)
            return
        child = os.fork()
        if child == 0:
            _judge(control, progress, task | sample, descriptors, code or broken)
            os._exit(0)
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        control.send({"kind": "sample-done", "status": status})


def _program(task: dict[str, Any]) -> bytes | Module:
    """What to compile: the test as it is, or one that goes on after a failing case."""
    if not task["all_cases"]:
        test: bytes = task["test"]
        return test
    from lab.grading.all_cases import going_on  # noqa: PLC0415 - it imports ast, which a check.sh has no use for

    return going_on(task["test"], task["entry_point"])


def _judge(
    control: Control,
    progress: mmap,
    order: dict[str, Any],
    descriptors: list[int],
    code: CodeType | str | None,
) -> None:
    """Judge one candidate's process, and say an outcome for each text that it runs; a text as `code` is why not."""
    _limit(order["judge_cpu_s"])
    for index in range(order["count"]):
        if code is None or isinstance(code, str):
            outcome: dict[str, Any] = {"status": "judge", "reason": code}
        else:
            proxy = Proxy(descriptors, progress, order["value_bytes"], order["cpu_s"], order["core"], first=index == 0)
            run = run_all_cases if order["all_cases"] else run_test
            outcome = run(code, order["entry_point"], proxy, order["cases"]) | proxy.seen()
            if outcome["status"] in FAILED and has_numpy(order["site_packages"]) and (why := broken_numpy()):
                # never the candidate's fault, and its own import of it has failed as well
                outcome |= {"status": "infra", "reason": why}
        control.send({"kind": "outcome", **outcome})


def _limit(cpu_s: float) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_s), int(cpu_s) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
