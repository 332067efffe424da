"""What would reach beyond the model: tools that the provider runs, and what it would fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lab.apis import Api
from tests.proxy.attempt import attempt, refused
from tests.proxy.attempt import question as ask_for

if TYPE_CHECKING:
    from pathlib import Path

CHAT, RESPONSES, ANTHROPIC, GEMINI = Api.OPENAI_CHAT, Api.OPENAI_RESPONSES, Api.ANTHROPIC, Api.GEMINI


@pytest.mark.parametrize(
    ("api", "tool", "name"),
    [
        *((CHAT, {"type": name}, name) for name in ("web_search", "openrouter:web_search", "code_interpreter", "mcp")),
        (CHAT, {"type": "builtin_function", "function": {"name": "$web_search"}}, "builtin_function"),
        (CHAT, {"function": {"name": "f"}}, "None"),
        *(
            (RESPONSES, {"type": name}, name)
            for name in (
                "web_search",
                "web_search_preview",
                "web_search_2025_08_26",
                "file_search",
                "code_interpreter",
                "image_generation",
                "mcp",
                "tool_search",
                "something_new",
            )
        ),
        (RESPONSES, {"type": "shell", "environment": {"type": "container_auto"}}, "shell"),
        (RESPONSES, {"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}, "mcp"),
        (RESPONSES, {"type": "namespace", "name": "n", "tools": [{"type": "namespace", "tools": []}]}, "namespace"),
        (RESPONSES, {"type": "namespace", "name": "n", "tools": "all"}, "namespace"),
        (CHAT, {"type": "half an emoji \ud83d"}, r"half an emoji \ud83d"),
        (RESPONSES, {"type": ["web_search"]}, "['web_search']"),
        *(
            (ANTHROPIC, {"type": name, "name": "x"}, name)
            for name in (
                "web_search_20250305",
                "web_fetch_20250910",
                "code_execution_20250825",
                "mcp_toolset",
                "advisor_20260301",
                "tool_search_tool_regex_20251119",
            )
        ),
        *(
            (GEMINI, {name: {}}, name)
            for name in (
                "googleSearch",
                "google_search",
                "googleSearchRetrieval",
                "urlContext",
                "url_context",
                "codeExecution",
                "fileSearch",
                "googleMaps",
                "mcpServers",
            )
        ),
        (GEMINI, {"functionDeclarations": [], "googleSearch": {}}, "googleSearch"),
    ],
)
def test_tools_of_the_provider_are_refused_by_name(tmp_path: Path, api: Api, tool: dict[str, Any], name: str) -> None:
    local = {"type": "function", "function": {"name": "f"}} if api is not GEMINI else {"functionDeclarations": []}
    with attempt(tmp_path, api) as asking:
        answer = asking.ask(ask_for(api, tools=[] if api is ANTHROPIC else [local]) | {"tools": [tool]})
        assert answer.status_code == 400
        assert f'"{name}"' in refused(asking, 400, answer.content)
        assert asking.lines("requests")[0]["body"]["tools"] == [tool]


@pytest.mark.parametrize(
    ("api", "fields", "name"),
    [
        (CHAT, {"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
        (CHAT, {"plugins": [{"id": "web"}]}, "plugins"),
        (CHAT, {"models": ["other"]}, "models"),
        (RESPONSES, {"prompt": {"id": "pmpt_1"}}, "prompt"),
        (ANTHROPIC, {"mcp_servers": [{"url": "https://x.example"}]}, "mcp_servers"),
        (ANTHROPIC, {"container": "c1"}, "container"),
        (CHAT, {"Tools": [{"type": "web_search"}]}, "Tools"),
        (CHAT, {"MODEL": "other"}, "MODEL"),
        (ANTHROPIC, {"mcpServers": []}, "mcpServers"),
        (CHAT, {"tools": {"type": "web_search"}}, "tools"),
        (CHAT, {"tools": ["web_search"]}, "tools"),
        (
            CHAT,
            {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://x.example/a"}}]}]},
            "by its address",
        ),
        (
            RESPONSES,
            {"input": [{"content": [{"type": "input_file", "file_url": "https://x.example/a"}]}]},
            "by its address",
        ),
        (
            RESPONSES,
            {"input": [{"type": "function_call_output", "output": [{"image_url": " HTTPS://x.example/a"}]}]},
            "by its address",
        ),
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "document", "source": {"type": "url", "url": "https://x.example"}}]}]},
            "by its address",
        ),
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "tool_result", "content": [{"source": {"type": "url"}}]}]}]},
            "by its address",
        ),
        *(
            (CHAT, {"messages": [{"content": [part]}]}, "by its address")
            for part in (
                {"type": "image_url", "image_url": "https://x.example/a"},
                {"type": "video_url", "video_url": {"url": "https://x.example/a"}},
                {"type": "audio_url", "audio_url": {"url": "file:///etc/passwd"}},
                {"type": "document_url", "document_url": "https://x.example/a"},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "https://x.example/a.pdf"}},
                {"type": "video", "video": ["https://x.example/1.png", "https://x.example/2.png"]},
                {"type": "image", "image": "https://x.example/a"},
            )
        ),
        *(
            (RESPONSES, {"input": [item]}, "by its address")
            for item in (
                {"type": "computer_call_output", "output": {"image_url": "https://x.example/a"}},
                {"type": "custom_tool_call_output", "output": [{"file_url": "https://x.example/a"}]},
                {"content": [{"type": "input_file", "file_data": "https://x.example/a"}]},
            )
        ),
        (RESPONSES, {"input": [{"type": "tool_search_output", "tools": [{"type": "web_search"}]}]}, "web_search"),
        (
            ANTHROPIC,
            {"system": [{"type": "document", "source": {"type": "url", "url": "https://x.example"}}]},
            "by its",
        ),
        (ANTHROPIC, {"messages": [{"content": [{"source": {"url": "https://x.example"}}]}]}, "by its address"),
        *(
            (GEMINI, {name: {"parts": [{file: {uri: "https://x.example/watch"}}]}}, "by its address")
            for name in ("contents", "systemInstruction", "system_instruction")
            for file, uri in (("fileData", "fileUri"), ("file_data", "file_uri"))
        ),
        (
            GEMINI,
            {"contents": [{"parts": [{"functionResponse": {"parts": [{"fileData": {"fileUri": "gs://a/b"}}]}}]}]},
            "by its address",
        ),
        (GEMINI, {"generateContentRequest": {"tools": [{"googleSearch": {}}]}}, '"googleSearch"'),
        (GEMINI, {"generateContentRequest": {"contents": [{"fileData": {"fileUri": "gs://a"}}]}}, "by its address"),
        (GEMINI, {"generateContentRequest": []}, '"generateContentRequest" is not an object'),
        (GEMINI, {"generateContentRequest": {"generateContentRequest": {}}}, "generateContentRequest"),
        (GEMINI, {"generate_content_request": {}}, "generate_content_request"),
    ],
)
def test_fields_that_reach_beyond_the_model(tmp_path: Path, api: Api, fields: dict[str, Any], name: str) -> None:
    with attempt(tmp_path, api) as asking:
        answer = asking.ask(ask_for(api) | fields)
        assert answer.status_code == 400
        assert name in refused(asking, 400, answer.content)


@pytest.mark.parametrize(
    ("api", "fields"),
    [
        (CHAT, {"tools": [{"type": "function", "function": {"name": "web_search"}}, {"type": "custom", "custom": {}}]}),
        (CHAT, {"tools": None, "plugins": [], "functions": [{"name": "f"}]}),
        (CHAT, {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}]}),
        (
            RESPONSES,
            {
                "tools": [
                    {"type": "function", "name": "f"},
                    {"type": "custom", "name": "apply_patch", "format": {"type": "grammar"}},
                    {"type": "local_shell"},
                    {"type": "shell"},
                    {"type": "shell", "environment": {"type": "local"}},
                    {"type": "tool_search", "execution": "client"},
                    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
                ]
            },
        ),
        (RESPONSES, {"input": "only a text"}),
        (
            ANTHROPIC,
            {
                "tools": [
                    {"name": "Bash", "input_schema": {}},
                    {"type": "custom", "name": "f"},
                    {"type": "bash_20250124", "name": "bash"},
                    {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
                    {"type": "computer_20250124", "name": "computer"},
                    {"type": "memory_20250818", "name": "memory"},
                ],
                "mcp_servers": [],
            },
        ),
        (
            CHAT,
            {"messages": [{"content": [{"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}]}]},
        ),
        (CHAT, {"messages": [{"content": [{"type": "file", "file": {"file_data": "JVBERi0xLjQ="}}]}]}),
        (RESPONSES, {"input": [{"type": "message", "content": [{"image_url": None, "file_id": "file-1"}]}]}),
        (RESPONSES, {"input": [{"type": "tool_search_output", "tools": [{"type": "function", "name": "f"}]}]}),
        # what a tool is given, or takes, looks like an address, and is none
        (
            ANTHROPIC,
            {"messages": [{"content": [{"type": "tool_use", "input": {"source": {"type": "url"}}}]}]},
        ),
        (
            ANTHROPIC,
            {"tools": [{"name": "f", "input_schema": {"properties": {"source": {"type": "url"}, "image_url": "x"}}}]},
        ),
        (CHAT, {"tools": [{"type": "function", "function": {"parameters": {"image_url": "https://x.example"}}}]}),
        (CHAT, {"response_format": {"json_schema": {"properties": {"file_url": "x"}}}}),
        (RESPONSES, {"text": {"format": {"schema": {"properties": {"file_url": "x"}}}}}),
        (GEMINI, {"generationConfig": {"responseSchema": {"properties": {"fileUri": "x"}}}}),
        (GEMINI, {"contents": [{"parts": [{"functionCall": {"name": "f", "args": {"image_url": "x"}}}]}]}),
        (GEMINI, {"contents": [{"parts": [{"functionResponse": {"response": {"image_url": "x"}}}]}]}),
        (CHAT, {"messages": [{"content": 'look at {"image_url": "https://x.example"}'}]}),
        (GEMINI, {"tools": [{"functionDeclarations": [{"name": "google_search"}], "googleSearch": None}]}),
    ],
)
def test_tools_that_the_agent_runs_pass(tmp_path: Path, api: Api, fields: dict[str, Any]) -> None:
    with attempt(tmp_path, api) as asking:
        body = ask_for(api) | fields
        assert asking.ask(body).status_code == 200
        assert asking.server.asked()[0].body == body
