"""Where a run's model is asked, by the options and the environment."""

from __future__ import annotations

import pytest

from lab.apis import Api
from lab.environment import read_environment
from lab.errors import LabError
from lab.proxy.line import Upstream
from lab.running.provider import upstream_of

VARIABLES = {
    Api.OPENAI_CHAT: "LAB_BASE_URL",
    Api.OPENAI_RESPONSES: "LAB_BASE_URL",
    Api.ANTHROPIC: "LAB_ANTHROPIC_BASE_URL",
    Api.GEMINI: "LAB_GEMINI_BASE_URL",
}


@pytest.mark.parametrize("api", list(Api))
def test_address_key_and_model_come_from_the_environment(api: Api) -> None:
    variables = {VARIABLES[api]: "http://h.example/v4", "LAB_MODEL": "m", "LAB_API_KEY": "sk-1"}
    environment = read_environment(variables)
    assert upstream_of(api, environment, None) == Upstream(api, "http://h.example/v4", "sk-1", "m")
    assert upstream_of(api, environment, "other").model == "other"


@pytest.mark.parametrize(
    ("api", "given", "asked"),
    [
        (Api.OPENAI_CHAT, "http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        (Api.OPENAI_CHAT, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        (Api.OPENAI_CHAT, "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        (Api.OPENAI_CHAT, "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        (Api.OPENAI_CHAT, "https://h.example/api", "https://h.example/api/v1"),
        (Api.OPENAI_CHAT, "https://h.example/api/paas/v4", "https://h.example/api/paas/v4"),
        (Api.OPENAI_CHAT, "https://h.example/v1beta/openai", "https://h.example/v1beta/openai"),
        (Api.OPENAI_CHAT, "https://h.example/v2alpha1/x", "https://h.example/v2alpha1/x"),
        (Api.OPENAI_CHAT, "https://h.example/vllm", "https://h.example/vllm/v1"),
        (Api.OPENAI_CHAT, "https://v1.example", "https://v1.example/v1"),
        (Api.OPENAI_RESPONSES, "https://h.example/openai", "https://h.example/openai/v1"),
        (Api.ANTHROPIC, "https://h.example/anthropic", "https://h.example/anthropic/v1"),
        (Api.GEMINI, "https://h.example", "https://h.example/v1beta"),
        (Api.GEMINI, "https://h.example/v1beta", "https://h.example/v1beta"),
        (Api.GEMINI, "https://h.example/v1", "https://h.example/v1"),
    ],
)
def test_a_version_is_added_where_an_address_has_none(api: Api, given: str, asked: str) -> None:
    environment = read_environment({VARIABLES[api]: given, "LAB_MODEL": "m"})
    assert upstream_of(api, environment, None).versioned_url == asked


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"LAB_MODEL": "m"}, "LAB_BASE_URL does not say where"),
        ({"LAB_BASE_URL": "http://h.example"}, "no model was named"),
        ({"LAB_BASE_URL": "http://h.example", "LAB_MODEL": "a b"}, "'a b' is no name of a model"),
    ],
)
def test_what_lacks_is_said(variables: dict[str, str], says: str) -> None:
    with pytest.raises(LabError, match=says):
        upstream_of(Api.OPENAI_CHAT, read_environment(variables), None)


@pytest.mark.parametrize(
    "address", ["http://user:secret@h.example", "http://h.example/v1?key=secret", "http://h.example#secret"]
)
def test_an_address_with_more_than_a_place_in_it_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(LabError, match="LAB_BASE_URL holds a user's name") as caught:
        read_environment({"LAB_BASE_URL": address})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["ftp://user:secret@h.example", "http://user:secret@h.example:port", "user:secret@h"]
)
def test_a_password_in_what_is_no_address_is_not_shown(address: str) -> None:
    with pytest.raises(LabError, match="LAB_BASE_URL") as caught:
        read_environment({"LAB_BASE_URL": address})
    assert "secret" not in str(caught.value)
