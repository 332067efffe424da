from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from lab.layout import Root
from lab.proxy.summary import Tokens
from lab.results import (
    SCHEMA,
    Attempt,
    Result,
    Unreadable,
    find_results,
    json_schema,
    read_result,
    suites_with_runs,
    to_json,
    write_result,
)
from lab.verdict import Status, Verdict

PROJECT = Path(__file__).parents[1]
VERDICT = Verdict(Status.WRONG, "no", "t-1", "T/1", "s", "t", sample=0, expected="the answer")
RESULT = Result(
    lab="1",
    suite="s",
    task="t-1",
    tool="x",
    settings={"a": [1]},
    identity="same",
    verdict=VERDICT,
    attempts=(Attempt(verdict=VERDICT, exit_code=-9, notes=("n",)),),
    tokens=Tokens(prompt=1),
)


def test_round_trip_without_the_answer_key(tmp_path: Path) -> None:
    path = tmp_path / "a" / "result.json"
    write_result(path, RESULT)
    assert read_result(path) == RESULT
    assert "the answer" not in path.read_text()
    assert json.loads(path.read_text())["schema"] == SCHEMA


def test_unknown_fields_survive_a_rewrite_of_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_result(path, RESULT)
    record = json.loads(path.read_text())
    record["note"] = {"by": "hand"}
    record["verdict"]["later"] = 1
    path.write_text(json.dumps(record))
    write_result(path, msgspec.structs.replace(RESULT, wall_s=2.0))
    again = json.loads(path.read_text())
    assert (again["note"], again["verdict"]["later"], again["wall_s"]) == ({"by": "hand"}, 1, 2.0)
    write_result(path, msgspec.structs.replace(RESULT, identity="another"))
    assert "note" not in json.loads(path.read_text())


def record(**changes: object) -> str:
    known = {"lab": "1", "suite": "s", "task": "t-1", "tool": "x"}
    return json.dumps(known | changes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a result"),
        (record()[:-9], "not a result"),
        ("[]", "not a result"),
        ("null", "not a result"),
        ("[" * 5000, "not a result"),
        ("\udcff", "not a result"),
        (record(task=7), "not a result"),
        (record(stop="whenever"), "not a result"),
        (record(verdict={"status": "pass"}), "not a result"),
        (record(verdict=VERDICT.record() | {"status": "great"}), "not a result"),
        (record(attempts=[{"wall_s": "x"}]), "not a result"),
        (record(schema=SCHEMA + 1), "newer"),
    ],
)
def test_hostile_files_are_a_problem_not_a_crash(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    found = read_result(path)
    assert isinstance(found, Unreadable)
    assert reason in found.reason
    assert "\n" not in found.reason


def test_what_is_no_file_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    for name in ("folder", "link", "nothing"):
        assert isinstance(read_result(tmp_path / name), Unreadable)


def test_results_are_found_at_their_depth_only(tmp_path: Path) -> None:
    root = Root(tmp_path)
    assert suites_with_runs(root) == []
    run = root.run("s", "x", "t-1", "r-0")
    write_result(run / "result.json", RESULT)
    for left in ("attempt-1/work", "attempt-1/work/deeper", "attempt-1/trace"):
        write_result(run / left / "result.json", RESULT)
    write_result(root.runs / "s" / "x" / "result.json", RESULT)
    write_result(root.runs / "s" / "x" / "t-1" / "result.json", RESULT)
    outside = tmp_path / "outside"
    write_result(outside / "t-1" / "r-1" / "result.json", RESULT)
    (root.runs / "s" / "linked").symlink_to(outside)
    assert suites_with_runs(root) == ["s"]
    assert list(find_results(root, "s")) == [RESULT]


def test_a_result_in_another_folder_than_its_own_is_a_problem(tmp_path: Path) -> None:
    root = Root(tmp_path)
    write_result(root.run("s", "x", "t-2", "r-0") / "result.json", RESULT)
    (found,) = find_results(root, "s")
    assert isinstance(found, Unreadable)
    assert "s/x/t-1" in found.reason
    assert list(find_results(root, "none")) == []


def as_json(value: object) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(value))
    return read


def test_the_published_schema_is_that_of_the_records() -> None:
    published = json.loads((PROJECT / "docs" / "result.schema.json").read_text("utf-8"))
    assert published == as_json(json_schema()), "write it anew: scripts/schema.py"


def test_a_record_keeps_to_the_published_schema() -> None:
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    record = as_json(to_json(RESULT))
    validator.validate(record | {"of a newer lab": 1})
    for key, value in (("stop", "late"), ("requests", "two"), ("verdict", {"status": "good"}), ("tokens", [])):
        assert not validator.is_valid(record | {key: value}), key
