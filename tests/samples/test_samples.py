from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.samples import jsonl, open_samples
from lab.samples.foreign import foreign_line
from lab.samples.sample import MAX_SAMPLE_BYTES, BadLine, Sample

GOOD = {"task_id": "One/1", "solution": "def f(x): ..."}
GOOD_LINE = json.dumps(GOOD).encode()


def write(path: Path, *lines: bytes) -> Path:
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def read(path: Path) -> list[Sample | BadLine]:
    """All of it, and each sample once more: it must be the same."""
    with open_samples(path) as samples:
        found = list(samples)
        for sample in found:
            if isinstance(sample, Sample):
                again = samples.again(sample.place)
                assert isinstance(again, Sample)
                assert (again.task, again.source) == (sample.task, sample.source)
        return found


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "no-suffix"])
def test_samples_of_a_file(tmp_path: Path, name: str) -> None:
    other = {"task_id": "Two/1", "completion": "\ud800 é\n", "model": "m", "more": [1]}
    path = write(tmp_path / name, b"\xef\xbb\xbf" + GOOD_LINE, b"", b" \t", json.dumps(other).encode())
    first, second = read(path)
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    assert (first.line, first.task, first.source, first.continues, first.model) == (
        1,
        "One/1",
        b"def f(x): ...",
        False,
        None,
    )
    assert (second.line, second.source, second.continues, second.model) == (
        4,
        b"\xed\xa0\x80 \xc3\xa9\n",
        True,
        "m",
    )


def test_the_last_line_needs_no_end(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(GOOD_LINE)
    assert len(read(path)) == 1


BAD_LINES = [
    (b"{", "is not JSON"),
    (b"not json", "is not JSON"),
    (GOOD_LINE[:-3], "is not JSON"),
    (b"\xff\xfe", "is not JSON"),
    (b"\0" * 40, "is not JSON"),
    (b"[" * 100_000, "is not JSON"),
    (b"9" * 5000, "is not JSON"),
    (b"[]", "is not a JSON object"),
    (b"null", "is not a JSON object"),
    (b"{}", "has no task_id"),
    (b'{"task_id": 4, "solution": ""}', "has no task_id"),
    (b'{"task_id": "", "solution": ""}', "has no task_id"),
    (b'{"task_id": "One/1"}', "has neither a solution nor a completion"),
    (b'{"task_id": "One/1", "solution": ["a", "b"]}', "has a solution that is not text"),
    (b'{"task_id": "One/1", "solution": null, "completion": "x"}', "has a solution that is not text"),
    (b'{"task_id": "One/1", "completion": 7}', "has a completion that is not text"),
    (b'{"task_id": "One/1", "solution": "' + b"x" * MAX_SAMPLE_BYTES + b'"}', "is longer than"),
    (b"x" * (3 * MAX_SAMPLE_BYTES), "is longer than"),
]


@pytest.mark.parametrize(("line", "reason"), BAD_LINES, ids=range(len(BAD_LINES)))
def test_a_bad_line_is_named_and_does_not_stop_the_rest(tmp_path: Path, line: bytes, reason: str) -> None:
    first, bad, last = read(write(tmp_path / "x.jsonl", GOOD_LINE, line, GOOD_LINE))
    assert isinstance(first, Sample)
    assert isinstance(bad, BadLine)
    assert (bad.line, str(bad)[: len(reason) + 7]) == (2, f"line 2 {reason}")
    assert isinstance(last, Sample)
    assert (last.line, last.source) == (3, first.source)


def test_the_order_of_keys_decides_nothing(tmp_path: Path) -> None:
    both = {"completion": "no", "solution": "yes", "task_id": "One/1"}
    (sample,) = read(write(tmp_path / "x.jsonl", json.dumps(both).encode()))
    assert isinstance(sample, Sample)
    assert (sample.source, sample.continues) == (b"yes", False)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    whole = gzip.compress(GOOD_LINE * 100)
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, data in (("cut.gz", whole[:-9]), ("cut-early.gz", whole[:12]), ("torn.gz", whole[:20] + b"??" * 20)):
        (tmp_path / name).write_bytes(data)
    for path, expected in (
        (tmp_path / "none.jsonl", "there is no samples file"),
        (tmp_path / "cut.gz", "cannot be read"),
        (tmp_path / "cut-early.gz", "cannot be read"),
        (tmp_path / "torn.gz", "cannot be read"),
        (tmp_path / "loop", "cannot be read"),
        (tmp_path / "fifo", "is not a regular file"),
        (Path("/dev/zero"), "is not a regular file"),
    ):
        with pytest.raises(LabError, match=expected):
            read(path)


def test_a_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_TEXT_BYTES", 1 << 20)
    with pytest.raises(LabError, match="unpacks to more than"):
        read(write(tmp_path / "x.gz", b" " * (2 << 20)))


def folder(base: Path, **files: str) -> Path:
    for name, text in files.items():
        path = base / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return base


def test_a_folder_as_evalplus_writes_it(tmp_path: Path) -> None:
    base = folder(tmp_path / "s", One_1__10_py="ten", One_1__2_py="two", One_1__notes="", One_0__0_py="é")
    (base / "README.md").write_text("no sample")
    (base / "Empty_1").mkdir()
    (base / "One_1" / "9.py").mkdir()
    found = read(base)
    assert [(s.task, s.source.decode(), s.line) for s in found if isinstance(s, Sample)] == [
        ("One/0", "é", None),
        ("One/1", "two", None),
        ("One/1", "ten", None),
    ]


def test_a_file_of_a_folder_that_cannot_be_taken(tmp_path: Path) -> None:
    base = folder(tmp_path / "s", One_1__0_py="x")
    (base / "One_1/1.py").symlink_to("/etc/hostname")
    (base / "One_1/2.py").write_bytes(b"#" * (MAX_SAMPLE_BYTES + 1))
    first, link, large = read(base)
    assert isinstance(first, Sample)
    assert str(link) == "One_1/1.py is a symbolic link"
    assert str(large).startswith("One_1/2.py is larger than")


def test_a_folder_without_samples(tmp_path: Path) -> None:
    folder(tmp_path / "s", One_1__notes="")
    (tmp_path / "s/0.py").write_text("at the top")
    with pytest.raises(LabError, match="holds no samples"):
        open_samples(tmp_path / "s")


def test_identities(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", GOOD_LINE)
    with open_samples(path) as samples:
        assert samples.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    digests: set[str] = set()
    for files in ({"One_1__0_py": "a"}, {"One_1__0_py": "b"}, {"One_1__1_py": "b"}, {"Two_1__1_py": "b"}):
        with open_samples(folder(tmp_path / str(len(digests)), **files)) as samples:
            digests.add(samples.sha256())
    assert len(digests) == 4


def test_a_foreign_name_of_any_length_is_said_in_one_line() -> None:
    assert len(foreign_line({"9" * 5000: 1}, "tiny", 1)) < 200
