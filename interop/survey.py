"""A look at all of a file's ids and parents at once, for what one record cannot tell alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .line import Line
from .links import ROOT, UNKNOWN, resolve_links
from .outlines import MARK, Outline

BRANCHABLE = frozenset({"message", "compaction", "branch_summary"})
"""Types that Tau's one label a session is put on."""

STEPS = 100
STEPS_EACH = 10
"""How far up a path the messages of a compaction are searched for: so many nodes, and so many
more for each message. A file with many compactions must not make the search quadratic."""


@dataclass
class Survey:
    """The tree of a file, by rows: its nodes in file order.

    `parents[row]` is the entry id of the row's parent, None for a root. `unknown` and `rings`
    hold the rows that were re-hung, or cut. `starts` and `ends` are the bytes of each row.
    """

    ids: list[str] = field(default_factory=list)
    parents: list[str | None] = field(default_factory=list)
    unknown: set[int] = field(default_factory=set)
    rings: set[int] = field(default_factory=set)
    marks: set[int] = field(default_factory=set)
    messages: set[int] = field(default_factory=set)
    rows: dict[str, int] = field(default_factory=dict)
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    branchable: str | None = None
    other: str | None = None
    _stands: dict[str, str | None] = field(default_factory=dict)

    def entry_of(self, entry_id: str) -> str | None:
        """The entry that a node is, or stands for: its nearest ancestor that is no mark."""
        walked: list[str] = []
        at: str | None = entry_id
        while at is not None and at not in self._stands:
            row = self.rows.get(at)
            if row is None or row not in self.marks:
                break
            walked.append(at)
            at = self.parents[row]
        found = at if at is None else self._stands.get(at, at)
        # Remembered for all that were passed, so that a chain of marks is walked once.
        self._stands.update(dict.fromkeys(walked, found))
        return found

    def messages_above(self, entry_id: str | None, count: int) -> list[int]:
        """The rows of the last `count` messages on the path to an entry, oldest first."""
        found: list[int] = []
        for _ in range(STEPS + STEPS_EACH * count):
            row = None if entry_id is None else self.rows.get(entry_id)
            if row is None or len(found) == count:
                break
            if row in self.messages:
                found.append(row)
            entry_id = self.parents[row]
        found.reverse()
        return found


def survey(
    records: Iterable[tuple[Line, Outline, str]],
    lookup: Callable[[Any], str | None],
    null_parent: bool,
    placed: Sequence[str | None] = (),
) -> Survey:
    """Survey a file.

    `records`: each node with its line, outline and entry id, in file order. `lookup` finds the
    entry that a reference means, once all are read. `null_parent`: every empty parent is a root.
    `placed`: the parents of the first rows, which stand on the tape already.
    """
    made = Survey()
    parents = array("q")
    later: dict[int, Any] = {}
    """Row to the parent that it names, where that has not been read yet."""
    for line, outline, entry_id in records:
        row = len(made.ids)
        made.ids.append(entry_id)
        made.rows[entry_id] = row
        made.starts.append(line.start)
        made.ends.append(line.end)
        token = outline.parent
        known = made.rows.get(token) if isinstance(token, str) and token else None
        if known is None and token is not None:
            later[row] = token
        parents.append(ROOT if known is None else known)
        _classify(made, row, outline, entry_id)
    for row, token in later.items():
        if token or not null_parent:
            found = lookup(token)
            parents[row] = UNKNOWN if found is None else made.rows.get(found, UNKNOWN)
    for row, parent in enumerate(placed[: len(parents)]):
        parents[row] = ROOT if parent is None else made.rows.get(parent, ROOT)
    links = resolve_links(parents, [row not in made.marks for row in range(len(made.ids))])
    made.parents = [None if parent < 0 else made.ids[parent] for parent in links.parents]
    made.unknown = set(links.unknown)
    made.rings = set(links.rings)
    return made


def _classify(made: Survey, row: int, outline: Outline, entry_id: str) -> None:
    if outline.node == MARK:
        made.marks.add(row)
    if outline.type == "message" and outline.taken is not None:
        made.messages.add(row)
    if made.branchable is None and outline.type in BRANCHABLE:
        made.branchable = entry_id
    if made.other is None and outline.type not in ("label", "leaf"):
        made.other = entry_id
