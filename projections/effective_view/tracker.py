"""Follows one session's tape, and says which end of its path has to be shown anew.

The kernel's state does the folding. What is kept beside it is the path and its groups, so that a
message at the end of a long conversation costs what it touches, and no more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tapefold.domain.heads import Head
from tapefold.domain.kernel import State
from tapefold.domain.nodes import ANCHORS, NODE_KINDS, MessageNode
from tapefold.domain.tree import born

from .groups import Groups, Keys, keys_of, merged
from .path import Path

_FACTS = frozenset({"tool_call_recorded", "tool_result_recorded"})


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
        self._touched: dict[str, None] = {}
        self.path.follow(state)
        self._index(0)
        self._join(0)

    def apply(self, position: int, head: Head) -> None:
        """Apply the next event. Raises as `State.apply_head` does."""
        self.state.apply_head(position, head)
        kind = head.kind
        if NODE_KINDS.get(kind) == "message":
            mid = head.message_id or head.entry_id or f"#{self.state.seq}"
            self._touched[mid] = None
        elif kind == "retracted":
            self._touched.update(dict.fromkeys(head.targets))
        elif kind in _FACTS and head.owner is not None:
            self._touched[head.owner] = None

    def settle(self) -> Change:
        """What the events since the last call did."""
        length = len(self.path.ids)
        stay, left = self.path.follow(self.state)
        seeds = self.groups.cut(stay, length - 1)
        self._index(stay)
        self._join(stay)
        first = stay
        known = []
        for mid in self._touched:
            node = self.state.message_node(mid)
            if node is None:
                continue
            known.append(mid)
            first = min(first, self._reindex(node, stay, seeds))
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
        entries = self.state.entries
        for place in range(begin, len(self.path.ids)):
            node = entries.get(self.path.ids[place])
            if not isinstance(node, MessageNode):
                if node is not None and node.kind in ANCHORS:
                    self.anchors.append((place, node.entry_id, node.kind))
                continue
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
