"""One line of text that tells an entry from others, out of a stored body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

import msgspec

from tapefold.domain.content import parse_content
from tapefold.domain.errors import TapefoldError
from tapefold.domain.outline import content_preview, cut, with_command

from ..log import LogEvent
from ..values import text_of


class _Block(msgspec.Struct, gc=False):
    """What is asked of a part of a message's content."""

    type: str
    text: str | None = None
    call_id: str | None = None
    name: str | None = None


class _Message(msgspec.Struct):
    """What is asked of a message's body; the rest of it is passed over."""

    content: list[_Block]


_read_message = msgspec.json.Decoder(_Message).decode


def preview_of(event: LogEvent) -> tuple[str, str | None]:
    """The same of an event, whose body need not be parsed where it holds text and calls alone."""
    head = event.head
    if head.message_id is not None and head.role != "bash_execution":
        try:
            found = _plain_preview(_read_message(event.body_text).content)
        except (msgspec.DecodeError, RecursionError):
            found = None
        if found is not None:
            return found
    return preview(event.body, head.role)


def _plain_preview(blocks: list[_Block]) -> tuple[str, str | None] | None:
    """The preview of text that is not blank, and of calls; None where something else is."""
    said, names = [], []
    for block in blocks:
        if block.type == "text" and block.text is not None:
            said.append(block.text)
        elif block.type == "tool_call" and block.call_id is not None and block.name is not None:
            names.append(encode_basestring_ascii(block.name))
        else:
            return None
    text = said[0] if len(said) == 1 else " ".join(said)
    line = cut(text)
    # Blank text is passed over for the calls. What is blank may only begin so.
    if not line:
        return None
    return line, f"[{', '.join(names)}]" if names else None


def preview(body: Mapping[str, Any], role: str | None) -> tuple[str, str | None]:
    """(the line, the names of the tools that are called as a JSON list): what
    `domain/outline.py` says of the event. `role`: the head's."""
    calls = [
        block.get("name")
        for block in body.get("content") or ()
        if isinstance(block, dict) and block.get("type") == "tool_call"
    ]
    names = json.dumps([text_of(name) for name in calls]) if calls else None
    return text_of(cut(_said(body, role))) or "", names


def _said(body: Mapping[str, Any], role: str | None) -> str:
    summary = body.get("summary")
    if isinstance(summary, str):
        return summary
    content = body.get("content")
    if content is not None or role is not None:  # a message without content says nothing else
        return with_command(role, body.get("details"), _content_said(content or ()))
    for name in ("model", "level", "namespace", "problem", "reason", "raw"):
        value = body.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def _content_said(content: Any) -> str:
    simple = _only_text(content)
    if simple is not None:
        return simple
    try:
        return content_preview(parse_content(content))
    except TapefoldError:
        return ""


def _only_text(content: Any) -> str | None:
    """The text of the most common content: one block of text that is not blank."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        block = content[0]
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str) and text.strip():
            return text
    return None
