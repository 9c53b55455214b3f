"""Views and contexts as lines of text, for tests that read well."""

from __future__ import annotations

from typing import Any

from ..domain.content import Content, ToolCallBlock, content_json
from ..domain.context import Context
from ..domain.view import Message, View


def plain(content: Content) -> str:
    """Content on one line: text as it is, a call as `tool(call id)`, other blocks as `[type]`."""
    parts = []
    for block in content:
        if isinstance(block, ToolCallBlock):
            parts.append(f"{block.name}({block.call_id})")
        else:
            parts.append(getattr(block, "text", f"[{block.TYPE}]"))
    return " ".join(parts)


def said(of: View | Context) -> list[str]:
    """One `role: content` for each message of a view, or each row of a context.

    A context's row that is no message says its kind instead: `summary: …`, `synthetic: …`.
    """
    if isinstance(of, View):
        return [f"{m.role}: {plain(m.content)}" for m in of.messages]
    return [f"{r.role if r.kind == 'message' else r.kind}: {plain(r.content)}" for r in of.rows]


def as_plain(of: View | Context) -> dict[str, Any]:
    """Everything that a reader sees, as plain values: for comparing two views or contexts.

    Left out is what says on which tape and at which position it was asked for, and the warnings.
    """
    if isinstance(of, Context):
        manifest = {k: v for k, v in of.manifest.items() if k not in ("session_id", "position")}
        return {
            "leaf": of.leaf,
            "rows": [{**vars(row), "content": content_json(row.content)} for row in of.rows],
            "excluded": [vars(left) for left in of.excluded],
            "manifest": manifest,
        }
    return {
        "leaf": of.leaf,
        "name": of.name,
        "messages": [_message(message) for message in of.messages],
        "settings": vars(of.settings),
        "labels": of.labels,
        "anchors": [item.entry_id for item in of.anchors],
        "path": [(item.kind, item.entry_id) for item in of.items],
    }


def _message(message: Message) -> dict[str, Any]:
    calls = [
        {**vars(call), "result": None if call.result is None else vars(call.result)}
        for call in message.calls
    ]
    return {**vars(message), "body": message.body.to_json(), "calls": calls}
