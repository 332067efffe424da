from __future__ import annotations

import hashlib
from typing import Any

import pytest

from lab.datasets.schema import check_rows, digest, row_digest, row_fault
from lab.errors import LabError
from lab.suites.base import Dataset
from tests.datasets.examples import MBPP, mbpp_rows

DATASET = Dataset(name="d", columns={"id": (int, str), "n": float, "o": dict, "b": bool}, id_column="id")
ROW: dict[str, Any] = {"id": 1, "n": 1.5, "o": {}, "b": True}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, None),
        ({"id": "x"}, None),
        ({"id": True}, "'id' of d holds true or false, not a whole number or text"),
        ({"id": 1.0}, "'id' of d holds a fraction, not a whole number or text"),
        ({"id": ""}, "no usable id"),
        ({"id": "x" * 201}, "no usable id"),
        ({"id": "a\nb"}, "no usable id"),
        ({"n": 1}, "'n' of d holds a whole number, not a fraction"),
        ({"o": []}, "'o' of d holds a list, not an object"),
        ({"b": 1}, "'b' of d holds a whole number, not true or false"),
        ({"b": None}, "'b' of d holds null, not true or false"),
    ],
)
def test_columns_have_exactly_their_type(change: dict[str, Any], expected: str | None) -> None:
    fault = row_fault(DATASET, ROW | change)
    assert fault is None if expected is None else fault is not None and expected in fault


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], None),
        (["x", ""], None),
        (["x", 1], "holds a list of a whole number and text, not a list of text"),
        ([["x"]], "holds a list of a list, not a list of text"),
        ("x", "holds text, not a list of text"),
    ],
)
def test_lists_of_text(value: object, expected: str | None) -> None:
    fault = row_fault(MBPP, mbpp_rows(1)[0] | {"test_list": value})
    assert fault is None if expected is None else fault is not None and expected in fault


def test_rows_are_cut_to_their_columns_and_sorted() -> None:
    ids: list[int | str] = ["x/10", 9, "x/2", "x/02a", 10]
    pairs = [(f"line {n}", {"further": 1} | ROW | {"id": row_id}) for n, row_id in enumerate(ids)]
    rows = check_rows(DATASET, pairs, origin="here", fix="Mend it")
    assert [row["id"] for row in rows] == [9, 10, "x/2", "x/02a", "x/10"]
    assert {tuple(row) for row in rows} == {("id", "n", "o", "b")}


def test_ids_are_compared_as_the_text_that_names_them() -> None:
    with pytest.raises(LabError, match=r"here holds '1' twice, at a and b\. Mend it"):
        check_rows(DATASET, [("a", ROW), ("b", ROW | {"id": "1"})], origin="here", fix="Mend it")


def test_digests_are_of_canonical_json() -> None:
    first, second = {"b": "ü", "a": [1, None]}, {"a": "\U0001f600"}
    texts = [b'{"a":[1,null],"b":"\\u00fc"}', b'{"a":"\\ud83d\\ude00"}']
    assert row_digest(first) == row_digest({"a": [1, None], "b": "ü"}) == hashlib.sha256(texts[0]).hexdigest()
    assert digest([first, second]) == hashlib.sha256(b"%s\n%s\n" % tuple(texts)).hexdigest()
    assert digest([second, first]) != digest([first, second])
