"""A session as Tau replays it: its context rows and its state at a leaf.

Compactions are cumulative there, summaries are user messages, only model changes change the
model, and the name is the one on the path.
"""

from __future__ import annotations

from typing import Any, Final

from ..domain.content import Content, load_content
from ..domain.events import Event
from ..domain.kernel import State
from ..domain.nodes import ANCHORS, BRANCH_SUMMARY, MARK, MESSAGE, MODEL, RESET, THINKING
from ..domain.tree import LEAF, LeafRef
from ..domain.view import Item, Tapes, labels_of
from .blocks import write_blocks
from .messages import THEIRS
from .pi import PI
from .replay import (
    Edit,
    Path,
    edits_in,
    fact_results,
    message_of,
    milliseconds,
    own_record,
    read_path,
    selected,
    with_fact_calls,
)
from .rows import pi_row, tau_row
from .tau import TAU
from .tau_shape import shaped

_STOP_REASONS: Final = frozenset({"stop", "length", "toolUse", "error", "aborted"})
_BLOCKS: Final = {
    "assistant": frozenset({"text", "thinking", "toolCall"}),
    "user": frozenset({"text", "image"}),
    "custom": frozenset({"text", "image"}),
    "toolResult": frozenset({"text", "image"}),
}


def as_tau(state: State, tapes: Tapes, leaf: LeafRef = LEAF) -> dict[str, Any]:
    """`{"messages": […], "state": {model, provider, thinking_level, labels, name}}`.

    `leaf`: any node, marks included, None, or (left out) the session's own. Raises
    `UnknownEntry`.
    """
    path = read_path(state, tapes, leaf)
    return {"messages": _rows(path), "state": _state(path)}


def _rows(path: Path) -> list[dict[str, Any]]:
    edits = edits_in(path, path.items)
    rows: list[dict[str, Any]] = []
    for item in selected(path).kept:
        edit = edits.get(item.entry_id)
        rows.extend(_item_rows(path, item, edit if edit and edit.holds(item) else None))
    return rows


def _item_rows(path: Path, item: Item, edit: Edit | None) -> list[dict[str, Any]]:
    if edit is not None and edit.leaves_out:
        return []
    if item.kind == MESSAGE and item.message is not None:
        return _message_rows(path.event(item), item, edit)
    if item.kind in ANCHORS and item.kind != RESET:
        return _summary_rows(path.event(item))
    if item.kind == BRANCH_SUMMARY:
        event = path.event(item)
        text = (
            "The following is a summary of a branch that this conversation came back from:\n"
            f"<summary>\n{event.body.summary}\n</summary>"
        )
        return [{"role": "user", "content": text, "timestamp": milliseconds(event)}]
    return []


def _summary_rows(event: Event) -> list[dict[str, Any]]:
    now = milliseconds(event)
    text = f"Previous conversation summary:\n{event.body.summary or ''}"
    rows: list[dict[str, Any]] = [{"role": "user", "content": text, "timestamp": now}]
    for kept in event.body.kept or ():
        # Messages that a summary of another tool carries in itself.
        message = {
            "role": THEIRS.get(kept.get("role"), "user"),
            "content": write_blocks(load_content(kept.get("content", ()))),
            "timestamp": now,
        }
        if "call_id" in kept:
            message.update(toolCallId=kept["call_id"], isError=kept.get("is_error", False))
        row = converted(message)
        if row is not None:
            rows.append(row)
    return rows


def _message_rows(event: Event, item: Item, edit: Edit | None) -> list[dict[str, Any]]:
    assert item.message is not None
    record = own_record(event, TAU)
    if record is not None and edit is None:
        row = tau_row(record, milliseconds(event))
        return [] if row is None else [row]
    content: Content | None = with_fact_calls(item.message)
    if edit is not None:
        content = edit.event.body.content
    pi = own_record(event, PI)
    message = None if pi is None else pi_row(pi)
    if message is None:
        message = message_of(event, content)
    elif content is not None:
        message = {**message, "content": write_blocks(content)}
    if message.get("timestamp") is None:
        message = {**message, "timestamp": milliseconds(event)}
    rows = [converted(message)]
    for call in fact_results(item.message):
        assert call.result is not None
        result = {
            "role": "toolResult",
            "toolCallId": call.call_id,
            "toolName": call.name or "unknown",
            "content": write_blocks(call.result.content),
            "isError": call.result.is_error,
            "timestamp": milliseconds(event),
        }
        rows.append(converted(result))
    return [row for row in rows if row is not None]


def converted(message: dict[str, Any]) -> dict[str, Any] | None:
    """A message of another origin; None for one that Tau has no place for (system messages)."""
    role = message.get("role")
    if role not in ("user", "assistant", "custom", "toolResult", "bashExecution"):
        return None
    out = dict(message)
    if role in _BLOCKS:
        content = out.get("content")
        if isinstance(content, list):
            fitting = (_fitting(block, _BLOCKS[str(role)]) for block in content)
            out["content"] = [block for block in fitting if block is not None]
        elif not isinstance(content, str):
            out["content"] = []
    if role == "assistant":
        for key in ("api", "model", "provider"):
            out[key] = out.get(key) or "unknown"
        if out.get("stopReason") not in _STOP_REASONS:
            content = out["content"]
            calls = isinstance(content, list) and any(b["type"] == "toolCall" for b in content)
            out["stopReason"] = "toolUse" if calls else "stop"
    return shaped(out)


def _fitting(block: Any, allowed: frozenset[str]) -> Any:
    """A block that Tau's reader accepts, or None."""
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind not in allowed:
        return None
    if kind == "toolCall" and not isinstance(block.get("arguments"), dict):
        return {**block, "arguments": {}}
    if kind in ("text", "thinking") and not isinstance(block.get(kind), str):
        return None
    return block


def _state(path: Path) -> dict[str, Any]:
    model: str | None = None
    provider: str | None = None
    thinking: str | None = None
    for item in path.items:
        if item.kind == MODEL:
            body = path.event(item).body
            model = model if body.model is None else body.model
            provider = provider if body.provider is None else body.provider
        elif item.kind == THINKING:
            thinking = path.event(item).body.level
    labels = {
        entry_id: label.strip()
        for entry_id, label in labels_of(path.state, path.bodies).items()
        if label.strip()
    }
    return {
        "model": model,
        "provider": provider,
        "thinking_level": thinking,
        "labels": labels,
        "name": _name(path),
    }


def _name(path: Path) -> str | None:
    """The title of the last session_info on the path; a name given elsewhere counts as it is."""
    newest = path.state.name
    if newest is not None and own_record(path.bodies[newest.seq], TAU) is None:
        return path.view.name
    name: str | None = None
    for item in path.items:
        if item.kind != MARK:
            continue
        record = own_record(path.event(item), TAU)
        if isinstance(record, dict) and record.get("type") == "session_info":
            title = record.get("title")
            name = title if isinstance(title, str) else None
    return name
