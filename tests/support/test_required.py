from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest

@pytest.mark.{mark}
@pytest.mark.skipif(True, reason="no sandbox here")
def test_marked(): pass

@pytest.mark.{mark}
def test_skips_itself(): pytest.skip("no sandbox here")

def test_without_mark(): pytest.skip("another reason")
"""


@pytest.mark.parametrize(
    ("ci", "mark", "outcome"),
    [("1", "sandbox", "1 failed, 1 skipped, 1 error"), ("", "sandbox", "3 skipped"), ("1", "slow", "3 skipped")],
)
def test_a_test_that_must_not_be_skipped_fails_in_ci(tmp_path: Path, ci: str, mark: str, outcome: str) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  sandbox\n  slow\n")
    (tmp_path / "test_it.py").write_text(SUITE.format(mark=mark))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.support.required",
        "-c",
        str(tmp_path / "pytest.ini"),
        "--rootdir",
        str(tmp_path),
    ]
    done = subprocess.run(
        [*command, str(tmp_path / "test_it.py")],
        cwd=ROOT,
        env=os.environ | {"LAB_CI": ci, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in done.stdout
    assert ("no sandbox here" in done.stdout) == (done.returncode == 1)
