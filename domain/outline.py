"""The outline: every entry of a session as a flat list with depth, ready to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from .content import Content, TextBlock, ThinkingBlock, ToolCallBlock
from .events import Event
from .kernel import State
from .nodes import MARK, AnyNode, MessageNode
from .tree import LEAF, LeafRef, born, children, path, resolve_leaf
from .view import Bodies, Tapes, labels_of

PREVIEW: Final = 72
"""Longest preview. Unit: characters."""


@dataclass(frozen=True)
class OutlineNode:
    """One entry. (session_id, position) is the event that made it.

    `parent_id` is the nearest ancestor that is an entry; `depth` counts those. `struck` tells a
    message that was retracted, `calls` the names of the tools that it calls.
    """

    session_id: str
    entry_id: str
    parent_id: str | None
    position: int
    kind: str
    role: str | None
    status: str | None
    depth: int
    label: str | None
    on_path: bool
    preview: str
    struck: bool = False
    calls: tuple[str, ...] = ()
    is_leaf: bool = False


@dataclass(frozen=True)
class Outline:
    """All entries, each after its parent, siblings in the order of the tape."""

    session_id: str
    position: int
    leaf: str | None
    nodes: tuple[OutlineNode, ...]


def build_outline(state: State, tapes: Tapes, leaf: LeafRef = LEAF) -> Outline:
    """The outline of a session, its basis included. Linear in the number of entries."""
    at = resolve_leaf(state, leaf)
    on_path = {node.entry_id for node in path(state, at)}
    bodies = Bodies(state, tapes)
    entries = dict(state.entries.items())
    bodies.fetch(_shown_seq(state, node) for node in entries.values() if node.kind != MARK)
    labels = labels_of(state, bodies)
    below = children(state)
    rows: list[OutlineNode] = []
    todo: list[tuple[str, str | None, int]] = [
        (key, None, 0) for key in reversed(below.get(None, []))
    ]
    while todo:
        key, parent, depth = todo.pop()
        node = entries[key]
        if node.kind == MARK:  # a mark is walked through
            inner = (parent, depth)
        else:
            row = _row(state, bodies, node, parent, depth, labels, key in on_path, key == at)
            rows.append(row)
            inner = (key, depth + 1)
        todo.extend((child, *inner) for child in reversed(below.get(key, [])))
    return Outline(state.session_id, state.position, at, tuple(rows))


def _shown_seq(state: State, node: AnyNode) -> int:
    """The event whose body tells what an entry is: a message's newest winner, or what it was."""
    if not isinstance(node, MessageNode):
        return node.seq
    message = state.message(node.message_id)
    if message is None:
        return node.seq
    return (message.winner(include_pending=True) or message.latest).seq


def _row(
    state: State,
    bodies: Bodies,
    node: AnyNode,
    parent: str | None,
    depth: int,
    labels: Mapping[str, str],
    on_path: bool,
    is_leaf: bool,
) -> OutlineNode:
    event = bodies[_shown_seq(state, node)]
    session_id, position = state.locate(born(node))
    message = state.message(node.message_id) if isinstance(node, MessageNode) else None
    version = None if message is None else message.winner(True) or message.latest
    calls: tuple[str, ...] = ()
    if isinstance(node, MessageNode):
        calls = tuple(b.name for b in event.body.content if isinstance(b, ToolCallBlock))
    return OutlineNode(
        session_id=session_id,
        entry_id=node.entry_id,
        parent_id=parent,
        position=position,
        kind=node.kind,
        role=None if version is None else version.role,
        status=None if version is None else version.status,
        depth=depth,
        label=labels.get(node.entry_id),
        on_path=on_path,
        preview=cut(preview_of(event)),
        struck=message is not None and message.struck,
        calls=calls,
        is_leaf=is_leaf,
    )


def preview_of(event: Event) -> str:
    """One line of text that tells an entry from others, not cut."""
    body = event.body
    summary = getattr(body, "summary", None)
    if isinstance(summary, str):
        return summary
    content = getattr(body, "content", None)
    if content is not None:
        return content_preview(content)
    for name in ("model", "level", "namespace", "problem", "reason", "raw"):
        value: Any = getattr(body, name, None)
        if isinstance(value, str) and value:
            return value
    return ""


def content_preview(content: Content) -> str:
    """The text of content; without any, its calls, or what else it is made of."""
    parts = [block.text for block in content if isinstance(block, TextBlock)]
    if not any(part.strip() for part in parts):
        parts = [f"[{b.name}]" for b in content if isinstance(b, ToolCallBlock)]
    if not parts:
        parts = [b.thinking for b in content if isinstance(b, ThinkingBlock)]
    if not parts:
        parts = [f"[{block.TYPE}]" for block in content]
    return " ".join(parts)


def cut(text: str, width: int = PREVIEW) -> str:
    """`text` on one line, white space collapsed, cut to `width` characters with an ellipsis."""
    line = " ".join(text[: width * 8].split())
    return line if len(line) <= width else line[: width - 1] + "…"
