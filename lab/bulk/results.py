"""The results file: a header, then one record a sample in the order of the samples file."""

from __future__ import annotations

import collections
import json
from typing import TYPE_CHECKING, Any

from lab.bulk.contents import Row
from lab.files import writing
from lab.verdict import Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lab.bulk.journal import Journal
    from lab.samples.sample import BadLine

INVALID = "invalid"
"""The status of a line that holds no sample: no verdict, and not scored."""

Statuses = dict[str, collections.Counter[str]]
"""By task id: how many samples came to which status."""


def write_results(
    out: Path, header: dict[str, Any], rows: Iterable[Row | BadLine], journal: Journal, locks: Mapping[str, str]
) -> Statuses:
    """Write `out` as a whole and give what it comes to. `locks` has the digest of each task's lock entry.

    Every row must have its result in `journal`. Raises LabError where the disk refuses.
    """
    statuses: Statuses = collections.defaultdict(collections.Counter)
    with writing(out) as stream:
        stream.write(_line(header))
        for row in rows:
            if isinstance(row, Row):
                record = journal[row.unit]
                # a result that is reused, or shared by equal solutions, says of itself where it stands here and now
                record |= {"sample": row.sample, "line": row.line, "lock_sha256": locks[row.task.id]}
                statuses[row.task.id][record["status"]] += 1
            else:
                record = _invalid(row, header)
            stream.write(_line(record))
    return statuses


def _invalid(row: BadLine, header: dict[str, Any]) -> dict[str, Any]:
    blank = Verdict(
        Status.INFRA,
        str(row),
        task="",
        upstream_id="",
        suite=header["suite"],
        dataset="",
        isolation=header["isolation"],
        grader=header["grader"],
        line=row.line,
    )
    return blank.record() | {"status": INVALID}


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"
