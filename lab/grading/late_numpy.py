"""numpy in a judge: at once in one that judges many tasks, and where it judges one, only when a test touches it."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def prepare_numpy(site_packages: str, *, warm: bool) -> str | None:
    """Import numpy, at once or when the test first touches it; the reason where the venv's is broken."""
    if not has_numpy(site_packages):
        return None
    if not warm:
        sys.modules["numpy"] = LateNumpy("numpy")
        return None
    broken = broken_numpy()
    gc.collect()
    gc.freeze()
    return broken


def has_numpy(site_packages: str) -> bool:
    """Whether the grading venv has it."""
    return os.path.isdir(os.path.join(site_packages, "numpy"))


def broken_numpy() -> str | None:
    """Why the venv's numpy cannot be imported; None where it can."""
    try:
        from numpy import asarray  # noqa: F401, PLC0415 - a name, for the module alone may be the late one
    except Exception as error:  # noqa: BLE001 - whatever a damaged package raises
        return f"numpy of the grading venv cannot be imported: {type(error).__name__}: {error}"
    return None


class NoArray:
    """Stands for the types of arrays and scalars while numpy is not imported: until then nothing can be one."""


class LateNumpy(type(sys)):  # type: ignore[misc]
    """numpy, imported when more of it is asked for than whether a value is an array: most of a check.sh's time."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get("numpy") is self:
            if name in {"ndarray", "generic"}:
                return NoArray
            del sys.modules["numpy"]
        import numpy as np  # noqa: PLC0415

        return getattr(np, name)
