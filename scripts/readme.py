#!/usr/bin/env python3
"""Write the README's table anew: what scripts/compare_starter.sh prints at its end, in a root of its own.

Usage: .venv/bin/python scripts/readme.py [--check]    --check writes nothing, and ends with 1 where README.md is stale
"""

from __future__ import annotations

import difflib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
BEGIN, END = "<!-- table: made by scripts/readme.py -->\n```text\n", "```\n<!-- end of table -->\n"


def table() -> str:
    """The last report of scripts/compare_starter.sh, without the spaces that fill its lines."""
    with tempfile.TemporaryDirectory() as root:
        variables = {name: value for name, value in os.environ.items() if not name.startswith("LAB_")}
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}"
        done = subprocess.run(
            [PROJECT / "scripts" / "compare_starter.sh"],
            env=variables | {"LAB_ROOT": root, "PATH": path},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    start = len(lines) - lines[::-1].index("starter")
    return "".join(f"{line}\n" for line in lines[start:] if line)


def main() -> int:
    """Write or check; 2 where the README has no place for a table."""
    old = README.read_text("utf-8")
    if BEGIN not in old or END not in old:
        print(f"{README} lacks the lines that a table stands between: {BEGIN!r} and {END!r}", file=sys.stderr)
        return 2
    before, _, rest = old.partition(BEGIN)
    _, _, after = rest.partition(END)
    new = before + BEGIN + table() + END + after
    if "--check" not in sys.argv[1:]:
        README.write_text(new, "utf-8")
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "README.md", "as it is"))
    return int(old != new)


if __name__ == "__main__":
    sys.exit(main())
