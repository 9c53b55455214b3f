"""One line of text that tells an entry from others, out of a stored body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tapefold.domain.content import parse_content
from tapefold.domain.errors import TapefoldError
from tapefold.domain.outline import content_preview, cut

from ..effective_view.bodies import text_of


def preview(body: Mapping[str, Any]) -> tuple[str, str | None]:
    """(the line, the names of the tools that are called as a JSON list): what
    `domain/outline.py` says of the event."""
    calls = [
        block.get("name")
        for block in body.get("content") or ()
        if isinstance(block, dict) and block.get("type") == "tool_call"
    ]
    names = json.dumps([text_of(name) for name in calls]) if calls else None
    return text_of(cut(_said(body))) or "", names


def _said(body: Mapping[str, Any]) -> str:
    summary = body.get("summary")
    if isinstance(summary, str):
        return summary
    content = body.get("content")
    if content is not None:
        simple = _only_text(content)
        if simple is not None:
            return simple
        try:
            return content_preview(parse_content(content))
        except TapefoldError:
            return ""
    for name in ("model", "level", "namespace", "problem", "reason", "raw"):
        value = body.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _only_text(content: Any) -> str | None:
    """The text of the most common content: one block of text that is not blank."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            return text
    return None
