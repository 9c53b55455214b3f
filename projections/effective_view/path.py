"""The path to a session's leaf, kept up while its tape grows."""

from __future__ import annotations

from tapefold.domain import tree
from tapefold.domain.kernel import State


class Path:
    """The entry ids from the root to the leaf, marks included, and the place of each.

    A longer path costs what is new in it; a leaf that moves, the difference of the two paths.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.places: dict[str, int] = {}
        self._hangs = False
        """The first node names a parent: one that may still come, or a ring that was cut."""

    def follow(self, state: State) -> tuple[int, list[str]]:
        """Become the path of `state`. Answers (how many nodes stayed, those that were left)."""
        if self._hangs:
            return self._become([node.entry_id for node in tree.path(state, state.leaf)], state)
        new: list[str] = []
        places, node_of = self.places, state.entries.get
        at, most = state.leaf, state.seq
        while at is not None and at not in places:
            node = node_of(at)
            if node is None or len(new) > most:  # unknown, or a ring: the whole walk knows it
                return self._become([n.entry_id for n in tree.path(state, state.leaf)], state)
            new.append(at)
            at = node.parent_id
        stay = 0 if at is None else self.places[at] + 1
        new.reverse()
        return stay, self._replace(stay, new)

    def _become(self, ids: list[str], state: State) -> tuple[int, list[str]]:
        stay = 0
        for old, new in zip(self.ids, ids, strict=False):
            if old != new:
                break
            stay += 1
        left = self._replace(stay, ids[stay:])
        first = state.entries.get(ids[0]) if ids else None
        self._hangs = first is not None and first.parent_id is not None
        return stay, left

    def _replace(self, stay: int, new: list[str]) -> list[str]:
        left = self.ids[stay:]
        for entry_id in left:
            del self.places[entry_id]
        del self.ids[stay:]
        self.places.update(zip(new, range(stay, stay + len(new)), strict=True))
        self.ids += new
        return left
