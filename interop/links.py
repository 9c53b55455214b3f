"""Parent links as files have them, made into a tree.

A file may name parents that come later, that do not exist, that are the entry itself, or that
lead round in a ring. The records stay as they are; here it is decided where each entry hangs:

1. An entry that is its own parent becomes a root.
2. Rings are cut: the first member in the file becomes a root.
3. Unknown parents, in file order, against the links resolved so far: the entry hangs under the
   nearest earlier entry that is not its own descendant; without one it is a root.

Iterative, and linear but for the inverse Ackermann function of the union-find.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

ROOT: Final = -1
"""As a parent's row: there is none."""

UNKNOWN: Final = -2
"""As a parent's row: one is named, but no entry of the file has that id."""


@dataclass(slots=True)
class Links:
    """Where the rows hang. `parents` holds the row of each row's parent, or `ROOT`.

    The rows that had to be changed, in file order: `self_parents`, `rings` (the first members),
    `unknown`.
    """

    parents: array[int]
    self_parents: list[int] = field(default_factory=list)
    rings: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)


def resolve_links(parents: Sequence[int], is_entry: Sequence[int] | None = None) -> Links:
    """Decide where each row hangs.

    `parents[i]` is the row of the i-th row's parent, `ROOT`, or `UNKNOWN`. `is_entry[i]` is
    false for rows that nothing may be hung under on our decision (marks); left out, none are.
    """
    links = Links(array("q", parents))
    for row, parent in enumerate(parents):
        if parent == row:
            links.parents[row] = ROOT
            links.self_parents.append(row)
    _cut_rings(links)
    links.unknown = [row for row, parent in enumerate(links.parents) if parent == UNKNOWN]
    if links.unknown:
        _hang_unknown(links, is_entry)
    return links


def _cut_rings(links: Links) -> None:
    """Every row is walked once; a walk that meets itself has found a ring."""
    parents = links.parents
    walk_of = array("q", bytes(8 * len(parents)))  # 0: not seen, else the number of its walk
    for start in range(len(parents)):
        row, number = start, start + 1
        while row >= 0 and walk_of[row] == 0:
            walk_of[row] = number
            row = parents[row]
        if row >= 0 and walk_of[row] == number:
            first, member = row, parents[row]
            while member != row:
                first = min(first, member)
                member = parents[member]
            links.rings.append(first)
            parents[first] = ROOT
    links.rings.sort()


class _Sets:
    """Union-find over rows; the representative of a set is chosen by the caller."""

    def __init__(self, size: int) -> None:
        self.up = array("q", range(size))

    def find(self, row: int) -> int:
        up = self.up
        top = row
        while up[top] != top:
            top = up[top]
        while up[row] != top:
            up[row], row = top, up[row]
        return top


def _hang_unknown(links: Links, is_entry: Sequence[int] | None) -> None:
    """The representative of a row's tree is its root, and a row with an unknown parent is one:
    so an earlier entry is its descendant exactly if its representative is that row."""
    parents = links.parents
    size = len(parents)
    trees = _Sets(size)
    for row, parent in enumerate(parents):
        if parent >= 0:
            trees.up[row] = parent
    # Entries that lie side by side in one tree stay so for good (trees only grow together), and
    # are passed over in one step: `runs` leads to the first of them.
    candidates = array("q", (row for row in range(size) if is_entry is None or is_entry[row]))
    runs = _Sets(len(candidates))
    earlier = 0
    for row in links.unknown:
        while earlier < len(candidates) and candidates[earlier] < row:
            earlier += 1
        at = earlier - 1
        while at >= 0 and trees.find(candidates[at]) == row:
            first = runs.find(at)
            if first > 0 and trees.find(candidates[first - 1]) == row:
                runs.up[first] = first - 1
                at = first
            else:
                at = first - 1
        if at < 0:
            parents[row] = ROOT
        else:
            parents[row] = candidates[at]
            trees.up[row] = trees.find(candidates[at])


__all__ = ["ROOT", "UNKNOWN", "Links", "resolve_links"]
