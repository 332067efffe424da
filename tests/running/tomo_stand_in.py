# What tomo does, by its documents, as far as its adapter goes: started in its place by test_real_agents.
import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

SETTINGS = """\
default_model: "lab/{model}"
data_dir: "{home}/.tomo"
workspace: "{work}"
providers:
  lab:
    type: openai
    base_url: "{base_url}/v1"
    api_key: ${{TOMO_API_KEY}}
policy: {{read: allow, net: allow, write: allow, exec: allow}}
sandbox: none
"""
WHERE = {"model": "tiny-model", "home": "/home/agent", "work": "/work", "base_url": "http://127.0.0.1:41117"}
SHELL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "Run a command line.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write("tomo stand-in\n")
        return
    config, settings, yolo, option, prompt = sys.argv[1:]
    assert (config, settings, yolo, option) == ("--config", "/home/agent/tomo.yaml", "--yolo", "-p"), sys.argv
    problem = Path("/work/prompt.txt").read_text()
    assert prompt.startswith(problem.rstrip()), prompt
    assert "solution.py" in prompt.removeprefix(problem.rstrip()), prompt
    assert Path(settings).read_text() == SETTINGS.format(**WHERE), Path(settings).read_text()
    messages: list[Any] = [{"role": "user", "content": prompt}]
    while (said := ask(messages)).get("tool_calls"):
        messages.append(said)
        for call in said["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
    sys.stdout.write(said["content"])


def ask(messages: list[Any]) -> Any:
    body = {"model": WHERE["model"], "messages": messages, "tools": [SHELL]}
    headers = {"Authorization": "Bearer " + os.environ["TOMO_API_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(WHERE["base_url"] + "/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


if __name__ == "__main__":
    main()
