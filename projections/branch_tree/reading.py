"""Reading the branch tree: a session's outline, and the index of the sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from sqlite3 import Connection
from typing import Any, NamedTuple

from tapefold.domain.errors import SessionNotFound
from tapefold.domain.heads import Origin, Timestamp
from tapefold.domain.nodes import MARK
from tapefold.domain.outline import OutlineNode, build_outline
from tapefold.domain.tree import born

from ..bodies import load_fork_basis
from ..errors import SessionParked
from ..log import Log
from ..parking import Parked, parked_at
from .shape import Shape

_INHERITED = (
    "SELECT entry_id, role, status, struck, has_label, label, preview, calls, has_place, "
    "under_id, parent_id, depth FROM bt_inherited WHERE session_id = ?"
)
_NODES = (
    "SELECT entry_id, under_id, parent_id, depth, position, kind, role, status, struck, label, "
    "preview, calls, timestamp, children, is_tip FROM bt_nodes WHERE session_id = ? "
    "ORDER BY position"
)


@dataclass(frozen=True)
class TreeNode(OutlineNode):
    """One entry of the outline, with its time and what hangs under it."""

    timestamp: Timestamp = None
    children: int = 0
    is_tip: bool = True


@dataclass(frozen=True)
class Tree:
    """All entries of a session, what a fork inherits included, each after its parent, siblings in
    the order of the tape.

    `parked`: the event at which the session stands still, since it cannot be applied.
    """

    session_id: str
    position: int
    leaf: str | None
    nodes: tuple[TreeNode, ...]
    parked: Parked | None = None


class _Node(NamedTuple):
    """A node of the tree; what shows of it, None for a mark."""

    key: str
    under: str | None
    shown: TreeNode | None


class TreeReader:
    """Reads one file of the branch tree, in the caller's transaction."""

    def __init__(self, connection: Connection, log: Log) -> None:
        self._connection = connection
        self._log = log

    def tree(self, session_id: str) -> Tree:
        """The tree of a session. Raises `SessionNotFound`, and `SessionParked` where its first
        event cannot be applied."""
        row = self._connection.execute(
            "SELECT position, leaf, parent_session_id, parent_position, parent_leaf, inherits "
            "FROM bt_sessions WHERE session_id = ?",
            (session_id,),
        ).fetchone()
        if row is None:
            parked = parked_at(self._connection, session_id)
            if parked is not None:
                raise SessionParked("branch_tree", session_id, parked.position, parked.error)
            raise SessionNotFound(session_id)
        position, leaf, parent, at, parent_leaf, inherits = row
        nodes: list[_Node] = []
        if parent is not None and inherits:
            nodes += self._inherited(session_id, Origin(parent, at, parent_leaf))
        rows = self._connection.execute(_NODES, (session_id,))
        nodes += [_Node(row[0], row[1], _node(session_id, row[0], row[2:])) for row in rows]
        stands = parked_at(self._connection, session_id)
        return Tree(session_id, position, leaf, tuple(_marked(nodes, leaf)), stands)

    def _inherited(self, session_id: str, origin: Origin) -> list[_Node]:
        """The parent's nodes from its tape, with what this session says of them."""
        basis = load_fork_basis(self._log, session_id, origin)
        rows = {node.entry_id: node for node in build_outline(basis, self._log.tapes).nodes}
        changed = {row[0]: row[1:] for row in self._connection.execute(_INHERITED, (session_id,))}
        found = []
        places = sorted(Shape(basis).all_places(), key=lambda one: born(one[0]))
        for node, place in places:
            key, under = node.entry_id, place.under_id
            shown = None if key not in rows else _of_outline(self._log, rows[key])
            if key in changed:
                role, status, struck, has_label, label, text, calls, *there = changed[key]
                if there[0]:
                    under = there[1]
                if shown is not None:
                    shown = replace(
                        shown,
                        role=role,
                        status=status,
                        struck=bool(struck),
                        label=label if has_label else shown.label,
                        preview=text,
                        calls=_calls(calls),
                        parent_id=there[2] if there[0] else shown.parent_id,
                        depth=there[3] if there[0] else shown.depth,
                    )
            found.append(_Node(key, under, shown))
        return found


def _of_outline(log: Log, node: OutlineNode) -> TreeNode:
    said = {field.name: getattr(node, field.name) for field in fields(OutlineNode)}
    timestamp = log.event_at(node.session_id, node.position).head.timestamp
    return TreeNode(**{**said, "on_path": False, "is_leaf": False}, timestamp=timestamp)


def _node(session_id: str, entry_id: str, row: Sequence[Any]) -> TreeNode | None:
    parent_id, depth, position, kind, role, status, struck, label, text = row[:9]
    calls, timestamp, children, is_tip = row[9:]
    if kind == MARK:
        return None
    return TreeNode(
        session_id,
        entry_id,
        parent_id,
        position,
        kind,
        role,
        status,
        depth,
        label,
        on_path=False,
        preview=text,
        struck=bool(struck),
        calls=_calls(calls),
        timestamp=timestamp,
        children=children,
        is_tip=bool(is_tip),
    )


def _calls(names: str | None) -> tuple[str, ...]:
    return () if names is None else tuple(name or "" for name in json.loads(names))


def _marked(nodes: list[_Node], leaf: str | None) -> Iterable[TreeNode]:
    """The entries in the order of a tree, with the path to the leaf marked."""
    by_id = {node.key: node for node in nodes}
    below: dict[str | None, list[str]] = {}
    children: dict[str | None, int] = {}
    for node in nodes:
        below.setdefault(node.under, []).append(node.key)
        if node.shown is not None:
            children[node.shown.parent_id] = children.get(node.shown.parent_id, 0) + 1
    path: set[str] = set()
    at = leaf
    while at is not None and at not in path and at in by_id:
        path.add(at)
        at = by_id[at].under
    todo = list(reversed(below.get(None, [])))
    while todo:
        key = todo.pop()
        shown = by_id[key].shown
        if shown is not None:
            number = children.get(key, 0)
            yield replace(
                shown,
                on_path=key in path,
                is_leaf=key == leaf,
                children=number,
                is_tip=number == 0,
            )
        todo.extend(reversed(below.get(key, [])))
