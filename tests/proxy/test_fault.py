"""Whose fault an error is, by what a provider says of it."""

from __future__ import annotations

import ssl
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from lab.proxy import fault

PLACE = ConnectionKey("secret.example", 1, is_ssl=True, ssl=True, proxy=None, proxy_auth=None, proxy_headers_hash=None)
ADDRESS = URL("http://secret.example/secret")
REQUEST = aiohttp.RequestInfo(ADDRESS, "POST", CIMultiDictProxy(CIMultiDict()), ADDRESS)


@pytest.mark.parametrize(
    ("chunk", "of_model", "says"),
    [
        pytest.param(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            True,
            "overloaded_error: Overloaded",
            id="anthropic overloaded",
        ),
        pytest.param(
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
            False,
            "invalid_request_error: prompt is too long",
            id="anthropic spoiled",
        ),
        pytest.param({"error": {"message": "busy", "code": 429}}, True, "429: busy", id="openrouter limit"),
        pytest.param({"error": {"message": "no", "code": "400"}}, False, "400: no", id="status as a text"),
        pytest.param({"error": {"message": "x", "type": "server_error"}}, True, "server_error: x", id="openai"),
        pytest.param(
            {"error": {"message": "x", "type": "invalid_request_error", "code": "context_length_exceeded"}},
            False,
            "context_length_exceeded invalid_request_error: x",
            id="openai too long",
        ),
        pytest.param(
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "x"}}},
            True,
            "server_error: x",
            id="response failed",
        ),
        pytest.param(
            {"type": "response.failed", "response": {"error": {"code": "invalid_prompt", "message": "x"}}},
            False,
            "invalid_prompt: x",
            id="response spoiled",
        ),
        pytest.param(
            {"type": "error", "code": "rate_limit_exceeded", "message": "x\n\x1b[31my"},
            True,
            r"rate_limit_exceeded: x \x1b[31my",
            id="responses event, with a line break and a control character",
        ),
        pytest.param(
            {"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, True, "unavailable: x", id="gemini"
        ),
        pytest.param(
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "x"}},
            False,
            "invalid_argument: x",
            id="gemini spoiled",
        ),
        pytest.param({"error": "out of memory"}, True, "error: out of memory", id="only a text"),
        pytest.param({"error": {}}, None, "", id="an empty error is none"),
        pytest.param({"error": None}, None, "", id="null"),
        pytest.param({"error": [1]}, None, "", id="a list"),
    ],
)
def test_an_error_inside_an_answer_is_somebodys_fault(chunk: dict[str, Any], of_model: bool | None, says: str) -> None:
    error = fault.find(chunk)
    if of_model is None:
        assert error is None
    else:
        assert error is not None
        assert (error.of_model, str(error)) == (of_model, says)


@pytest.mark.parametrize(
    ("status", "body", "of_model"),
    [
        *((status, b"", True) for status in (401, 402, 403, 404, 405, 408, 429, 500, 502, 503, 504, 529, 599)),
        *((status, b"", False) for status in (400, 409, 413, 415, 422, 418)),
        (404, b'{"error":{"message":"Invalid URL (POST /v1/v1/responses)","type":"invalid_request_error"}}', True),
        (404, b'{"type":"error","error":{"type":"not_found_error","message":"model: the-model"}}', True),
        (400, b'{"error":{"message":"The model does not exist","code":"model_not_found"}}', True),
        (400, b'{"error":{"message":"the-model takes at most 10 tokens","code":"context_length_exceeded"}}', False),
    ],
)
def test_a_status_is_somebodys_fault(status: int, body: bytes, of_model: bool) -> None:
    assert fault.of_model(status, body) is of_model
    assert fault.described(status, body).startswith(f"{status} ")


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ClientConnectorError(PLACE, OSError(113, "No route to host")),
        aiohttp.ClientConnectorCertificateError(PLACE, ssl.CertificateError("No route to host")),
        aiohttp.ClientResponseError(REQUEST, (), status=400, message="No route to host"),
        OSError("No route to host"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_address_is_told(error: Exception) -> None:
    told = fault.of_connection(error)
    assert told.startswith(type(error).__name__)
    assert "No route to host" in told
    assert "secret" not in told
