from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lab.datasets import datasets_in, fetch_rows
from tests.datasets.examples import HUMANEVAL, MBPP, environment
from tests.support.viewer import serve

if TYPE_CHECKING:
    from lab.suites.base import Dataset

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = [pytest.mark.real, pytest.mark.skipif(not DATA.is_dir(), reason=f"{DATA} is not here")]


@pytest.mark.parametrize("dataset", [HUMANEVAL, MBPP], ids=lambda dataset: dataset.name)
def test_files_and_viewer_and_cache_give_the_known_rows(tmp_path: Path, dataset: Dataset) -> None:
    local = fetch_rows(dataset, source=DATA, env=environment(tmp_path))
    assert local.known
    assert len(local.rows) == dataset.rows_count
    with serve({str(dataset.hub_id): local.rows}) as server:
        env = environment(tmp_path, server.url)
        assert fetch_rows(dataset, source=None, env=env).rows == local.rows
        assert len(server.requests) == -(-len(local.rows) // 100)
    assert fetch_rows(dataset, source=None, env=env, offline=True).known


def test_one_file_serves_its_own_dataset_only() -> None:
    both = (HUMANEVAL, MBPP)
    assert datasets_in(DATA / "HumanEvalPlus-OriginFmt.jsonl.gz", both) == (HUMANEVAL,)
    assert datasets_in(DATA / "MbppPlus-OriginFmt.jsonl.gz", both) == (MBPP,)
