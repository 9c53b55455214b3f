"""Walks over the tree: paths, ancestors, leaves. Iterative, and safe on any parent links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from .errors import InvalidValue, UnknownEntry, UnknownMessage
from .kernel import State
from .nodes import MARK, MESSAGE, AnyNode, MessageNode, MessageState, Node


class CurrentLeaf:
    """Stands for the session's own leaf where None means the root."""

    def __repr__(self) -> str:
        return "LEAF"


LEAF: Final = CurrentLeaf()
"""Left out: the session's leaf. None is the empty path."""

LeafRef = str | None | CurrentLeaf


def upwards(state: State, entry_id: str | None) -> Iterator[AnyNode]:
    """The nodes from `entry_id` to the root, marks included.

    An unknown parent ends the walk (its line may not have come yet), and so does a ring.
    """
    seen: set[str] = set()
    while entry_id is not None and entry_id not in seen:
        node = state.entries.get(entry_id)
        if node is None:
            return
        seen.add(entry_id)
        yield node
        entry_id = node.parent_id


def path(state: State, entry_id: str | None) -> list[AnyNode]:
    """The nodes from the root to `entry_id`, marks included.

    A ring is cut above its member that came first, from wherever it is entered.
    """
    nodes = list(upwards(state, entry_id))
    above = nodes[-1].parent_id if nodes else None
    if above is not None and state.entries.get(above) is not None:
        at = next(i for i, node in enumerate(nodes) if node.entry_id == above)
        root = min(range(at, len(nodes)), key=lambda i: born(nodes[i]))
        del nodes[root + 1 :]
    nodes.reverse()
    return nodes


def is_on_path(state: State, entry_id: str, leaf: str | None) -> bool:
    """Whether `entry_id` lies on the way from the root to `leaf`."""
    return any(node.entry_id == entry_id for node in upwards(state, leaf))


def entry_of(node: AnyNode) -> str | None:
    """The entry that a node is, or that a mark stands for (None: the root)."""
    return node.target if isinstance(node, Node) and node.kind == MARK else node.entry_id


class Marked:
    """Finds marked entries on many paths, in one walk over each node whatever their number."""

    def __init__(self, state: State, entry_ids: Iterable[str]) -> None:
        self._state = state
        self._marked = set(entry_ids)
        self._nearest: dict[str, str | None] = {}

    def nearest(self, entry_id: str | None) -> str | None:
        """The marked entry that is nearest above `entry_id`, or it itself."""
        walked: list[str] = []
        found: str | None = None
        for node in upwards(self._state, entry_id):
            if node.entry_id in self._nearest:
                found = self._nearest[node.entry_id]
                break
            if node.entry_id in self._marked:
                found = self._nearest[node.entry_id] = node.entry_id
                break
            walked.append(node.entry_id)
        self._nearest.update(dict.fromkeys(walked, found))
        return found

    def on_path(self, entry_id: str | None) -> Iterator[str]:
        """The marked entries on the way up from `entry_id`, the nearest first."""
        seen: set[str] = set()
        found = self.nearest(entry_id)
        while found is not None and found not in seen:
            seen.add(found)
            yield found
            node = self._state.entries.get(found)
            found = None if node is None else self.nearest(node.parent_id)


def require_node(state: State, entry_id: str) -> AnyNode:
    """The node with this id. Raises `UnknownEntry`, `InvalidValue` for what is no text."""
    node = state.entries.get(_text(entry_id, "an entry id"))
    if node is None:
        raise UnknownEntry(state.session_id, entry_id)
    return node


def require_entry(state: State, entry_id: str) -> AnyNode:
    """The entry with this id; for a mark, the entry that it stands for. Raises `UnknownEntry`."""
    node = require_node(state, entry_id)
    seen: set[str] = set()
    while node.kind == MARK:
        seen.add(node.entry_id)
        standing = entry_of(node)
        if standing is None or standing in seen:
            raise UnknownEntry(state.session_id, entry_id)
        node = require_node(state, standing)
    return node


def require_message(state: State, message_id: str) -> MessageState:
    """The state of a message, by its message id or its entry id. Raises `UnknownMessage`."""
    found = state.message(_text(message_id, "a message id"))
    if found is None:
        node = state.entries.get(message_id)
        if isinstance(node, MessageNode):
            found = state.message(node.message_id)
    if found is None:
        raise UnknownMessage(state.session_id, message_id)
    return found


def require_target(state: State, target: str) -> str:
    """The entry that a mark is to be about, by its message id or entry id; for a mark, the entry
    that it stands for. Raises `UnknownEntry`."""
    found = state.message(_text(target, "an entry id"))
    return require_entry(state, target if found is None else found.entry_id).entry_id


def _text(value: object, what: str) -> str:
    # Looked up as it comes, a list or an object would fail with an error of Python's.
    if not isinstance(value, str):
        raise InvalidValue(f"{what} is text, not {type(value).__name__}")
    return value


def resolve_leaf(state: State, leaf: LeafRef) -> str | None:
    """The entry that a leaf reference means. Raises `UnknownEntry`."""
    if isinstance(leaf, CurrentLeaf):
        return state.leaf
    if leaf is None:
        return None
    return entry_of(require_node(state, leaf))


def is_draft(state: State, node: AnyNode) -> bool:
    """Whether a node is a message that has nothing but an unfinished version."""
    if not isinstance(node, MessageNode):
        return False
    message = state.message(node.message_id)
    return message is not None and message.final is None and message.pending is not None


def fork_leaf(state: State) -> str | None:
    """Where a fork begins by default: the leaf, or above it where that is an unfinished draft."""
    for node in upwards(state, state.leaf):
        if node.kind != MARK and not is_draft(state, node):
            return node.entry_id
    return None


def children(state: State) -> dict[str | None, list[str]]:
    """Every node's children in the order of the tape; the roots stand under None.

    A node whose parent is unknown is a root; of a ring, the first member is one.
    """
    order = sorted((born(node), key) for key, node in state.entries.items())
    below: dict[str | None, list[str]] = {}
    for _, key in order:
        node = state.entries.get(key)
        parent = None if node is None else node.parent_id
        known = parent is not None and state.entries.get(parent) is not None
        below.setdefault(parent if known else None, []).append(key)
    reached = _reach(below, below.get(None, []))
    rings = [key for _, key in order if key not in reached]
    for key in rings:
        if key not in reached:  # it hangs under a ring, or is of one: such have no root
            root = path(state, key)[0]
            below.setdefault(None, []).append(root.entry_id)
            below[root.parent_id].remove(root.entry_id)
            reached |= _reach(below, [root.entry_id])
    if rings:
        rank = {key: n for n, (_, key) in enumerate(order)}
        below[None].sort(key=lambda key: rank[key])
    return below


def _reach(below: dict[str | None, list[str]], roots: list[str]) -> set[str]:
    todo = list(roots)
    reached: set[str] = set()
    while todo:
        key = todo.pop()
        if key not in reached:
            reached.add(key)
            todo.extend(below.get(key, ()))
    return reached


def born(node: AnyNode) -> int:
    """Order number of the event that made the node."""
    return node.born if isinstance(node, MessageNode) else node.seq


def is_message(node: AnyNode) -> bool:
    """Whether the node is a message."""
    return node.kind == MESSAGE
