"""One entry whole: its versions, its calls with their results, and every mark about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tapefold.domain.nodes import MARK, MessageNode
from tapefold.domain.tree import (
    LEAF,
    LeafRef,
    born,
    children,
    entry_of,
    is_on_path,
    require_message,
)
from tapefold.domain.view import Bodies, Message, build_view, labels_of

if TYPE_CHECKING:
    from tapefold import Event, Sessions
    from tapefold.domain.heads import Head
    from tapefold.domain.kernel import State
    from tapefold.domain.nodes import AnyNode

FACTS = ("tool_call_recorded", "tool_result_recorded")


@dataclass(frozen=True)
class Entry:
    """One node of the tree, whole.

    `events`: those that make it; of a message every version, in order. `wins` is the place
    among them of the version that shows (None: none does, it is struck out). `marks`: the
    events about it. `message`: as it shows, with its calls. Of an imported mark `stands_for` is
    the entry that it stands for.
    """

    state: State
    node: AnyNode
    parent_id: str | None
    children: tuple[str, ...]
    on_path: bool
    label: str | None
    struck: bool
    events: tuple[Event, ...]
    wins: int | None
    marks: tuple[Event, ...]
    message: Message | None
    stands_for: str | None

    @property
    def where(self) -> tuple[str, int]:
        """(session_id, position) of the event that made it."""
        return self.state.locate(born(self.node))


def whole_entry(sessions: Sessions, state: State, node: AnyNode) -> Entry:
    """Gather an entry. Walks the heads of the tape, what it inherits included, once."""
    message_id = node.message_id if isinstance(node, MessageNode) else None
    own: list[Event] = []
    marks: list[Event] = []
    for session_id, first, last in _ranges(state):
        made, about = [], []
        for position, head in sessions.tapes.heads(session_id, 0, last):
            if _makes(head, node, message_id, first + position):
                made.append(position)
            elif _is_about(head, node.entry_id, message_id):
                about.append(position)
        own += sessions.tapes.events_at(session_id, made)
        marks += sessions.tapes.events_at(session_id, about)
    winner, struck = None, False
    if message_id is not None:
        known = require_message(state, message_id)
        winner, struck = known.winner(include_pending=True), known.struck
    won = None if winner is None else state.locate(winner.seq)
    places = [(event.session_id, event.position) for event in own]
    below = children(state)
    parent = None if node.parent_id is None else state.entry(node.parent_id)
    bodies = Bodies(state, sessions.tapes)
    return Entry(
        state,
        node,
        None if parent is None else parent.entry_id,
        tuple(below.get(node.entry_id, ())),
        is_on_path(state, node.entry_id, state.leaf),
        labels_of(state, bodies).get(node.entry_id),
        struck,
        tuple(own),
        places.index(won) if won in places else None,
        tuple(marks),
        _shown(sessions, state, node, below),
        entry_of(node) if node.kind == MARK else None,
    )


def _ranges(state: State) -> Iterator[tuple[str, int, int]]:
    """(session_id, order number before its first event, last position) of each tape that counts."""
    ends = [before for _, before in state.lineage[1:]] + [state.seq]
    for (session_id, before), end in zip(state.lineage, ends, strict=True):
        yield session_id, before, end - before


def _makes(head: Head, node: AnyNode, message_id: str | None, seq: int) -> bool:
    if message_id is not None:
        return head.message_id == message_id or seq == born(node)
    return seq == born(node)


def _is_about(head: Head, entry_id: str, message_id: str | None) -> bool:
    if head.kind in FACTS:
        return message_id is not None and head.owner == message_id
    return entry_id in head.targets or (message_id is not None and message_id in head.targets)


def _shown(
    sessions: Sessions, state: State, node: AnyNode, below: dict[str | None, list[str]]
) -> Message | None:
    """The message as it shows: at the leaf, or on the newest branch that it is on."""
    if not isinstance(node, MessageNode):
        return None
    leaf: LeafRef = LEAF
    if not is_on_path(state, node.entry_id, state.leaf):
        leaf = node.entry_id
        while below.get(leaf):
            leaf = below[leaf][-1]
    view = build_view(state, sessions.tapes, leaf, include_pending=True)
    return next((m for m in view.messages if m.entry_id == node.entry_id), None)
