"""Solutions that language models wrote, with EvalPlus's verdicts: lab's agree."""

from __future__ import annotations

import collections
import json
from typing import TYPE_CHECKING

import pytest

from lab.suites.evalplus import SUITE
from tests.real.whole import SAMPLES, lines
from tests.support.required import SHARED_DATA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.real.whole import Generation

pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED_DATA.is_dir(), reason=f"{SHARED_DATA} is not here"),
]
AGREEMENT = 0.99


def test_labelled_samples_get_evalpluses_verdicts(proven: Generation, tmp_path: Path) -> None:
    labelled = [sample for path in SAMPLES for sample in lines(path)]
    assert len(labelled) == 1626
    # without the labels: they are not for lab to see
    file = tmp_path / "labelled.jsonl"
    file.write_text("".join(json.dumps({k: s[k] for k in ("task_id", "solution")}) + "\n" for s in labelled))
    done = proven.lab("run", "replay", "--samples", file, "--suite", "evalplus", "--json")
    assert done.code == 0, done.err
    records = sorted((result["verdict"] for result in json.loads(done.out)["results"]), key=lambda one: one["line"])
    assert [record["line"] for record in records] == list(range(1, len(labelled) + 1))
    count: collections.Counter[str] = collections.Counter()
    differ = []
    for sample, record in zip(labelled, records, strict=True):
        # a pass needs both: some pass the longer list of cases and fail the shorter
        label = (sample["base_status"], sample["plus_status"]) == ("pass", "pass")
        count[record["dataset"]] += 1
        if label != (record["status"] == "pass"):
            differ.append((record["dataset"], sample["task_id"], sample["model"], label, record["reason"]))
    for dataset in SUITE.datasets:
        apart = [one for one in differ if one[0] == dataset.name]
        assert len(apart) <= (1 - AGREEMENT) * count[dataset.name], apart
