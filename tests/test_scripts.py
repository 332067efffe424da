from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[1] / "scripts"
TOO_OLD = "#!/bin/sh\nexit 1\n"
GOOD = f'#!/bin/sh\nexec {sys.executable} "$@"\n'


@pytest.mark.parametrize(
    ("programs", "lab_python", "found"),
    [
        ({"python3": GOOD}, "", "python3"),
        ({"python3": TOO_OLD, "python3.12": GOOD}, "", "python3.12"),
        ({"python3": GOOD}, sys.executable, sys.executable),
        ({"python3": GOOD}, "/nonexistent/python", "python3"),
        ({"python3": TOO_OLD}, "", None),
        ({}, "", None),
    ],
)
def test_the_first_python_that_will_do_is_found(
    tmp_path: Path, programs: dict[str, str], lab_python: str, found: str | None
) -> None:
    for name, text in programs.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-c", f"source '{SCRIPTS}/venv.sh'; find_python"],
        env={"PATH": str(tmp_path), "LAB_PYTHON": lab_python},
        capture_output=True,
        text=True,
        check=False,
    )
    if found is None:
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "python3-venv" in done.stderr
    else:
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{found}\n", "")
