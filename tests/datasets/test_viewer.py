from __future__ import annotations

import dataclasses
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest

from lab import __version__
from lab.datasets import digest, fetch_rows, transport, viewer
from lab.datasets.transport import Patience
from lab.errors import LabError
from tests.datasets.examples import HUB_ID, HUMANEVAL, environment, humaneval_rows
from tests.support.viewer import (
    Answer,
    Fault,
    body,
    cut_off,
    edit,
    html,
    not_ready,
    partial,
    redirect,
    serve,
    short,
    shuffled,
    slow,
    status,
    total,
    truncated,
    zipped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ROWS = humaneval_rows(250)
PAGE = f"/rows?dataset={HUB_ID}&config=default&split=test&length=100&offset="


class Waits:
    """Stands in for time.sleep and keeps what was asked of it, in seconds."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def patience(self, **settings: Any) -> Patience:
        return Patience(sleep=self.seconds.append, **settings)


def test_all_pages_are_fetched(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    with serve({HUB_ID: ROWS}) as server:
        found = fetch_rows(
            HUMANEVAL, source=None, env=environment(tmp_path, server.url), progress=lambda *counts: told.append(counts)
        )
    assert list(found.rows) == ROWS
    assert found.digest == digest(ROWS)
    assert not found.known
    assert HUB_ID in found.origin
    assert "127.0.0.1" in found.origin
    assert told == [(100, 250), (200, 250), (250, 250), (250, 250)]
    assert [seen.query["offset"] for seen in server.requests] == ["0", "100", "200"]
    for seen in server.requests:
        assert seen.path == "/rows"
        assert seen.query | {"offset": ""} == {
            "dataset": HUB_ID,
            "config": "default",
            "split": "test",
            "offset": "",
            "length": "100",
        }
        assert seen.headers["user-agent"].startswith(f"lab/{__version__} ")
        assert "authorization" not in seen.headers


def test_known_rows_are_recognised(tmp_path: Path) -> None:
    dataset = dataclasses.replace(HUMANEVAL, rows_sha256=digest(ROWS))
    with serve({HUB_ID: ROWS}) as server:
        assert fetch_rows(dataset, source=None, env=environment(tmp_path, server.url)).known


def healing() -> dict[str, tuple[Sequence[Fault | None], list[tuple[float, float]]]]:
    """What is answered, and how long each wait may be. Made when it is needed, for dates are counted from now."""
    now = datetime.now(UTC)
    return {
        "429 without a header": ([status(429)], [(0.5, 1)]),
        "429 with seconds": ([status(429, retry_after=7)], [(7, 7.7)]),
        "429 with a date": ([status(429, retry_after=format_datetime(now + timedelta(seconds=200)))], [(100, 221)]),
        "429 with a date gone by": ([status(429, retry_after=format_datetime(now - timedelta(hours=1)))], [(0, 0)]),
        "429 with nonsense": ([status(429, retry_after="soon")], [(0.5, 1)]),
        "429 with infinity": ([status(429, retry_after="inf")], [(0.5, 1)]),
        "429 with a RateLimit": ([status(429, RateLimit='"api";r=0;t=55')], [(55, 60.5)]),
        "429 with an older RateLimit": ([status(429, RateLimit="limit=100, remaining=0, reset=50")], [(50, 55)]),
        "429 with a RateLimit-Reset": ([status(429, RateLimit_Reset="40")], [(40, 44)]),
        "500 with the Hub's RateLimit": ([status(500, RateLimit='"api";r=99;t=280')], [(0.5, 1)]),
        "503 with seconds": ([None, status(503, retry_after=3)], [(3, 3.3)]),
        "500 three times": ([status(500)] * 3, [(0.5, 1), (1, 2), (2, 4)]),
        "502 in the middle": ([None, status(502)], [(0.5, 1)]),
        "a cache that is rebuilt": ([not_ready(), None, not_ready(retry_after=9)], [(0.5, 1), (9, 9.9)]),
        "a web page with 503": ([html(503)], [(0.5, 1)]),
        "a broken connection": ([None, cut_off()], [(0.5, 1)]),
        "a short page": ([short(30), short(1)], []),
        "rows in another order": ([shuffled(), shuffled(), shuffled()], []),
        "gzip": ([zipped(), zipped(), zipped()], []),
        "a redirect": ([None, redirect(f"{PAGE}100"), redirect(f"{PAGE}100", 302)], []),
    }


@pytest.mark.parametrize("case", healing())
def test_what_heals(tmp_path: Path, case: str) -> None:
    faults, expected_waits = healing()[case]
    waits = Waits()
    said: list[str] = []
    with serve({HUB_ID: ROWS}, faults=faults) as server:
        found = fetch_rows(
            HUMANEVAL, source=None, env=environment(tmp_path, server.url), say=said.append, patience=waits.patience()
        )
    assert list(found.rows) == ROWS
    assert len(waits.seconds) == len(said) == len(expected_waits)
    for waited, (least, most) in zip(waits.seconds, expected_waits, strict=True):
        assert least <= waited <= most


def shift(page: dict[str, Any]) -> None:
    for entry in page["rows"]:
        entry["row_idx"] += 1


FATAL: dict[str, tuple[Sequence[Fault | None], Fault | None, str]] = {
    "503 for good": ([], status(503), "it answered 503, 7 times"),
    "503 for good from the second page": ([None], status(503), "it answered 503, 7 times"),
    "never ready": ([], not_ready(), "it answered 404, 7 times"),
    "429 for an hour": ([status(429, retry_after=3600)], None, "asks to wait 3600 s"),
    "a broken connection for good": ([], cut_off(), "the connection failed, 7 times"),
    "a web page": ([None, html()], None, "a web page"),
    "a web page that says it is JSON": ([body(b"\n<html>")], None, "a web page"),
    "partial": ([partial()], None, "partial"),
    "a truncated cell": ([None, None, truncated("test", 3)], None, "cut off the text of test in row 203"),
    "a total too large": ([], total(251), "250 rows of 251"),
    "a total too small": ([], total(150), "announced 150 rows and gave 200"),
    "a total that changes": ([None, total(240)], None, "went from 250 to 240"),
    "a total of nothing": ([], total(0), "announced 0 rows and gave 100"),
    "a vast total": ([], total(10**9), "1000000000 rows"),
    "an empty page": ([None, short(0)], None, "100 rows of 250"),
    "a row twice": ([edit(lambda page: page["rows"].append(page["rows"][0]))], None, "row 0 twice"),
    "a page twice": ([None, redirect(f"{PAGE}0")], None, "row 0 twice"),
    "a gap": ([edit(shift), edit(shift), edit(shift)], None, "left out row 0"),
    "not JSON": ([body(b"rows")], None, "does not look like rows"),
    "half of JSON": ([body(b'{"rows": [')], None, "does not look like rows"),
    "no body": ([body(b"")], None, "does not look like rows"),
    "nested without end": ([body(b"[" * 10**6)], None, "does not look like rows"),
    "another shape": ([body(b'{"rows": {}}')], None, "does not look like rows"),
    "rows of another shape": ([edit(lambda page: page.update(rows=[[1]]))], None, "does not look like rows"),
    "no word on partial": ([edit(lambda page: page.pop("partial"))], None, "does not look like rows"),
    "no word on cut cells": ([edit(lambda page: page["rows"][0].pop("truncated_cells"))], None, "look like rows"),
    "a total that is true": ([edit(lambda page: page.update(num_rows_total=True))], None, "look like rows"),
    "half a surrogate pair": (
        [edit(lambda page: page["rows"][0]["row"].update(test="\ud800"))],
        None,
        "look like rows",
    ),
    "a column that is gone": (
        [edit(lambda page: page["rows"][4]["row"].pop("test"))],
        None,
        "row 4: the column 'test'",
    ),
    "a list for text": ([edit(lambda page: page["rows"][4]["row"].update(test=["x"]))], None, "holds a list of text"),
    "the same id twice": ([edit(lambda page: page["rows"][1]["row"].update(task_id="HumanEval/0"))], None, "twice"),
    "404": ([status(404, X_Error_Code="DatasetNotFound")], None, "404 (Something went wrong.)"),
    "401": ([status(401)], None, "HF_TOKEN"),
    "400": ([status(400)], None, "it answered 400"),
    "204": ([lambda _: Answer(204, b"")], None, "it answered 204"),
    "an error that steers terminals": ([lambda _: Answer.of({"error": "\x1b[2J\n!"}, 400)], None, "400 (?[2J !)"),
    "an encoding nobody asked for": ([body(b"x", Content_Encoding="gzip, gzip")], None, "encoded as gzip, gzip"),
    "gzip that is none": ([body(b"no gzip at all", Content_Encoding="gzip")], None, "cannot be used"),
    "redirects without end": ([], redirect(f"{PAGE}0"), "redirects more than 5 times"),
    "a redirect to a file": ([redirect("file:///etc/passwd")], None, "redirects to file:///etc/passwd"),
    "a redirect to nowhere": ([redirect("http://[")], None, "cannot be used"),
}


@pytest.mark.parametrize("case", FATAL)
def test_what_stops(tmp_path: Path, case: str) -> None:
    faults, always, expected = FATAL[case]
    with (
        serve({HUB_ID: ROWS}, faults=faults, always=always) as server,
        pytest.raises(LabError) as caught,
    ):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url), patience=Waits().patience())
    line = str(caught.value)
    assert expected in line
    assert HUB_ID in line
    assert caught.value.fix
    assert line.isprintable()
    assert not (tmp_path / "cache").exists(), "nothing of it may be kept"


def test_a_dataset_without_rows(tmp_path: Path) -> None:
    with serve({HUB_ID: []}) as server, pytest.raises(LabError, match="0 rows of 0"):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url))


def test_waits_grow(tmp_path: Path) -> None:
    waits = Waits()
    with serve({HUB_ID: ROWS}, always=status(503)) as server, pytest.raises(LabError):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url), patience=waits.patience())
    assert len(server.requests) == 7
    assert [2 ** (n - 1) <= waited <= 2**n for n, waited in enumerate(waits.seconds)] == [True] * 6


def test_a_slow_body_ends(tmp_path: Path) -> None:
    # every byte comes well within the read timeout: only the time for the whole answer can end this
    with (
        serve({HUB_ID: ROWS}, always=slow(0.05)) as server,
        pytest.raises(LabError, match="took longer than 0 s"),
    ):
        fetch_rows(
            HUMANEVAL, source=None, env=environment(tmp_path, server.url), patience=Waits().patience(answer_s=0.4)
        )
    assert len(server.requests) == 1


def test_a_silent_server_is_asked_again(tmp_path: Path) -> None:
    with serve({HUB_ID: ROWS}, faults=[slow(60)]) as server:
        found = fetch_rows(
            HUMANEVAL, source=None, env=environment(tmp_path, server.url), patience=Waits().patience(read_s=0.2)
        )
    assert list(found.rows) == ROWS


def test_a_server_that_only_accepts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(LabError, match="did not answer within 0 s"):
        fetch_rows(
            HUMANEVAL,
            source=None,
            env=environment(tmp_path, f"http://127.0.0.1:{listener.getsockname()[1]}"),
            patience=Waits().patience(read_s=0.1),
        )


def test_nobody_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    waits = Waits()
    with pytest.raises(LabError, match=r"there is no connection, 3 times.*--source"):
        fetch_rows(
            HUMANEVAL, source=None, env=environment(tmp_path, f"http://127.0.0.1:{port}"), patience=waits.patience()
        )
    assert len(waits.seconds) == 2


@pytest.mark.parametrize("server", ["http://.example", "http://*.example", "http://a b"])
def test_an_address_that_is_none(tmp_path: Path, server: str) -> None:
    with pytest.raises(LabError, match="cannot be used"):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server), patience=Waits().patience())


@pytest.mark.parametrize("fault", [None, zipped()], ids=["plain", "gzip"])
def test_an_answer_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Fault | None) -> None:
    monkeypatch.setattr(transport, "MAX_ANSWER_BYTES", 10_000)
    with serve({HUB_ID: ROWS}, always=fault) as server, pytest.raises(LabError, match="larger than"):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url))


def test_answers_too_large_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer, "MAX_DATASET_BYTES", 50_000)
    with serve({HUB_ID: ROWS}) as server, pytest.raises(LabError, match="larger than"):
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url))
    assert len(server.requests) == 2


def test_the_token_is_for_the_configured_server_only(tmp_path: Path) -> None:
    # another port is another server
    with (
        serve({HUB_ID: ROWS}) as other,
        serve({HUB_ID: ROWS}, faults=[None, redirect(f"{other.url}{PAGE}100")]) as server,
    ):
        found = fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url, HF_TOKEN="hf_secret"))
    assert list(found.rows) == ROWS
    assert [seen.headers.get("authorization") for seen in server.requests] == ["Bearer hf_secret"] * 3
    assert len(other.requests) == 1
    assert "hf_secret" not in str(other.requests)


def test_netrc_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with serve({HUB_ID: ROWS}, faults=[redirect(f"{PAGE}0")]) as server:
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url))
    assert len(server.requests) == 4
    assert not any("authorization" in seen.headers for seen in server.requests)


def test_a_password_in_the_address_is_not_shown(tmp_path: Path) -> None:
    with serve({}) as server, pytest.raises(LabError) as caught:
        fetch_rows(HUMANEVAL, source=None, env=environment(tmp_path, server.url.replace("//", "//me:secret@")))
    assert "secret" not in str(caught.value)


def test_a_secure_server_cannot_redirect_to_an_open_one() -> None:
    with transport.Transport(
        "https://example.org", None, subject=HUB_ID, patience=Patience(), say=lambda _: None
    ) as connection:
        assert connection._redirected("https://example.org/rows", "/there") == "https://example.org/there"
        with pytest.raises(LabError, match="not as safe"):
            connection._redirected("https://example.org/rows", "http://example.org/rows")
