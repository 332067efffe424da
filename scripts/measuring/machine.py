"""On what, and when, something was measured."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from measuring.programs import run

if TYPE_CHECKING:
    from measuring.laboratory import Laboratory

VERSIONS = "import numpy, platform; print('Python', platform.python_version() + ', numpy', numpy.__version__)"
BUSY_LOAD = 0.5


def machine_line(laboratory: Laboratory) -> str:
    """One line: date, cores, processor, memory, versions and isolation. Spares whoever reads the table a question."""
    versions = run([laboratory.python, "-c", VERSIONS], cwd=laboratory.root).out.strip()
    doctor = json.loads(laboratory.lab("doctor", "--json").out)
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    parts = [
        f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC",
        f"{len(os.sched_getaffinity(0))} cores ({_processor()})",
        f"{memory_gb:.0f} GB",
        versions,
        f"lab {doctor['lab']}",
        f"isolation {doctor['isolation']}",
    ]
    return ", ".join(parts)


def busy_warning() -> str | None:
    """A line to say where others use the machine, so that times mean little."""
    load = os.getloadavg()[0]
    return f"the machine is busy (load {load:.1f}): the ratios may be wrong" if load > BUSY_LOAD else None


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
