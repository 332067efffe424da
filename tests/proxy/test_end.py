"""The end of a proxy: orderly, or its loop killed."""

from __future__ import annotations

import http.client
import threading
from typing import TYPE_CHECKING

import pytest

from lab.apis import Api
from lab.errors import LabError
from lab.proxy.prices import Prices
from lab.proxy.server import Proxy, Upstream
from tests.proxy.attempt import MODEL, PATIENCE_S, REAL_KEY, attempt
from tests.support.model_server import Endless, serve

if TYPE_CHECKING:
    from pathlib import Path


def test_a_proxy_ends_with_all_that_it_holds(tmp_path: Path) -> None:
    before = threading.active_count()
    with serve(always=Endless()) as server:
        with Proxy(Upstream(Api.OPENAI_CHAT, server.url, REAL_KEY, MODEL), Prices({})) as proxy:
            tap = proxy.attach(tmp_path)
            answer = http.client.HTTPConnection(tap.base_url.removeprefix("http://"), timeout=PATIENCE_S)
            answer.request("POST", "/v1/models", "", {"Authorization": f"Bearer {tap.key}"})
        answer.close()
        assert tap.close().refused <= 1
        with pytest.raises(LabError, match="has ended"):
            proxy.attach(tmp_path)
    assert threading.active_count() == before


def test_a_loop_that_was_killed_is_an_error_and_no_hang(tmp_path: Path) -> None:
    with attempt(tmp_path) as asking:
        assert asking.ask().status_code == 200
        loop = asking.proxy._loop
        loop.stop()
        with pytest.raises(LabError, match="has ended"):
            asking.proxy.attach(tmp_path / "other")
        assert asking.tap.close().requests == 1
        assert asking.proxy.total().requests == 1
