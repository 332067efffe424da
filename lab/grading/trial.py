"""One run of a hidden test against a proxy, and what the way it ended says of the candidate."""

from __future__ import annotations

from lab.grading.proxy import CandidateFailed
from lab.grading.show import show_call, show_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

    from lab.grading.proxy import Proxy


def run_all_cases(code: CodeType, entry_point: str, proxy: Proxy, cases: int) -> dict[str, Any]:
    """Like `run_test`, for a test that goes on after a failing case and says so."""
    from lab.grading.all_cases import NOTE, Failures  # noqa: PLC0415

    failures = Failures(lambda error: _failure(entry_point, proxy, error), lambda: proxy.calls)
    return failures.decide(run_test(code, entry_point, proxy, cases, {NOTE: failures.note}))


def run_test(
    code: CodeType, entry_point: str, proxy: Proxy, cases: int, names: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Execute the hidden test against the proxy. `cases` is how many calls it must make, 0 where that is unknown.

    `names` are what it finds beside the function under test.

    Status `judge` means that the host side failed, `ended` that the candidate's process did.
    """
    namespace = {"__name__": "hidden_test", entry_point: proxy, **(names or {})}
    try:
        proxy.load()
        exec(code, namespace)  # noqa: S102 - the hidden test is what this process exists to run
    except BaseException as error:  # noqa: BLE001 - an assertion, or a comparison the value cannot stand
        return _failure(entry_point, proxy, error)
    if proxy.calls == 0 or (cases and proxy.calls != cases):
        return {"status": "judge", "reason": f"the hidden test made {proxy.calls} calls, not {cases or 'any'}"}
    return {"status": "pass", "reason": f"{proxy.calls} of {proxy.calls} cases agreed"}


def _failure(entry_point: str, proxy: Proxy, error: BaseException) -> dict[str, Any]:
    """What an exception says that ended a test, or one of its cases."""
    if isinstance(error, CandidateFailed):
        return {"status": error.status, "reason": error.reason, **_case(entry_point, proxy, None)}
    if isinstance(error, MemoryError):
        return {"status": "judge", "reason": "the hidden test ran out of memory"}
    return _refused(entry_point, proxy, error)


def _refused(entry_point: str, proxy: Proxy, error: BaseException) -> dict[str, Any]:
    """What the test's own exception says: of the candidate's value, once it gave one."""
    if not proxy.answered:
        return {"status": "judge", "reason": f"the hidden test failed by itself: {_error(error)}"}
    case = _case(entry_point, proxy, error)
    reason = f"returned {case['returned']}"
    if not isinstance(error, AssertionError):
        reason += f", which cannot be compared ({_error(error)})"
    return {"status": "wrong", "reason": reason, **case}


def _case(entry_point: str, proxy: Proxy, error: BaseException | None) -> dict[str, Any]:
    """The failing case as text: the call, what it returned, what the test expected."""
    if not proxy.calls:
        return {}
    expected = None
    traceback = error.__traceback__ if error is not None else None
    while traceback is not None:
        if "exp" in traceback.tb_frame.f_locals:
            expected = show_value(traceback.tb_frame.f_locals["exp"])
        traceback = traceback.tb_next
    return {
        "call": show_call(entry_point, proxy.arguments, proxy.keywords),
        "returned": show_value(proxy.value) if proxy.answered else None,
        "expected": expected,
    }


def _error(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
