"""Limits of a candidate, from what the reference was measured to use here.

The rule is the design's: per case CPU max(4 s, 4 x the reference's slowest case), in all CPU max(10 s, 5 x), wall
3 x that plus 20 s as a backstop, memory max(4 GiB, 2 x). Rounded up to steps, so that two machines of one kind
agree. CPU time decides, so that a busy machine does not turn a right answer into a timeout.
"""

from __future__ import annotations

import dataclasses

from lab.tasks import Limits

STEPS_S = (10, 20, 30, 60, 120, 300)
CASE_STEPS_S = (4, *STEPS_S)
MIN_MEMORY_MB = 4096
MEMORY_STEP_MB = 1024
MIN_VALUE_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class Measured:
    """What one candidate used. Seconds, MiB, bytes; `cpu_s` is of its whole process tree, as the kernel counts it.

    `case_cpu_s`, of its slowest case, is the candidate's own word: limits are made from it, and only a reference's.
    """

    cases: int = 0
    cpu_s: float = 0.0
    case_cpu_s: float = 0.0
    wall_s: float = 0.0
    peak_mb: float = 0.0
    value_bytes: int = 0


PROOF_LIMITS = Limits(case_cpu_s=300, cpu_s=300, wall_s=920, memory_mb=16384, value_bytes=1 << 31)
"""For a reference that nobody has measured yet."""


def limits_from(measured: Measured) -> Limits:
    """The limits of a task whose reference used `measured`."""
    cpu_s = _step(5 * measured.cpu_s, STEPS_S)
    memory_mb = max(MIN_MEMORY_MB, -(-2 * measured.peak_mb // MEMORY_STEP_MB) * MEMORY_STEP_MB)
    return Limits(
        case_cpu_s=_step(4 * measured.case_cpu_s, CASE_STEPS_S),
        cpu_s=cpu_s,
        wall_s=3 * cpu_s + 20,
        memory_mb=int(memory_mb),
        value_bytes=max(
            MIN_VALUE_BYTES, 1 << (4 * measured.value_bytes - 1).bit_length() if measured.value_bytes else 0
        ),
    )


def _step(seconds: float, steps: tuple[int, ...]) -> int:
    return next((step for step in steps if seconds <= step), steps[-1])
