"""What the recording proxy adds to the time to first byte, with many streams at once."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

from measuring.figures import Figure
from measuring.laboratory import PROJECT, lab_program
from measuring.programs import Failed, run

STREAMS = 50
SECONDS = 8
BAR_MS = 5.0


def first_byte(rounds: int) -> Figure:
    """Milliseconds that the median first byte comes later through the proxy; raises Failed where a stream broke."""
    python = lab_program().with_name("python")
    driver = Path(__file__).with_name("streams.py")
    added = []
    for _ in range(rounds):
        done = run([python, driver, str(STREAMS), str(SECONDS)], cwd=PROJECT)
        taken = json.loads(done.out)
        if min(map(len, taken.values())) < STREAMS:
            raise Failed(f"only {taken} streams came to their end")
        added.append(statistics.median(taken["proxy"]) - statistics.median(taken["model"]))
    return Figure(
        f"what the proxy adds to the median time to first byte, {STREAMS} streams at once", "ms", tuple(added), BAR_MS
    )
