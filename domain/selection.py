"""Which part of a path the ruling anchor leaves for the context.

The newest anchor on the path rules, unless a summary reset follows it there. It puts its summary
in front; then come the entries from its boundary up to it, then all that follows. Older anchors
inside the kept range contribute nothing. Two older shapes are reproduced: `cumulative` anchors
keep the rows that older anchors left after the boundary (Tau), and anchors that list what they
replace, entry by entry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .kernel import State
from .nodes import ANCHORS, BRANCH_SUMMARY, MESSAGE, RESET, Anchor
from .view import Item

_ROWS = ANCHORS | {BRANCH_SUMMARY, MESSAGE}


@dataclass
class Selection:
    """Kept items, the summary rows among them, in their order before sorting.

    `boundary` is the index on the path of the first entry that is kept (None: no anchor rules).
    `missing` tells a boundary that is named, but not found before the anchor.
    """

    kept: list[Item]
    ruling: Item | None = None
    boundary: int | None = None
    missing: bool = False
    summaries: set[str] = field(default_factory=set)


def select(state: State, items: Sequence[Item], anchored: bool) -> Selection:
    """Apply the anchors on the path, or (not `anchored`) none."""
    plain = [item for item in items if item.kind not in ANCHORS]
    if not anchored:
        return Selection(plain)
    start = _last_restart(state, items)
    chain = [i for i in items[start:] if i.kind in ANCHORS and i.entry_id in state.anchors]
    anchors = [state.anchors.get(item.entry_id) for item in chain]
    if any(anchor is not None and anchor.replaces is not None for anchor in anchors):
        return _one_by_one(state, items, chain)
    return _by_boundaries(state, items, chain)


def _by_boundaries(state: State, items: Sequence[Item], chain: Sequence[Item]) -> Selection:
    """Anchors that have a boundary: what an item survives are the boundaries of all anchors
    behind it. One walk from the end, whatever the number of anchors."""
    selection = Selection([])
    index_of: dict[str, int] = {}
    for item in items:
        index_of.setdefault(item.entry_id, item.index)
    in_chain = {item.entry_id for item in chain}
    least = 0  # items before this index are gone
    kept: list[Item] = []
    for item in reversed(items):
        anchor = state.anchors.get(item.entry_id) if item.entry_id in in_chain else None
        if anchor is not None and anchor.kind != RESET:
            at, missing = _boundary(index_of, item.index, anchor)
            if item.index >= least:
                selection.summaries.add(item.entry_id)
                if selection.ruling is not None:
                    kept.append(item)
            if selection.ruling is None:
                selection.ruling, selection.boundary, selection.missing = item, at, missing
            least = max(least, at)
        elif item.kind not in ANCHORS and item.index >= least:
            kept.append(item)
    kept.reverse()
    selection.kept = kept if selection.ruling is None else [selection.ruling, *kept]
    return selection


def _one_by_one(state: State, items: Sequence[Item], chain: Sequence[Item]) -> Selection:
    """Anchors of which one lists what it replaces: each works on what the one before left."""
    selection = Selection([])
    todo = 0
    for item in chain:
        anchor = state.anchors.get(item.entry_id)
        selection.kept.extend(i for i in items[todo : item.index] if i.kind not in ANCHORS)
        todo = item.index + 1
        if anchor is not None and anchor.kind != RESET:
            _accumulate(items, selection, item, anchor)
    selection.kept.extend(i for i in items[todo:] if i.kind not in ANCHORS)
    return selection


def _last_restart(state: State, items: Sequence[Item]) -> int:
    """Index of the last anchor that looks at entries alone: no older one matters. 0: none."""
    for item in reversed(items):
        anchor = state.anchors.get(item.entry_id) if item.kind in ANCHORS else None
        if anchor is not None and (
            anchor.kind == RESET or (anchor.replaces is None and not anchor.cumulative)
        ):
            return item.index
    return 0


def _accumulate(items: Sequence[Item], selection: Selection, item: Item, anchor: Anchor) -> None:
    selection.ruling = item
    selection.summaries.add(item.entry_id)
    if anchor.replaces is not None:
        # Only what makes a row is replaced: a setting or label in the list gives it no place.
        gone = set(anchor.replaces) & {i.entry_id for i in selection.kept if i.kind in _ROWS}
        first = next((n for n, i in enumerate(selection.kept) if i.entry_id in gone), None)
        rest = [i for i in selection.kept if i.entry_id not in gone]
        at = len(rest) if first is None else first
        selection.kept = [*rest[:at], item, *rest[at:]]
        selection.boundary, selection.missing = None, False
        return
    index_of = {i.entry_id: i.index for i in reversed(items)}
    at, selection.missing = _boundary(index_of, item.index, anchor)
    selection.boundary = at
    # In path order: the summary of an older anchor stands where that anchor does.
    rest = sorted((i for i in selection.kept if i.index >= at), key=lambda i: i.index)
    selection.kept = [item, *rest]


def _boundary(index_of: Mapping[str, int], index: int, anchor: Anchor) -> tuple[int, bool]:
    """Index of the first kept entry; that of the anchor itself where nothing is kept.

    The second value tells an unknown boundary; an absent one, and the anchor's own id, are
    valid ways to keep nothing.
    """
    if anchor.first_kept is None or anchor.first_kept == anchor.entry_id:
        return index, False
    at = index_of.get(anchor.first_kept, index)
    return (at, False) if at < index else (index, True)
