"""The way to the provider: through the user's HTTP proxy where there is one, and never for this machine itself."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from lab.environment import http_proxy
from tests.proxy.attempt import attempt
from tests.support.model_server import serve

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def none_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, *(name.upper() for name in NAMES)):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "url", "expected"),
    [
        ({}, "https://api.example", None),
        ({"HTTPS_PROXY": "http://p:1"}, "https://api.example", "http://p:1"),
        ({"https_proxy": "http://p:1"}, "https://api.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http://api.example", None),
        ({"ALL_PROXY": "http://p:1"}, "http://api.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example"}, "https://api.example", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://127.0.0.1:8080", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://localhost:8080", None),
        ({"HTTP_PROXY": "http://p:1"}, "http://[::1]:8080", None),
    ],
)
def test_the_users_proxy_is_for_other_machines(
    variables: dict[str, str], url: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert http_proxy(url) == expected


def test_questions_go_through_the_users_proxy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve() as users_proxy:
        monkeypatch.setenv("http_proxy", users_proxy.url.replace("://", "://me:secret@"))
        with attempt(tmp_path, upstream="http://model.invalid") as asking:
            assert asking.ask().status_code == 200
            assert asking.usage().model_failure is None
            assert asking.server.requests == []
        (seen,) = users_proxy.asked()
    assert seen.headers["host"] == "model.invalid"
    assert seen.headers["proxy-authorization"] == "Basic " + b64encode(b"me:secret").decode()
    assert b"secret" not in asking.recorded()
