"""The machine shapes: what each command prints with --json. Keys stay, and stay in order.

docs/cli.md shows one of each. Keys may be added behind those that are there. A position or an
entry that may be inherited stands with its session_id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tapefold.domain.content import content_json

if TYPE_CHECKING:
    from tapefold.domain.comparison import Comparison, Difference
    from tapefold.domain.context import Context, Row
    from tapefold.domain.events import Event
    from tapefold.domain.kernel import State
    from tapefold.domain.outcome import Outcome
    from tapefold.domain.outline import Outline, OutlineFork, OutlineNode
    from tapefold.domain.view import Call, Item, Message, View, Warning
    from tapefold.store import SessionInfo

    from .covered import Covered
    from .effects import Effect
    from .entries import Entry
    from .family import Family
    from .follower import Follower
    from .listed import Listed

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
        "forks": [_fork(fork) for fork in outline.forks],
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
        "is_leaf": node.is_leaf,
    }


def _fork(fork: OutlineFork) -> Shape:
    """A child session: it goes on from `entry_id`, as this session was at `position`."""
    return {
        "session_id": fork.session_id,
        "fork_id": fork.fork_id,
        "entry_id": fork.entry_id,
        "position": fork.position,
        "inherits": fork.inherits,
        "receipt": fork.receipt,
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
    """`sessions --json`. `match`: where the text of --grep stands (position null: in the title
    or the first words); `problem`: why a session cannot be read; `tokens` and `cost`: null where
    the session index is not built; `parked`: the event that stops a session there, and why."""
    return {"sessions": [_session(one) for one in listed]}


def _session(one: Listed) -> Shape:
    match = one.match
    return {
        "session_id": one.session_id,
        "title": one.title,
        "first_words": one.first_words,
        "messages": one.messages,
        "position": one.position,
        "leaf": one.leaf,
        "directory": one.directory,
        "created": one.created,
        "last_activity": one.last_activity,
        "parent": one.parent,
        "parent_position": one.parent_position,
        "size": one.size,
        "model": one.model,
        "match": None
        if match is None
        else {"position": match.position, "role": match.role, "text": match.text},
        "problem": one.problem,
        "tokens": None
        if one.spent is None
        else {
            "input": one.spent.input,
            "output": one.spent.output,
            "cache_read": one.spent.cache_read,
            "cache_write": one.spent.cache_write,
        },
        "cost": None if one.spent is None else one.spent.cost,
        "parked": None
        if one.parked is None
        else {"position": one.parked.position, "error": one.parked.error},
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


def new_shape(info: SessionInfo) -> Shape:
    """`new --json`."""
    return {
        "session_id": info.session_id,
        "position": info.position,
        "leaf": info.leaf,
        "title": info.title,
        "directory": info.directory,
    }


def entry_shape(entry: Entry) -> Shape:
    """`show --json`. `versions` are the events that make the entry, `wins` the one that shows."""
    session_id, position = entry.where
    message = entry.message
    return {
        "session_id": session_id,
        "entry_id": entry.node.entry_id,
        "parent_id": entry.parent_id,
        "position": position,
        "kind": entry.node.kind,
        "stands_for": entry.stands_for,
        "message_id": getattr(entry.node, "message_id", None),
        "role": getattr(entry.node, "role", None),
        "label": entry.label,
        "struck": entry.struck,
        "on_path": entry.on_path,
        "children": list(entry.children),
        "versions": [event_shape(event) for event in entry.events],
        "wins": entry.wins,
        "calls": [] if message is None else [_call(call) for call in message.calls],
        "marks": [event_shape(event) for event in entry.marks],
    }


def forks_shape(family: Family) -> Shape:
    """`forks --json`: descendants, each behind its parent."""
    return {
        "session_id": family.session_id,
        "parent": family.parent,
        "parent_position": family.parent_position,
        "forks": [
            {
                **_fork(fork.told),
                "parent": fork.parent,
                "depth": fork.depth,
                "missing": fork.info is None,
                "title": None if fork.info is None else fork.info.title,
                "messages": None if fork.info is None else fork.info.messages,
                "last_activity": None if fork.info is None else fork.info.last_activity,
            }
            for fork in family.forks
        ],
    }


def covered_shape(covered: Covered) -> Shape:
    """`compact --show-covered --json`, `branch --show-abandoned --json`."""
    return {
        "session_id": covered.session_id,
        "position": covered.position,
        "leaf": covered.leaf,
        "kept_entry_id": covered.kept,
        "moved": covered.moved,
        "tokens": covered.tokens,
        "rows": [_row(row) for row in covered.rows],
        "text": covered.text,
    }


def outcome_shape(outcome: Outcome, leaf: str | None) -> Shape:
    """Of every command that writes: where what was done stands, and the leaf after it."""
    return {
        "session_id": outcome.session_id,
        "position": outcome.position,
        "entry_id": outcome.entry_id,
        "message_id": outcome.message_id,
        "changed": outcome.changed,
        "warnings": [warning_shape(warning) for warning in outcome.warnings],
        "hidden": outcome.hidden,
        "leaf": leaf,
    }


# -- diff --------------------------------------------------------------------------------------


def diff_shape(comparison: Comparison) -> Shape:
    """`diff --json`. What both sides have is counted: `common` before the first difference,
    `same` in all. Each value that differs stands as A's and B's."""
    return {
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "related": comparison.related,
        "common": comparison.common,
        "same": comparison.same,
        "differences": [_difference(difference) for difference in comparison.differences],
        "settings": {name: _both(values) for name, values in comparison.settings.items()},
        "labels": {entry_id: _both(values) for entry_id, values in comparison.labels.items()},
        "title": None if comparison.title is None else _both(comparison.title),
    }


def _side(view: View) -> Shape:
    return {"session_id": view.session_id, "position": view.position, "leaf": view.leaf}


def _both(values: tuple[Any, Any]) -> Shape:
    return {"a": values[0], "b": values[1]}


def _difference(difference: Difference) -> Shape:
    message = difference.item.message
    return {
        "op": difference.op,
        "kind": difference.item.kind,
        "role": None if message is None else message.role,
        "changes": list(difference.changes),
        "a": _item(difference.a),
        "b": _item(difference.b),
        "text": [{"op": op, "text": text} for op, text in difference.text],
        "calls": [
            {
                "call_id": call.call_id,
                "a": None if call.a is None else _call(call.a),
                "b": None if call.b is None else _call(call.b),
            }
            for call in difference.calls
        ],
        "in_its_call": difference.in_its_call,
    }


def _item(item: Item | None) -> Shape | None:
    """An entry of one side: a message as `view` has it, or what else stands on the path."""
    if item is None:
        return None
    if item.message is not None:
        return _message(item.message)
    assert item.event is not None
    return {
        "session_id": item.event.session_id,
        "entry_id": item.entry_id,
        "position": item.event.position,
        "kind": item.kind,
        "name": item.event.head.name,
        "summary": getattr(item.event.body, "summary", None),
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
        "messages": follower.look.messages,
    }
