"""The record of a run while it grows: started, then an attempt more each time."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import msgspec

from lab import __version__
from lab.proxy.summary import total
from lab.results import Attempt, Repeat, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.results import Stop
    from lab.running.attempt import Planned, Tried
    from lab.verdict import Verdict


def started(planned: Planned, *, suite: str, suite_lock_sha256: str, entry_sha256: str) -> Result:
    """The record of a run that begins: interrupted, which it is unless a later record says otherwise."""
    setup = planned.setup
    return Result(
        lab=__version__,
        suite=suite,
        task=planned.task.id,
        tool=setup.tool,
        tool_version=setup.tool_version,
        model=setup.model,
        settings=dict(setup.settings),
        settings_sha256=setup.settings_sha256,
        identity=setup.identity(entry_sha256),
        sample=planned.sample,
        suite_lock_sha256=suite_lock_sha256,
        task_lock_sha256=entry_sha256,
        stop="interrupted",
        api=setup.api,
        adapter_sha256=setup.adapter_sha256,
        isolation=setup.isolation,
        network=setup.network,
        started_at=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    )


def attempt_of(tried: Tried, verdict: Verdict | None) -> Attempt:
    return Attempt(
        verdict=verdict,
        stop=tried.stop,
        exit_code=tried.exit_code,
        wall_s=tried.wall_s,
        peak_mb=tried.peak_mb,
        usage=tried.usage,
        notes=tried.notes,
    )


def with_attempts(
    result: Result, attempts: Sequence[Attempt], repeats: Sequence[Repeat] = (), stop: Stop | None = None
) -> Result:
    """The record after these attempts, with their sums; `stop` is the last attempt's unless it is given.

    It is interrupted, and has no verdict, where its last attempt was not graded.
    """
    last = attempts[-1]
    usages = [attempt.usage for attempt in attempts if attempt.usage is not None]
    usage = total(usages) if usages else None
    peaks = [attempt.peak_mb for attempt in attempts if attempt.peak_mb is not None]
    first = attempts[0].verdict
    return msgspec.structs.replace(
        result,
        attempts=tuple(attempts),
        repeats=tuple(repeats),
        verdict=last.verdict,
        first_try=first is not None and first.passed,
        stop="interrupted" if last.verdict is None else stop or last.stop,
        requests=usage and usage.requests,
        tokens=usage and usage.tokens,
        cost_usd=usage and usage.cost_usd,
        ttfb_ms=usage and usage.ttfb_ms,
        wall_s=round(sum(attempt.wall_s for attempt in attempts), 3),
        peak_mb=max(peaks) if peaks else None,
    )
