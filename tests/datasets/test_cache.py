from __future__ import annotations

import dataclasses
import gzip
from typing import TYPE_CHECKING

import pytest

from lab.datasets import digest, fetch_rows
from lab.errors import LabError
from tests.datasets.examples import HUB_ID, HUMANEVAL, MBPP, environment, humaneval_rows, mbpp_rows
from tests.support.viewer import partial, serve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = humaneval_rows(12)


def cached(tmp_path: Path, kind: str) -> Path:
    (path,) = (tmp_path / "cache" / "lab" / "datasets" / kind).iterdir()
    return path


def test_the_second_time_needs_no_network(tmp_path: Path) -> None:
    with serve({HUB_ID: ROWS}) as server:
        env = environment(tmp_path, server.url)
        first = fetch_rows(HUMANEVAL, source=None, env=env)
    assert cached(tmp_path, "rows").name == f"{digest(ROWS)}.jsonl.gz"
    second = fetch_rows(HUMANEVAL, source=None, env=env)
    offline = fetch_rows(HUMANEVAL, source=None, env=env, offline=True)
    assert first.rows == second.rows == offline.rows == tuple(ROWS)
    assert second.digest == first.digest
    assert "cached" in second.origin


def test_refresh_fetches_anew(tmp_path: Path) -> None:
    datasets = {HUB_ID: ROWS}
    with serve(datasets) as server, serve({HUB_ID: humaneval_rows(3)}) as other:
        env = environment(tmp_path, server.url)
        fetch_rows(HUMANEVAL, source=None, env=env)
        datasets[HUB_ID] = newer = humaneval_rows(13)
        assert fetch_rows(HUMANEVAL, source=None, env=env).rows == tuple(ROWS)
        assert fetch_rows(HUMANEVAL, source=None, env=env, refresh=True).rows == tuple(newer)
        elsewhere = dataclasses.replace(env, datasets_server=other.url)
        assert len(fetch_rows(HUMANEVAL, source=None, env=elsewhere).rows) == 3
    assert fetch_rows(HUMANEVAL, source=None, env=env, offline=True).rows == tuple(newer)


def test_a_refresh_that_fails_leaves_the_cache(tmp_path: Path) -> None:
    with serve({HUB_ID: ROWS}, faults=[None, partial()]) as server:
        env = environment(tmp_path, server.url)
        fetch_rows(HUMANEVAL, source=None, env=env)
        with pytest.raises(LabError, match="partial"):
            fetch_rows(HUMANEVAL, source=None, env=env, refresh=True)
    assert fetch_rows(HUMANEVAL, source=None, env=env, offline=True).rows == tuple(ROWS)


def test_rows_of_several_datasets_and_configs_are_kept_apart(tmp_path: Path) -> None:
    with serve({HUB_ID: ROWS, "evalplus/mbppplus": mbpp_rows(3)}) as server:
        env = environment(tmp_path, server.url)
        assert len(fetch_rows(HUMANEVAL, source=None, env=env).rows) == 12
        assert len(fetch_rows(MBPP, source=None, env=env).rows) == 3
    other = dataclasses.replace(HUMANEVAL, config="v2")
    with pytest.raises(LabError, match="cache"):
        fetch_rows(other, source=None, env=env, offline=True)


@pytest.mark.parametrize(
    ("hub_id", "offline", "refresh", "expected"),
    [
        (HUB_ID, True, False, "no whole rows"),
        (HUB_ID, True, True, "exclude each other"),
        (None, False, False, "on no server"),
    ],
)
def test_what_cannot_be_had(tmp_path: Path, hub_id: str | None, offline: bool, refresh: bool, expected: str) -> None:
    dataset = dataclasses.replace(HUMANEVAL, hub_id=hub_id)
    with pytest.raises(LabError, match=expected) as caught:
        fetch_rows(dataset, source=None, env=environment(tmp_path), offline=offline, refresh=refresh)
    assert caught.value.fix


def other_rows(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"task_id": "x"}\n'))


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "rows gone": ("rows", lambda path: path.unlink()),
    "rows cut off": ("rows", lambda path: path.write_bytes(path.read_bytes()[:-20])),
    "rows empty": ("rows", lambda path: path.write_bytes(b"")),
    "rows not gzip": ("rows", lambda path: path.write_bytes(b"\x00" * 99)),
    "rows of another form": ("rows", other_rows),
    "a row less": ("rows", lambda path: path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-230]))),
    "a text changed": (
        "rows",
        lambda path: path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"x + 3", b"x + 4"))),
    ),
    "pointer empty": ("sources", lambda path: path.write_bytes(b"")),
    "pointer not JSON": ("sources", lambda path: path.write_bytes(b"rows")),
    "pointer to nothing": (
        "sources",
        lambda path: path.write_text(path.read_text().replace('"rows": "', '"rows": "0')),
    ),
    "pointer of another dataset": (
        "sources",
        lambda path: path.write_text(path.read_text().replace("human", "inhuman")),
    ),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_entry_is_fetched_again(tmp_path: Path, case: str) -> None:
    kind, damage = DAMAGE[case]
    with serve({HUB_ID: ROWS}) as server:
        env = environment(tmp_path, server.url)
        fetch_rows(HUMANEVAL, source=None, env=env)
        path = cached(tmp_path, kind)
        before = path.read_bytes()
        damage(path)
        assert not path.exists() or path.read_bytes() != before
        with pytest.raises(LabError, match="no whole rows"):
            fetch_rows(HUMANEVAL, source=None, env=env, offline=True)
        again = fetch_rows(HUMANEVAL, source=None, env=env)
        assert len(server.requests) == 2
    assert again.rows == tuple(ROWS)
    assert cached(tmp_path, kind).read_bytes() == before


def test_a_cache_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder belongs")
    said: list[str] = []
    with serve({HUB_ID: ROWS}) as server:
        found = fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url), say=said.append)
    assert found.rows == tuple(ROWS)
    (line,) = said
    assert "could not be kept in the cache" in line
