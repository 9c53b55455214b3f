"""Follows one session's tape, and says which end of its path has to be shown anew.

The kernel's state does the folding. What is kept beside it is the path and its groups, so that a
message at the end of a long conversation costs what it touches, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from tapefold.domain.heads import Head
from tapefold.domain.kernel import State
from tapefold.domain.nodes import ANCHORS, MESSAGE, NODE_KINDS, AnyNode, MessageNode
from tapefold.domain.tree import born

from .groups import Groups, Keys, keys_of, merged
from .path import Path

FACTS: Final = frozenset({"tool_call_recorded", "tool_result_recorded"})
_VERSIONS = frozenset(kind for kind, node in NODE_KINDS.items() if node == MESSAGE)


@dataclass
class Change:
    """What some events did to the path.

    `begin`: the place from which on rows have to be shown anew. `stay`: how many nodes at the
    beginning of the path are those that were there before. `left`: entries that the path lost.
    `touched`: messages that have another version, were struck, or got a fact.
    """

    begin: int
    stay: int
    left: list[str]
    touched: list[str] = field(default_factory=list)


class Tracker:
    """A session's state with its path. Takes over `state`, and changes it.

    `basis`: the frozen state that a fork inherits. `joins`: how many nodes at the beginning of
    the path are inherited.
    """

    def __init__(self, state: State, basis: State | None = None) -> None:
        self.state = state
        self.basis = basis
        self.joins = 0
        self.anchors: list[tuple[int, str, str]] = []
        """(place, entry id, kind) of the anchors on the path, in order."""
        self.path = Path()
        self.groups = Groups()
        self._new: list[str] = []
        self._touched: dict[str, None] = {}
        self.path.follow(state)
        self._index(0)
        self._join(0)

    def apply(self, position: int, head: Head) -> AnyNode | None:
        """Apply the next event; answers the node that it made. Raises as `State.apply_head`."""
        state = self.state
        state.apply_head(position, head)
        kind = head.kind
        is_version = kind in _VERSIONS
        node: AnyNode | None = None
        if is_version or head.entry_id is not None:
            node = self._made(head, state.offset + position)
        if is_version:
            if isinstance(node, MessageNode):
                self._new.append(node.entry_id)
            else:
                mid = head.message_id or head.entry_id or f"#{state.seq}"
                self._touched[mid] = None
        elif kind == "retracted":
            self._touched.update(dict.fromkeys(head.targets))
        elif kind in FACTS and head.owner is not None:
            self._touched[head.owner] = None
        return node

    def _made(self, head: Head, seq: int) -> AnyNode | None:
        """The node that an event made, under whichever id it got."""
        entry_id = head.entry_id or head.message_id or f"#{seq}"
        node_of = self.state.entries.get
        node = node_of(entry_id)
        while (
            node is not None and (node.born if isinstance(node, MessageNode) else node.seq) != seq
        ):
            entry_id = f"{entry_id}~{seq}"
            node = node_of(entry_id)
        return node

    def settle(self) -> Change:
        """What the events since the last call did."""
        state = self.state
        length = len(self.path.ids)
        stay, left = self.path.follow(state)
        seeds = self.groups.cut(stay, length - 1) if length > stay else []
        self._index(stay)
        self._join(stay)
        places, node_of = self.path.places, state.entries.get
        for entry_id in self._new:
            # What is new on the path is after `stay`, and needs no look of its own.
            if entry_id not in places:
                node = node_of(entry_id)
                assert isinstance(node, MessageNode)
                self._touched[node.message_id] = None
        self._new.clear()
        first = stay
        known = []
        for mid in self._touched:
            message = state.message_node(mid)
            if message is None:
                continue
            known.append(mid)
            first = min(first, self._reindex(message, stay, seeds))
        self._touched.clear()
        begin = self.groups.beginning(first, len(self.path.ids), seeds)
        return Change(begin, stay, left, known)

    def _reindex(self, node: MessageNode, stay: int, seeds: list[Keys]) -> int:
        """The first place that a changed message touches."""
        first = 1 << 60
        place = self.path.places.get(node.entry_id)
        if place is not None and place < stay:
            first = place
            old = self.groups.at(place)
            if old is not None:
                seeds.append(old)
            self.groups.put(place, self._keys(node))
        naming = self.groups.naming(node.message_id)
        return min(first, naming[0]) if naming else first

    def _index(self, begin: int) -> None:
        while self.anchors and self.anchors[-1][0] >= begin:
            self.anchors.pop()
        node_of, message_of = self.state.entries.get, self.state.messages.get
        ids, has_facts = self.path.ids, bool(self.state.fact_chains)
        for place in range(begin, len(ids)):
            node = node_of(ids[place])
            if not isinstance(node, MessageNode):
                if node is not None and node.kind in ANCHORS:
                    self.anchors.append((place, node.entry_id, node.kind))
                continue
            is_plain = not (node.call_ids or has_facts or self.basis is not None)
            if is_plain and message_of(node.message_id) is None:
                continue  # nearly every message: it has nothing to do with calls
            keys = self._keys(node)
            if keys is not None:
                self.groups.put(place, keys)

    def _keys(self, node: MessageNode) -> Keys | None:
        keys = keys_of(self.state, node)
        if self.basis is None or node.born > self.state.offset:
            return keys
        # A row of a fork is compared with the same row of its basis: both have to pair alone.
        inherited = self.basis.message_node(node.message_id)
        return keys if inherited is None else merged(keys, keys_of(self.basis, inherited))

    def _join(self, stay: int) -> None:
        if self.basis is None or self.joins < stay:
            return
        place, ids, entries = min(self.joins, stay), self.path.ids, self.state.entries
        while place < len(ids):
            node = entries.get(ids[place])
            if node is None or born(node) > self.state.offset:
                break
            place += 1
        self.joins = place

    def messages(self, begin: int) -> Iterable[tuple[int, MessageNode]]:
        """The messages on the path from a place on, struck and hidden ones too."""
        entries = self.state.entries
        for place in range(begin, len(self.path.ids)):
            node = entries.get(self.path.ids[place])
            if isinstance(node, MessageNode):
                yield place, node
