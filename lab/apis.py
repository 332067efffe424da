"""The four model APIs that lab knows by name: what an adapter says that its tool speaks."""

from __future__ import annotations

import enum


class Api(enum.StrEnum):
    """A way to ask a model over HTTP."""

    OPENAI_CHAT = "openai-chat"
    """POST /v1/chat/completions"""
    OPENAI_RESPONSES = "openai-responses"
    """POST /v1/responses"""
    ANTHROPIC = "anthropic"
    """POST /v1/messages"""
    GEMINI = "gemini"
    """POST /v1beta/models/MODEL:generateContent and :streamGenerateContent"""
