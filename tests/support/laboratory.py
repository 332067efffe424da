"""A root with a tiny generated suite, and the real command line over it.

`laboratory` calls it in this process. `python -m tests.support.laboratory ARGUMENTS` is the same in one of its own,
for signals. Candidates are graded in the process itself: what is tested here is not the boundary.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lab import cli, suites
from lab.results import read_result

if TYPE_CHECKING:
    from lab.results import Result

PROJECT = Path(__file__).parents[2]
ONES, TWOS = 11, 2


@dataclasses.dataclass(frozen=True)
class Said:
    """What one command came to."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code in {0, 1}, self
        return json.loads(self.out)


@dataclasses.dataclass(frozen=True)
class Laboratory:
    """A root with the suite `tiny`: ones-1 to ones-11 (f adds that number), twos-1 and twos-2."""

    root: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path) -> Said:
        """Run the command line here."""
        self.capture.readouterr()
        code = cli.main(["--root", str(self.root), *map(str, arguments)])
        said = self.capture.readouterr()
        assert "Traceback" not in said.out + said.err
        return Said(code, said.out, said.err)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the command line in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "tests.support.laboratory", "--root", str(self.root), *arguments],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def results(self, tool: str = "*") -> list[Result]:
        """Every result of a tool, in order of path."""
        found = [read_result(path) for path in sorted(self.root.glob(f"runs/tiny/{tool}/*/*/result.json"))]
        assert all(hasattr(result, "verdict") for result in found), found
        return found  # type: ignore[return-value]

    def samples(self, *lines: object, name: str = "mine.jsonl") -> Path:
        """A samples file; a line that is text stands as it is."""
        path = self.root / name
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path


@pytest.fixture
def laboratory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Laboratory:
    from tests.generate import tiny  # noqa: PLC0415 - most tests need no suite, nor all that makes one

    root = tmp_path / "root"
    root.mkdir()
    for name in os.environ:
        if name.startswith("LAB_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        tiny.fake_grading(patch)
        rows = [tiny.good_row(number) for number in range(1, ONES + 1)]
        twos = [tiny.good_row(number, "Two") for number in range(1, TWOS + 1)]
        tiny.run(root, tiny.write_rows(tmp_path / "rows", rows, twos), every=True)
    _grade_here(monkeypatch)
    return Laboratory(root, capsys)


def _grade_here(patch: pytest.MonkeyPatch) -> None:
    from tests.generate import tiny  # noqa: PLC0415

    patch.setitem(suites.SUITES, "tiny", "tests.support.tiny_suite")
    for command in ("run", "check", "grade"):
        patch.setattr(f"lab.commands.{command}.Pool", tiny.InProcessPool)
        patch.setattr(f"lab.commands.{command}.ensure_venv", lambda *_given, **_options: tiny.FAKE_VENV)


if __name__ == "__main__":
    import lab.commands.check
    import lab.commands.grade
    import lab.commands.run  # noqa: F401 - to be patched

    with pytest.MonkeyPatch.context() as own_patch:
        _grade_here(own_patch)
        sys.exit(cli.main())
