"""Which part of a path the ruling anchor leaves for the context.

The newest anchor on the path rules, unless a summary reset follows it there. It puts its summary
in front; then come the entries from its boundary up to it, then all that follows. Older anchors
inside the kept range contribute nothing. Two older shapes are reproduced: `cumulative` anchors
keep the rows that older anchors left after the boundary (Tau), and anchors that list what they
replace, entry by entry.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    if start is None:
        chain = [item for item in items if item.kind in ANCHORS]
        selection = Selection([])
        todo = 0
    else:
        first = items[start]
        chain = [item for item in items[start + 1 :] if item.kind in ANCHORS]
        selection = _restarted(state, items, first)
        todo = start + 1
    for item in chain:
        anchor = state.anchors.get(item.entry_id)
        selection.kept.extend(i for i in items[todo : item.index] if i.kind not in ANCHORS)
        todo = item.index + 1
        if anchor is not None:
            _accumulate(items, selection, item, anchor)
    selection.kept.extend(i for i in items[todo:] if i.kind not in ANCHORS)
    return selection


def _last_restart(state: State, items: Sequence[Item]) -> int | None:
    """Index of the last anchor that looks at entries alone: nothing before it matters."""
    for item in reversed(items):
        anchor = state.anchors.get(item.entry_id) if item.kind in ANCHORS else None
        if anchor is not None and (
            anchor.kind == RESET or (anchor.replaces is None and not anchor.cumulative)
        ):
            return item.index
    return None


def _restarted(state: State, items: Sequence[Item], item: Item) -> Selection:
    anchor = state.anchors.get(item.entry_id)
    before = [i for i in items[: item.index] if i.kind not in ANCHORS]
    if anchor is None or anchor.kind == RESET:
        return Selection(before)
    at, missing = boundary_index(items, item.index, anchor)
    kept = [item, *(i for i in before if i.index >= at)]
    return Selection(kept, item, at, missing, {item.entry_id})


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
    at, selection.missing = boundary_index(items, item.index, anchor)
    selection.boundary = at
    # In path order: the summary of an older anchor stands where that anchor does.
    rest = sorted((i for i in selection.kept if i.index >= at), key=lambda i: i.index)
    selection.kept = [item, *rest]


def boundary_index(items: Sequence[Item], index: int, anchor: Anchor) -> tuple[int, bool]:
    """Index of the first kept entry; that of the anchor itself where nothing is kept.

    The second value tells an unknown boundary; an absent one, and the anchor's own id, are
    valid ways to keep nothing.
    """
    if anchor.first_kept is None or anchor.first_kept == anchor.entry_id:
        return index, False
    for item in items[:index]:
        if item.entry_id == anchor.first_kept:
            return item.index, False
    return index, True
