"""Anchors, as far as a file of Tau or Pi can hold them.

A reset has no counterpart there: a summary that it undoes on the leaf's path, or on every branch
below it, is written as data that no replay looks at. What else needs the path above an anchor
(where its boundary went, which older summaries it covers) is found by walking it.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from ...domain.kernel import State
from ...domain.nodes import ANCHORS, BRANCH_SUMMARY, MESSAGE, RESET, Anchor, AnyNode
from ...domain.tree import children, path, upwards

STEPS: Final = 5_000_000
"""Most steps of all walks together; beyond it a boundary counts as lost."""

ROWS: Final = ANCHORS | {BRANCH_SUMMARY, MESSAGE}


class Summaries:
    """`undone`: anchors that a reset undoes. `elsewhere`: of these, the ones that a branch
    without that reset still needs."""

    def __init__(self, state: State, leaf: str | None, only: Container[str] | None) -> None:
        self.state = state
        self.undone: set[str] = set()
        self.elsewhere: set[str] = set()
        self._steps = STEPS
        if any(anchor.kind == RESET for anchor in state.anchors.values()):
            self._undo(leaf, only)

    def _undo(self, leaf: str | None, only: Container[str] | None) -> None:
        on_leaf = [node for node in path(self.state, leaf) if node.kind in ANCHORS]
        resets = [i for i, node in enumerate(on_leaf) if node.kind == RESET]
        ruled = {node.entry_id for node in on_leaf}
        gone = {node.entry_id for node in on_leaf[: resets[-1]]} if resets else set()
        needed = self._needed(only)
        for anchor in self.state.anchors.values():
            key = anchor.entry_id
            if anchor.kind == RESET or (only is not None and key not in only):
                continue
            if key in gone or (key not in ruled and not needed.get(key, True)):
                self.undone.add(key)
                if needed.get(key):
                    self.elsewhere.add(key)

    def _needed(self, only: Container[str] | None) -> dict[str, bool]:
        """Of each node, whether a tip below it (or itself) is reached without a reset."""
        below = children(self.state)
        order: list[str] = []
        todo = list(below.get(None, []))
        while todo:
            key = todo.pop()
            if only is None or key in only:
                order.append(key)
                todo.extend(below.get(key, ()))
        needed: dict[str, bool] = {}
        for key in reversed(order):
            kids = [kid for kid in below.get(key, ()) if only is None or kid in only]
            needed[key] = not kids or any(needed[kid] and not self._is_reset(kid) for kid in kids)
        return needed

    def _is_reset(self, key: str) -> bool:
        anchor = self.state.anchors.get(key)
        return anchor is not None and anchor.kind == RESET

    def rules(self, key: str) -> bool:
        """Whether an anchor is written as one."""
        return not self._is_reset(key) and key not in self.undone

    # -- walks -----------------------------------------------------------------------------

    def boundary(
        self, node: AnyNode, first_kept: str, written: Container[str]
    ) -> tuple[str | None, bool]:
        """(the first written line that a summary keeps, whether all is well). Where the boundary
        itself is not written, the next below it that is; none: nothing is kept."""
        if first_kept in written or first_kept == node.entry_id:
            return first_kept, True
        if self.state.entries.get(first_kept) is None:
            return first_kept, True  # the tool knows it no more than the session does
        nearest: str | None = None
        for above in upwards(self.state, node.parent_id):
            self._steps -= 1
            if self._steps < 0:
                return None, False
            if above.entry_id in written:
                nearest = above.entry_id
            if above.entry_id == first_kept:
                return nearest, nearest is not None
        return first_kept, True  # it is on another branch: nothing is kept

    def older(self, node: AnyNode, anchor: Anchor) -> tuple[list[str], bool] | None:
        """What a summary has to list so that no older one stays beside it, as Tau would let it.

        (entries to be replaced, whether some that it keeps were dropped before); None where a
        boundary alone says it: no older summary stands between the boundary and this one.
        """
        if anchor.first_kept is None or anchor.first_kept == node.entry_id:
            return None
        way: list[str] = []
        inner: list[str] = []
        boundary = start = -1
        wanted: str | None = None
        to_root = False
        for above in upwards(self.state, node.parent_id):
            self._steps -= 1
            key = above.entry_id
            if self._steps < 0:
                return None
            way.append(key)
            if above.kind in ANCHORS and self.rules(key):
                older = self.state.anchors.get(key)
                if not inner and older is not None:
                    start = len(way) - 1
                    wanted = older.first_kept
                    to_root = older.replaces is not None  # it may have kept any entry
                inner.append(key)
            if key == wanted:
                start = len(way) - 1
            if key == anchor.first_kept:
                boundary = len(way) - 1
                if not inner:
                    return None
            if boundary >= 0 and not to_root and (wanted is None or start >= boundary):
                break
        if boundary < 0:
            return None
        if to_root:
            start = len(way) - 1
        replaced = {*way[boundary + 1 : start + 1], *inner}
        return [key for key in reversed(way) if key in replaced], start < boundary

    def after_replaced(self, node: AnyNode, anchor: Anchor) -> tuple[str | None, bool]:
        """(the entry behind the last one that a list replaces, whether entries before it stay).

        None: there is nothing between the last one and the anchor.
        """
        listed = set(anchor.replaces or ())
        below: str | None = None
        found = False
        kept = False
        for above in upwards(self.state, node.parent_id):
            self._steps -= 1
            if self._steps < 0:
                break
            shows = above.kind in ROWS and above.kind != RESET
            if above.entry_id in listed and shows:
                found = True
            elif found and shows:
                kept = True
            if not found:
                below = above.entry_id
        return below, kept or not found
