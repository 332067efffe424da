"""The record of a run while it grows: started, then an attempt more each time."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Any

import msgspec

from lab import __version__
from lab.proxy.summary import Usage, total
from lab.results import Attempt, Repeat, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.results import Stop
    from lab.running.attempt import Planned, Tried
    from lab.tasks import Limits
    from lab.verdict import Verdict


def started(
    planned: Planned, *, suite: str, suite_lock_sha256: str, entry_sha256: str, grade_timeout_s: float | None
) -> Result:
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
        limits=_limits(planned.task.limits, grade_timeout_s),
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
    result: Result,
    attempts: Sequence[Attempt],
    repeats: Sequence[Repeat] = (),
    *,
    stop: Stop | None = None,
    is_last: bool = True,
) -> Result:
    """The record after these attempts, with their sums; `stop` is the last attempt's unless it is given.

    It is interrupted, and has no verdict, where its last attempt was not graded, or is not the last.
    """
    last = attempts[-1]
    usages = [attempt.usage for attempt in attempts if attempt.usage is not None]
    usage = total(usages) if usages else None
    peaks = [attempt.peak_mb for attempt in attempts if attempt.peak_mb is not None]
    first = attempts[0].verdict
    verdict = last.verdict if is_last else None
    return msgspec.structs.replace(
        result,
        attempts=tuple(attempts),
        repeats=tuple(repeats),
        verdict=verdict,
        first_try=first is not None and first.passed,
        stop="interrupted" if verdict is None else stop or last.stop,
        requests=usage and usage.requests,
        tokens=usage and usage.tokens,
        unknown_tokens=usage and usage.unknown_tokens,
        cost_usd=usage and usage.cost_usd,
        ttfb_ms=usage and usage.ttfb_ms,
        wall_s=round(sum(attempt.wall_s for attempt in attempts), 3),
        peak_mb=max(peaks) if peaks else None,
    )


def going_on(result: Result, earlier: Result, kept: int) -> Result:
    """A record that begins where `earlier` was left: its first `kept` attempts stand, the cost of the rest is kept."""
    attempts, repeats = earlier.attempts[:kept], tuple(one for one in earlier.repeats if one.attempt <= kept)
    gone: list[Attempt | Repeat] = [*earlier.attempts[kept:], *(one for one in earlier.repeats if one not in repeats)]
    usages = [one.usage for one in gone if one.usage is not None]
    usages += [earlier.earlier_usage] if earlier.earlier_usage is not None else []
    result = msgspec.structs.replace(result, earlier_usage=total(usages) if usages else None)
    return with_attempts(result, attempts, repeats, is_last=False) if attempts else result


def usage_of(result: Result) -> list[Usage]:
    """All that a run has asked of its model, what was done again included."""
    usages = [attempt.usage for attempt in result.attempts]
    usages += [repeat.usage for repeat in result.repeats]
    return [usage for usage in (*usages, result.earlier_usage) if usage is not None]


def failed_first(result: Result) -> int:
    """How many attempts at its beginning were graded and failed: they are never drawn anew."""
    count = 0
    for attempt in result.attempts:
        if attempt.verdict is None or not attempt.verdict.status.scored or attempt.verdict.passed:
            break
        count += 1
    return count


def _limits(limits: Limits, grade_timeout_s: float | None) -> dict[str, Any]:
    given = {} if grade_timeout_s is None else {"wall_s": grade_timeout_s}
    return dataclasses.asdict(limits) | given
