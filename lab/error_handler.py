"""Errors become one line and an exit code here, and nowhere else."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import lab
from lab.console import warn
from lab.errors import ExitCode, LabError
from lab.files import DISK_ERRORS, disk_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


def guard(action: Callable[[], int | None]) -> int:  # noqa: PLR0911 - one a kind of error
    """Run `action` and give the exit code, whatever happens; None from it is 0.

    LabError, usage errors of the command line and a disk that refuses: 2. Interrupt or SIGTERM: 130.
    A reader of our output that went away: 1, without a word. Anything else: 3, with the place of its log.
    """
    with _terminate_as_interrupt():
        try:
            code = action() or 0
            sys.stdout.flush()
            return int(code)
        except BrokenPipeError:
            # what Python flushes at exit must not fail again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return ExitCode.PARTLY
        except LabError as error:
            warn(" ".join(str(error).split()))
            return ExitCode.NOTHING_DONE
        except typer.TyperException as error:
            warn(" ".join(error.format_message().split()))
            return ExitCode.NOTHING_DONE
        except (KeyboardInterrupt, typer.Abort):
            warn("interrupted")
            return ExitCode.INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the last resort: a bug must not print a traceback
            if isinstance(error, OSError) and error.errno in DISK_ERRORS:
                warn(str(_refused(error)))
                return ExitCode.NOTHING_DONE
            return _bug(error)


def _refused(error: OSError) -> LabError:
    """What the system refused at a path that it names. Whether reading or writing, the path itself must tell."""
    path = Path(os.fsdecode(error.filename or "a file"))
    if isinstance(error, PermissionError) and _is_unreadable(path):
        return LabError(f"cannot read {path}: {DISK_ERRORS[errno.EACCES]}", "Get leave to read it, then run it again")
    return disk_error(path, error)


def _is_unreadable(path: Path) -> bool:
    """Whether something is there, or may be, that this user cannot look into."""
    try:
        path.stat()
    except OSError as error:
        return isinstance(error, PermissionError)
    return not os.access(path, os.R_OK)


@contextlib.contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """SIGTERM ends lab the way Ctrl-C does: what runs is stopped and recorded."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _bug(error: Exception) -> ExitCode:
    headline = f"a bug in lab: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    report = (
        f"lab {lab.__version__}\nPython {sys.version}\n{platform.platform()}\narguments: {sys.argv[1:]!r}\n\n"
        + "".join(traceback.format_exception(error))
    )
    log = _write_log(report)
    where = f"The details are in {log}; please report them" if log else "Its log could not be written anywhere"
    warn(f"{headline}. {where}")
    return ExitCode.BUG


def _write_log(report: str) -> Path | None:
    """Write the report to a private file in the temporary folder: there is nearly always one."""
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"lab-bug-{time.strftime('%Y%m%d-%H%M%S')}-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(report)
    except OSError:
        return None
    return Path(name)
