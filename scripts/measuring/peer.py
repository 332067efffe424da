"""Run a peer of ../shared/bench on some of its tasks: peer.py SCRIPT WORKERS IDS_FILE RESULTS_FILE.

IDS_FILE holds a JSON list of upstream ids; RESULTS_FILE gets the peer's own (id, code, seconds), as JSON. It runs in
the Python that the suite's venv has, so that peer and lab have the same numpy.
"""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path


def main(script: str, workers: str, ids: str, results: str) -> None:
    """Let the script find the chosen programs where it looks for all of them, then run it as it is."""
    sys.path.insert(0, str(Path(script).parent))
    import rows  # type: ignore[import-not-found]  # noqa: PLC0415 - beside the script

    wanted, programs = set(json.loads(Path(ids).read_text())), rows.reference_programs()
    rows.reference_programs = lambda: [program for program in programs if program[0] in wanted]
    sys.argv = [script, workers]
    Path(results).write_text(json.dumps(runpy.run_path(script)["results"]))


if __name__ == "__main__":
    main(*sys.argv[1:])
