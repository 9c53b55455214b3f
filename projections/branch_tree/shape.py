"""Where the entries of a session stand: parent and depth of each, kept up while it grows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tapefold.domain.kernel import State
from tapefold.domain.nodes import MARK, AnyNode
from tapefold.domain.tree import born, children


class Place(NamedTuple):
    """`under_id`: the node that another one hangs under, a mark perhaps; `parent_id`: the nearest
    ancestor that is an entry; `depth`: how many of those there are."""

    under_id: str | None
    parent_id: str | None
    depth: int


class Shape:
    """Parents and depths by entry id; marks are walked through.

    As long as each node comes after its parent, a new one costs a look at that. Where a parent
    is unknown when a node comes (an imported file may name it later, or lead round in a ring),
    all places are worked out anew from then on.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._depths: dict[str, int] = {}
        self.is_odd = False
        """Whether some node came before its parent."""

    def place(self, node: AnyNode) -> Place:
        """Where a node stands, an own or an inherited one, in a session that is not odd."""
        parent = self.parent(node)
        return Place(node.parent_id, parent, 0 if parent is None else self.depth(parent) + 1)

    def parent(self, node: AnyNode) -> str | None:
        """The nearest ancestor that is an entry."""
        entries = self._state.entries
        above = None if node.parent_id is None else entries.get(node.parent_id)
        while above is not None and above.kind == MARK:
            above = None if above.parent_id is None else entries.get(above.parent_id)
        return None if above is None else above.entry_id

    def depth(self, entry_id: str) -> int:
        """How many entries lie above one. Walks up to the nearest that is known."""
        walked: list[str] = []
        at: str | None = entry_id
        while at is not None and at not in self._depths:
            walked.append(at)
            node = self._state.entries.get(at)
            at = None if node is None else self.parent(node)
        depth = -1 if at is None else self._depths[at]
        for one in reversed(walked):
            depth += 1
            self._depths[one] = depth
        return depth

    def note(self, node: AnyNode) -> None:
        """Look at a new node's parent."""
        if node.parent_id is not None and self._state.entries.get(node.parent_id) is None:
            self.is_odd = True

    def look(self) -> None:
        """Look at all nodes, where a session is opened anew."""
        entries = self._state.entries
        for node in dict(entries.items()).values():
            if node.parent_id is not None:
                above = entries.get(node.parent_id)
                if above is None or born(above) >= born(node):
                    self.is_odd = True
                    return

    def all_places(self) -> Iterable[tuple[AnyNode, Place]]:
        """Every node with its place, as an outline has them."""
        entries = self._state.entries
        below = children(self._state)
        todo = [(key, Place(None, None, 0)) for key in below.get(None, ())]
        while todo:
            key, place = todo.pop()
            node = entries.get(key)
            assert node is not None
            yield node, place
            inner = Place(key, place.parent_id, place.depth)
            if node.kind != MARK:
                inner = Place(key, key, place.depth + 1)
            todo.extend((child, inner) for child in below.get(key, ()))
