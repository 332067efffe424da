"""How long the supervisor waits for a judge whose turn it is: one that sleeps, or was stopped, holds a worker.

What a judge may compute is bounded by its CPU limit. A judge that does not compute either is noticed here.
"""

from __future__ import annotations

import time

from lab.grading.usage import tree_usage

JUDGE_IDLE_S = 30.0
"""In all, for one sample. No sound test waits, but a folder that lies across a network may have one wait for it."""
LOOK_S = 0.2
"""From look to look: most judges are done before the first. Whose turn it is then stands for the time between."""
MAX_GAP_S = 1.0
"""What counts of it at most: while lab itself was stopped, so was the judge."""


class Patience:
    """With one judge, for one sample of at most `wall_s` seconds of the judge's own turns."""

    def __init__(self, wall_s: float) -> None:
        self._wall_s = wall_s
        self._seen_at = time.monotonic()
        self._turns_s = 0.0
        self._idle_s = 0.0
        self._cpu_s = 0.0

    def look(self, pid: int, *, its_turn: bool) -> str | None:
        """Look at the judge's process: why it is waited for no longer, or None. It idles only in its own turn."""
        now = time.monotonic()
        gap_s = min(now - self._seen_at, MAX_GAP_S)
        if gap_s < LOOK_S:
            return None
        self._seen_at = now
        if not its_turn:
            return None
        self._turns_s += gap_s
        usage = tree_usage(pid)
        # where nothing is seen (no Linux) there is nothing to say either
        if usage.processes and not usage.active and usage.cpu_s == self._cpu_s:
            self._idle_s += gap_s
        self._cpu_s = usage.cpu_s
        if self._idle_s > JUDGE_IDLE_S:
            return f"the judge did nothing for {JUDGE_IDLE_S:g} s"
        if self._turns_s > self._wall_s:
            return f"the judge took more than {self._wall_s:g} s"
        return None
