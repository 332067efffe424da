"""The one place that reads the environment. A malformed value is an error, never a default."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_DATASETS_SERVER = "https://datasets-server.huggingface.co"
MAX_JOBS = 1024
MAX_JOBS_DIGITS = 9
OWN_VARIABLES = re.compile(r"LAB_.*|HF_TOKEN")
PIP_REDIRECTS = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_DRY_RUN", "PIP_LOG", "PIP_REQUIREMENT"}
"""Settings that would have pip install elsewhere than into the Python it runs in, or more than it was asked for."""

UNATTENDED = {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CI": "1"}
"""What every tool gets: it talks to nobody."""


@dataclasses.dataclass(frozen=True)
class Environment:
    """The settings that lab takes from the environment, checked."""

    root: str | None
    datasets_server: str
    hf_token: str | None
    base_url: str | None
    anthropic_base_url: str | None
    gemini_base_url: str | None
    api_key: str | None
    model: str | None
    jobs: int
    python: str | None
    cache: Path


def read_environment(variables: Mapping[str, str] | None = None) -> Environment:
    """Read and check every variable lab knows; raises LabError naming the malformed one."""
    env = os.environ if variables is None else variables
    return Environment(
        root=_text(env, "LAB_ROOT"),
        datasets_server=_url(env, "LAB_DATASETS_SERVER") or DEFAULT_DATASETS_SERVER,
        hf_token=_secret(env, "HF_TOKEN"),
        base_url=_url(env, "LAB_BASE_URL"),
        anthropic_base_url=_url(env, "LAB_ANTHROPIC_BASE_URL"),
        gemini_base_url=_url(env, "LAB_GEMINI_BASE_URL"),
        api_key=_secret(env, "LAB_API_KEY"),
        model=_text(env, "LAB_MODEL"),
        jobs=_jobs(env),
        python=_text(env, "LAB_PYTHON"),
        cache=_cache(env),
    )


def installer_variables(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for pip: the user's own, so that index, proxy and certificates are theirs, less redirects."""
    env = os.environ if variables is None else variables
    return {name: value for name, value in env.items() if name not in PIP_REDIRECTS} | {"PIP_USER": "0"}


def agent_variables(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for an agent's program: the user's own, less lab's settings and keys: no root and no token."""
    env = os.environ if variables is None else variables
    return {name: value for name, value in env.items() if not OWN_VARIABLES.fullmatch(name)}


def http_proxy(url: str) -> str | None:
    """The HTTP proxy on the way to `url`, as the user's environment names it; None for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host == "localhost" or host.startswith("127.") or host == "::1" or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _text(env: Mapping[str, str], name: str) -> str | None:
    value = env.get(name, "").strip()
    if not value:
        return None
    if not value.isprintable():
        raise LabError(f"{name} holds a character that cannot be printed", f"Set {name} to plain text, or unset it")
    return value


def _secret(env: Mapping[str, str], name: str) -> str | None:
    value = _text(env, name)
    if value is not None and (" " in value or not value.isascii()):
        raise LabError(f"{name} is not a token: it holds a space or a character beyond ASCII", f"Set {name} again")
    return value


def _url(env: Mapping[str, str], name: str) -> str | None:
    value = _text(env, name)
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        valid = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        shown = "" if "@" in value else f" is {value!r}, which"
        raise LabError(f"{name}{shown} is not an http(s) URL", f"Set {name} like http://127.0.0.1:8080")
    if parts.username is not None or parts.query or parts.fragment:
        # not shown: a password may stand in it
        raise LabError(
            f"{name} holds a user's name, a question mark or a fragment", f"Set {name} like http://127.0.0.1:8080"
        )
    return value.rstrip("/")


def _jobs(env: Mapping[str, str]) -> int:
    value = _text(env, "LAB_JOBS")
    if value is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # the length first: int refuses past 4,300 digits
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_JOBS_DIGITS and 1 <= int(value) <= MAX_JOBS):
        raise LabError(f"LAB_JOBS is {value!r}, not a whole number from 1 to {MAX_JOBS}", "Set it, or unset it")
    return int(value)


def _cache(env: Mapping[str, str]) -> Path:
    base = env.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path(env.get("HOME") or "/tmp") / ".cache") / "lab"  # noqa: S108
