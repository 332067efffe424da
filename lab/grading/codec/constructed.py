"""Values that cross by their constructor's arguments: Fraction, Decimal, and the date and time types.

Read with the base class's own descriptors, so that nothing a subclass overrides is asked. Their modules are only
looked at once somebody has imported them.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MODULES = ("decimal", "fractions", "datetime")


def _fraction_arguments(value: Any) -> tuple[int, ...]:
    fraction = sys.modules["fractions"].Fraction
    return tuple(int(getattr(fraction, name).__get__(value)) for name in ("_numerator", "_denominator"))


def _date_arguments(value: Any) -> tuple[int, ...]:
    date = sys.modules["datetime"].date
    return tuple(getattr(date, name).__get__(value) for name in ("year", "month", "day"))


def _clock_arguments(value: Any, kind: Any) -> tuple[Any, ...]:
    names = ("hour", "minute", "second", "microsecond", "fold")
    offset = kind.utcoffset(value)
    clock = (getattr(kind, name).__get__(value) for name in names)
    return (*clock, None if offset is None else _delta_arguments(offset))


def _delta_arguments(value: Any) -> tuple[int, ...]:
    delta = sys.modules["datetime"].timedelta
    return tuple(getattr(delta, name).__get__(value) for name in ("days", "seconds", "microseconds"))


def _whole(arguments: Any) -> tuple[int, ...]:
    """Whole numbers as they were written; the constructors take more, and spend hours on some of it ("1e999999999")."""
    if type(arguments) is not tuple or any(type(number) is not int for number in arguments):
        raise TypeError("not whole numbers")
    return arguments


def _text(arguments: Any) -> str:
    (text,) = arguments
    if type(text) is not str:
        raise TypeError("not a text")
    return text


def _timezone(arguments: Any) -> Any:
    datetime = sys.modules["datetime"]
    return None if arguments is None else datetime.timezone(datetime.timedelta(*_whole(arguments)))


CONSTRUCTED: dict[tuple[str, str], tuple[bytes, Callable[[Any, Any], Any], Callable[[Any], Any]]] = {
    ("fractions", "Fraction"): (
        b"Q",
        lambda module, a: module.Fraction(*_whole(a)),
        _fraction_arguments,
    ),
    ("decimal", "Decimal"): (
        b"D",
        lambda module, a: module.Decimal(_text(a)),
        lambda value: (sys.modules["decimal"].Decimal.__str__(value),),
    ),
    ("datetime", "timedelta"): (b"3", lambda module, a: module.timedelta(*_whole(a)), _delta_arguments),
    ("datetime", "datetime"): (
        b"2",
        lambda module, a: module.datetime(*_whole(a[:7]), fold=a[7], tzinfo=_timezone(a[8])),
        lambda value: (*_date_arguments(value), *_clock_arguments(value, sys.modules["datetime"].datetime)),
    ),
    ("datetime", "date"): (b"1", lambda module, a: module.date(*_whole(a)), _date_arguments),
    ("datetime", "time"): (
        b"4",
        lambda module, a: module.time(*_whole(a[:4]), fold=a[4], tzinfo=_timezone(a[5])),
        lambda value: _clock_arguments(value, sys.modules["datetime"].time),
    ),
    ("datetime", "timezone"): (
        b"5",
        lambda _module, a: _timezone(a),
        lambda value: _delta_arguments(sys.modules["datetime"].timezone.utcoffset(value, None)),
    ),
}

BUILDERS = {tag: (module, build) for (module, _), (tag, build, _) in CONSTRUCTED.items()}
"""How the host makes a value again, by tag: the module's name, and what takes the module and the arguments."""
