"""The machine shapes: what each command prints with --json. Keys stay, and stay in order.

docs/cli.md shows one of each. Keys may be added behind those that are there. A position or an
entry that may be inherited stands with its session_id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tapefold.domain.content import content_json

if TYPE_CHECKING:
    from tapefold.domain.context import Context, Row
    from tapefold.domain.events import Event
    from tapefold.domain.kernel import State
    from tapefold.domain.outcome import Outcome
    from tapefold.domain.outline import Outline, OutlineNode
    from tapefold.domain.view import Call, Item, Message, View, Warning
    from tapefold.store import SessionInfo

    from .effects import Effect
    from .follower import Follower
    from .listing import Listed

Shape = dict[str, Any]


# -- view --------------------------------------------------------------------------------------


def view_shape(view: View) -> Shape:
    """`view --json`."""
    return {
        "session_id": view.session_id,
        "position": view.position,
        "leaf": view.leaf,
        "name": view.name,
        "messages": [_message(message) for message in view.messages],
        "settings": {
            "model": view.settings.model,
            "provider": view.settings.provider,
            "thinking_level": view.settings.thinking_level,
        },
        "labels": dict(view.labels),
        "anchors": [_anchor(view.state, item) for item in view.anchors],
        "warnings": [warning_shape(warning) for warning in view.warnings],
    }


def _message(message: Message) -> Shape:
    body = message.body
    return {
        "session_id": message.session_id,
        "message_id": message.message_id,
        "entry_id": message.entry_id,
        "position": message.position,
        "role": message.role,
        "status": message.status,
        "order_seq": message.order_seq,
        "content": content_json(message.content),
        "calls": [_call(call) for call in message.calls],
        "model": body.model,
        "usage": body.usage,
        "provider": body.provider,
        "stop_reason": body.stop_reason,
        "error": body.error,
        "timestamp": message.timestamp,
    }


def _call(call: Call) -> Shape:
    result = call.result
    return {
        "call_id": call.call_id,
        "name": call.name,
        "arguments": call.arguments,
        "result": None
        if result is None
        else {
            "content": content_json(result.content),
            "is_error": result.is_error,
            "session_id": result.session_id,
            "position": result.position,
            "message_id": result.message_id,
            "entry_id": result.entry_id,
        },
        "status": call.status,
    }


def _anchor(state: State | None, item: Item) -> Shape:
    assert item.event is not None
    head, body = item.event.head, item.event.body
    return {
        "session_id": item.event.session_id,
        "entry_id": item.entry_id,
        "position": item.event.position,
        "kind": item.kind,
        "name": head.name,
        "summary": body.summary,
        "first_kept_entry_id": head.first_kept,
        "replaces": None if head.replaces is None else list(head.replaces),
    }


def warning_shape(warning: Warning) -> Shape:
    """A warning, in every shape that has some."""
    return {
        "code": warning.code,
        "text": warning.text,
        "entry_ids": list(warning.entry_ids),
    }


# -- context -----------------------------------------------------------------------------------


def context_shape(context: Context) -> Shape:
    """`context --json`, without what `--as` adds."""
    return {
        "session_id": context.session_id,
        "position": context.position,
        "leaf": context.leaf,
        "policy": context.policy.name,
        "rows": [_row(row) for row in context.rows],
        "excluded": [
            {
                "entry_id": left.entry_id,
                "reason": left.reason,
                "session_id": left.session_id,
                "position": left.position,
            }
            for left in context.excluded
        ],
        "warnings": [warning_shape(warning) for warning in context.warnings],
        "manifest": context.manifest,
    }


def _row(row: Row) -> Shape:
    shape: Shape = {
        "kind": row.kind,
        "entry_id": row.entry_id,
        "role": row.role,
        "content": content_json(row.content),
    }
    if row.call_id is not None:
        shape["call_id"] = row.call_id
        shape["is_error"] = row.is_error
    shape["session_id"] = row.session_id
    shape["position"] = row.position
    shape["reason"] = row.reason
    return shape


# -- tree and tape -----------------------------------------------------------------------------


def tree_shape(outline: Outline) -> Shape:
    """`tree --json`."""
    return {
        "session_id": outline.session_id,
        "leaf": outline.leaf,
        "nodes": [_node(node) for node in outline.nodes],
        "position": outline.position,
    }


def _node(node: OutlineNode) -> Shape:
    return {
        "entry_id": node.entry_id,
        "parent_id": node.parent_id,
        "position": node.position,
        "kind": node.kind,
        "role": node.role,
        "depth": node.depth,
        "label": node.label,
        "on_path": node.on_path,
        "preview": node.preview,
        "session_id": node.session_id,
        "status": node.status,
        "struck": node.struck,
        "calls": list(node.calls),
    }


_OWN_KEYS = ("kind", "timestamp", "entry_id", "parent_id")


def event_shape(event: Event) -> Shape:
    """One line of `tape --json`. `fields` holds head and body, without what stands beside it."""
    head = {k: v for k, v in event.head.to_json().items() if k not in _OWN_KEYS}
    return {
        "position": event.position,
        "entry_id": event.head.entry_id,
        "parent_id": event.head.parent_id,
        "type": type(event).__name__,
        "timestamp": event.timestamp,
        "fields": {**head, **event.body.to_json()},
        "session_id": event.session_id,
    }


# -- sessions, fork, append ----------------------------------------------------------------------


def sessions_shape(listed: Iterable[Listed]) -> Shape:
    """`sessions --json`."""
    return {"sessions": [_session(one.info, one.first_words) for one in listed]}


def _session(info: SessionInfo, first_words: str | None) -> Shape:
    return {
        "session_id": info.session_id,
        "title": info.title,
        "first_words": first_words,
        "messages": info.messages,
        "position": info.position,
        "leaf": info.leaf,
        "directory": info.directory,
        "created": info.created,
        "last_activity": info.last_activity,
        "parent": info.parent,
        "parent_position": info.parent_position,
    }


def fork_shape(session_id: str, state: State) -> Shape:
    """`fork --json`."""
    origin = state.origin
    return {
        "session_id": session_id,
        "position": state.position,
        "leaf": state.leaf,
        "parent": None if origin is None else origin.session_id,
        "parent_position": None if origin is None else origin.position,
    }


def outcome_shape(outcome: Outcome) -> Shape:
    """`append --json`: where what was done stands."""
    return {
        "session_id": outcome.session_id,
        "position": outcome.position,
        "entry_id": outcome.entry_id,
        "message_id": outcome.message_id,
        "changed": outcome.changed,
        "warnings": [warning_shape(warning) for warning in outcome.warnings],
    }


# -- replay --------------------------------------------------------------------------------------


def step_shape(event: Event, effects: Iterable[Effect], follower: Follower) -> Shape:
    """One line of `replay --json`; `leaf` and `messages` (their number) are those after it."""
    return {
        "position": event.position,
        "session_id": event.session_id,
        "type": type(event).__name__,
        "entry_id": event.head.entry_id,
        "timestamp": event.timestamp,
        "effects": [effect.to_json() for effect in effects],
        "leaf": follower.state.leaf,
        "messages": len(follower.look.shown),
    }
