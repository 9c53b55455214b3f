"""A session as Pi replays it: its context rows and its state at a leaf.

The last compaction alone counts, edits are looked up among the entries of the context, system
messages before the compaction give way to the one that it carries, and any assistant message
changes the model.
"""

from __future__ import annotations

from typing import Any, Final

from ..domain.content import Content
from ..domain.events import Event, ForeignRecorded
from ..domain.kernel import State
from ..domain.nodes import ANCHORS, BRANCH_SUMMARY, MESSAGE, MODEL, RESET, THINKING
from ..domain.selection import Selection
from ..domain.tree import LEAF, LeafRef
from ..domain.view import Item, Tapes
from .blocks import write_blocks
from .pi import PI, trimmed
from .replay import (
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
from .rows import Row, js_time, pi_row, present, tau_row
from .tau import TAU
from .tau_shape import usage_shape

_EDITABLE: Final = frozenset({"user", "assistant", "toolResult", "custom"})


def as_pi(state: State, tapes: Tapes, leaf: LeafRef = LEAF) -> dict[str, Any]:
    """`{"messages": […], "state": {model, provider, thinking_level, labels, name}}`.

    `leaf`: any node, marks included, None, or (left out) the session's own. Raises
    `UnknownEntry`.
    """
    path = read_path(state, tapes, leaf)
    return {"messages": _rows(path), "state": _state(path)}


def _rows(path: Path) -> list[Row]:
    selection = selected(path)
    kept = _context(path, selection)
    edits = edits_in(path, kept)
    rows: list[Row] = []
    for item in kept:
        made = _item_rows(path, item)
        edit = edits.get(item.entry_id)
        if edit is not None and edit.holds(item):
            made = [] if edit.leaves_out else [_edited(row, edit.event) for row in made]
        rows.extend(made)
    return rows


def _context(path: Path, selection: Selection) -> list[Item]:
    """The entries of the context."""
    ruling = selection.ruling
    if ruling is None:
        return selection.kept
    # A boundary that we found by the messages in the record means nothing to the tool.
    own = PI.own(path.event(ruling).body) or {}
    return [
        item
        for item in selection.kept
        if item.index >= ruling.index
        or (not own.get("tail") and not (item.message and item.message.role == "system"))
    ]


def _item_rows(path: Path, item: Item) -> list[Row]:
    event = path.event(item)
    if item.kind == MESSAGE:
        return [] if item.message is None else _message_rows(event, item)
    if item.kind in ANCHORS:
        return [] if item.kind == RESET else _summary_rows(event)
    if item.kind == BRANCH_SUMMARY:
        return _branch_summary_rows(event)
    record = own_record(event, PI) if event.head.kind == ForeignRecorded.KIND else None
    if isinstance(record, dict) and record.get("type") == "message":
        row = pi_row(record)  # a role that we do not know is a row all the same
        return [] if row is None else [row]
    return []


def _message_rows(event: Event, item: Item) -> list[Row]:
    assert item.message is not None
    record = own_record(event, PI)
    if isinstance(record, dict):
        row = pi_row(record)
        return [] if row is None else [row]
    tau = own_record(event, TAU)
    message = None if tau is None else tau_row(tau, milliseconds(event))
    if message is None:
        message = message_of(event, with_fact_calls(item.message))
    rows = [converted(message)]
    for call in fact_results(item.message):
        assert call.result is not None
        rows.append(
            {
                "role": "toolResult",
                "toolCallId": call.call_id,
                "toolName": call.name or "unknown",
                "content": write_blocks(call.result.content),
                "isError": call.result.is_error,
                "timestamp": milliseconds(event),
            }
        )
    return rows


def converted(message: Row) -> Row:
    """A message of another origin, with the fields that Pi always writes."""
    if message.get("role") != "assistant":
        return message
    content = message.get("content")
    blocks = [_with_arguments(block) for block in content] if isinstance(content, list) else []
    calls = any(isinstance(b, dict) and b.get("type") == "toolCall" for b in blocks)
    out = {"api": "unknown", "provider": "unknown", "model": "unknown"}
    usage = usage_shape(message.get("usage"))
    if "cacheWrite1H" in usage:
        usage["cacheWrite1h"] = usage.pop("cacheWrite1H")
    stop = {"stopReason": "toolUse" if calls else "stop"}
    return {**out, **stop, **message, "content": blocks, "usage": usage}


def _with_arguments(block: Any) -> Any:
    if isinstance(block, dict) and block.get("type") == "toolCall":
        return {"arguments": {}, **block}
    return block


def _summary_rows(event: Event) -> list[Row]:
    record = own_record(event, PI)
    if not isinstance(record, dict):
        body = event.body
        return [
            {
                "role": "compactionSummary",
                "summary": body.summary or "",
                "tokensBefore": body.tokens_before or 0,
                "timestamp": milliseconds(event),
            }
        ]
    rows: list[Row] = []
    system = record.get("systemMessage")
    if system is not None and system is not False and system not in (0, ""):
        rows.append(system)
    row = {"role": "compactionSummary", **present(record, "summary", "tokensBefore")}
    rows.append({**row, "timestamp": js_time(record)})
    return rows


def _branch_summary_rows(event: Event) -> list[Row]:
    record = own_record(event, PI)
    if not isinstance(record, dict):
        body = event.body
        if not body.summary:
            return []
        return [
            {
                "role": "branchSummary",
                "summary": body.summary,
                "fromId": body.left or event.head.parent_id or "root",
                "timestamp": milliseconds(event),
            }
        ]
    if not record.get("summary"):
        return []
    row = {"role": "branchSummary", **present(record, "summary", "fromId")}
    return [{**row, "timestamp": js_time(record)}]


def _edited(row: Row, edit: Event) -> Row:
    """A row with the content of an edit, if it is of a role that edits change."""
    if row.get("role") not in _EDITABLE:
        return row
    rest = {key: value for key, value in row.items() if key != "content"}
    record = own_record(edit, PI)
    if isinstance(record, dict):
        replacement = record.get("replacement")
        if not isinstance(replacement, dict) or "content" not in replacement:
            return rest
        content: Any = replacement["content"]
        if isinstance(content, str) and row.get("role") in ("assistant", "toolResult"):
            content = [{"type": "text", "text": content}]
    else:
        ours: Content = edit.body.content
        content = write_blocks(ours)
    return {**rest, "content": content}


def _state(path: Path) -> dict[str, Any]:
    model: Any = None
    provider: Any = None
    thinking: Any = "off"
    for item in path.items:
        if item.kind == THINKING:
            thinking = _thinking(path.event(item))
        elif item.kind == MODEL:
            body = path.event(item).body
            model, provider = (
                body.model,
                body.provider
                or (None if own_record(path.event(item), PI) is not None else provider),
            )
        elif item.message is not None and item.message.role == "assistant":
            body = item.message.body
            if own_record(path.event(item), PI) is not None or body.model is not None:
                model, provider = body.model, body.provider
    return {
        "model": model,
        "provider": provider,
        "thinking_level": thinking,
        "labels": _labels(path),
        "name": _name(path),
    }


def _thinking(event: Event) -> Any:
    record = own_record(event, PI)
    if isinstance(record, dict):
        return record.get("thinkingLevel")
    return event.body.level or "off"


def _labels(path: Path) -> dict[str, Any]:
    """Labels of the whole file, as they were written."""
    labels: dict[str, Any] = {}
    newest = sorted((f.seq, key) for key, f in path.state.labels.items() if not f.cleared)
    path.bodies.fetch(seq for seq, _ in newest)
    for seq, entry_id in newest:
        event = path.bodies[seq]
        record = own_record(event, PI)
        labels[entry_id] = record["label"] if isinstance(record, dict) else event.body.label
    return labels


def _name(path: Path) -> str | None:
    newest = path.state.name
    if newest is None or newest.cleared:
        return None
    record = own_record(path.bodies[newest.seq], PI)
    if isinstance(record, dict) and record.get("type") == "session_info":
        return trimmed(record.get("name"))
    return path.view.name
