from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING

import pytest

from lab.datasets import Rows, datasets_in, fetch_rows, jsonl
from lab.errors import LabError
from tests.datasets.examples import HUMANEVAL, MBPP, environment, humaneval_rows, mbpp_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.suites.base import Dataset, Row

ROWS = humaneval_rows(12)


def lines(rows: Sequence[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


TEXT = lines(ROWS)


def fetch(tmp_path: Path, source: Path, dataset: Dataset = HUMANEVAL) -> Rows:
    return fetch_rows(dataset, source=source, env=environment(tmp_path))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("humanevalplus.jsonl", TEXT),
        ("humanevalplus.jsonl.gz", gzip.compress(TEXT)),
        ("HumanEvalPlus-OriginFmt.jsonl", TEXT),
        ("HumanEvalPlus-OriginFmt.jsonl.gz", gzip.compress(TEXT)),
    ],
)
@pytest.mark.parametrize("whole_folder", [True, False])
def test_names_in_a_folder(tmp_path: Path, name: str, data: bytes, whole_folder: bool) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "other.jsonl").write_bytes(b"nonsense")
    found = fetch(tmp_path, tmp_path if whole_folder else tmp_path / name)
    assert found.rows == tuple(ROWS)
    assert found.origin == str(tmp_path / name)


@pytest.mark.parametrize(
    "data",
    [
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.rstrip(b"\n"),
        b"\n  \n" + TEXT + b"\n\n",
        lines(ROWS[::-1]),
        lines([row | {"further": {"column": [1.5, None]}} for row in ROWS]),
        gzip.compress(TEXT),
        gzip.compress(lines(ROWS[:5])) + gzip.compress(lines(ROWS[5:])),
    ],
    ids=["CRLF", "BOM", "no last newline", "blank lines", "reversed", "further columns", "gzip", "two gzip members"],
)
def test_forms_that_are_fine(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(data)
    assert fetch(tmp_path, tmp_path / "rows.jsonl").rows == tuple(ROWS)


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(TEXT)
    (tmp_path / "link.jsonl").symlink_to("rows.jsonl")
    assert fetch(tmp_path, tmp_path / "link.jsonl").rows == tuple(ROWS)


FAULTS = {
    "truncated gzip": (gzip.compress(TEXT)[:-30], "cut off"),
    "gzip header only": (gzip.compress(TEXT)[:6], "cut off"),
    "damaged gzip": (gzip.compress(TEXT)[:40] + b"\x00" * 40 + gzip.compress(TEXT)[80:], "not sound gzip"),
    "truncated text": (TEXT[:-30], "line 12 is not a JSON object"),
    "not JSON": (lines(ROWS[:3]) + b"rows\n", "line 4 is not a JSON object"),
    "a number": (b"7\n", "line 1 is not a JSON object"),
    "one JSON array": (json.dumps(ROWS).encode(), "line 1 is not a JSON object"),
    "not UTF-8": (TEXT.replace(b"return x", b"return \xff", 1), "line 1 is not a JSON object"),
    "UTF-16": (TEXT.decode().encode("utf-16"), "line 1 is not a JSON object"),
    "nested without end": (b"[" * 10**6, "line 1 is not a JSON object"),
    "half a surrogate pair": (lines([ROWS[0] | {"test": "\ud800"}]), "line 1 is not a JSON object"),
    "NaN": (b'{"x": NaN}', "line 1 is not a JSON object"),
    "a row twice": (TEXT + lines(ROWS[2:3]), "'HumanEval/2' twice, at line 3 and line 13"),
    "a column missing": (
        lines([ROWS[0], {key: value for key, value in ROWS[1].items() if key != "test"}]),
        "line 2: the column 'test' of humanevalplus is missing",
    ),
    "a list for text": (
        lines([ROWS[0] | {"prompt": ["x"]}]),
        "'prompt' of humanevalplus holds a list of text, not text",
    ),
    "null for text": (lines([ROWS[0] | {"prompt": None}]), "holds null, not text"),
    "no rows": (b"\n", "holds no rows"),
    "nothing": (b"", "holds no rows"),
    "other rows": (lines(mbpp_rows(3)), "line 1: the column 'task_id' of humanevalplus holds a whole number"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_files_that_are_not_fine(tmp_path: Path, case: str) -> None:
    data, expected = FAULTS[case]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with pytest.raises(LabError) as caught:
        fetch(tmp_path, path)
    line = str(caught.value)
    assert expected in line
    assert str(path) in line
    assert caught.value.fix
    assert line.isprintable()


def test_a_name_that_promises_gzip(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.gz").write_bytes(TEXT)
    with pytest.raises(LabError, match="not sound gzip"):
        fetch(tmp_path, tmp_path / "rows.jsonl.gz")


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "loop.jsonl").symlink_to("loop.jsonl")
    (tmp_path / "folder" / "humanevalplus.jsonl").mkdir(parents=True)
    for source, expected in {
        "gone.jsonl": "does not exist",
        "fifo.jsonl": "not a regular file",
        "loop.jsonl": "loop.jsonl",
        "folder": "not a regular file",
    }.items():
        with pytest.raises(LabError, match=expected):
            fetch(tmp_path, tmp_path / source)


def test_a_folder_without_the_dataset(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no humanevalplus.jsonl, .* or HumanEvalPlus-OriginFmt.jsonl.gz"):
        fetch(tmp_path, tmp_path)


@pytest.mark.parametrize(("constant", "value"), [("MAX_LINE_BYTES", 1000), ("MAX_TEXT_BYTES", 50_000)])
def test_a_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constant: str, value: int) -> None:
    monkeypatch.setattr(jsonl, constant, value)
    bomb = b"\n" * 100_000 if constant == "MAX_TEXT_BYTES" else b" " * 100_000
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(bomb))
    with pytest.raises(LabError, match="too large"):
        fetch(tmp_path, tmp_path / "rows.jsonl.gz")


def test_a_file_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_FILE_BYTES", len(TEXT) - 1)
    (tmp_path / "rows.jsonl").write_bytes(TEXT)
    with pytest.raises(LabError, match="larger than"):
        fetch(tmp_path, tmp_path / "rows.jsonl")


def test_one_file_is_for_the_datasets_that_it_fits(tmp_path: Path) -> None:
    both = (HUMANEVAL, MBPP)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(TEXT)
    assert datasets_in(path, both) == (HUMANEVAL,)
    path.write_bytes(lines(mbpp_rows(2)))
    assert datasets_in(path, both) == (MBPP,)
    assert datasets_in(path, (HUMANEVAL,)) == (HUMANEVAL,), "alone: fetch_rows says in full what does not fit"
    assert datasets_in(tmp_path, both) == both
    path.write_bytes(lines([{"task_id": "HumanEval/0", "code": ""}]))
    with pytest.raises(LabError, match=r"fits none.*'prompt' of humanevalplus.*'task_id' of mbppplus"):
        datasets_in(path, both)
    path.write_bytes(b"\n")
    with pytest.raises(LabError, match="no rows"):
        datasets_in(path, both)
