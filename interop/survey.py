"""A look at all of a file's ids and parents at once, for what one record cannot tell alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .lines import Line
from .links import ROOT, UNKNOWN, resolve_links
from .records import LOOSE, MARK, Outline

BRANCHABLE = frozenset({"message", "compaction", "branch_summary"})
"""Types that Tau's one label a session is put on."""


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

    def entry_of(self, entry_id: str) -> str | None:
        """The entry that a node is, or stands for: its nearest ancestor that is no mark."""
        seen: set[str] = set()
        at: str | None = entry_id
        while at is not None and at not in seen:
            seen.add(at)
            row = self.rows.get(at)
            if row is None or row not in self.marks:
                return at
            at = self.parents[row]
        return None

    def messages_above(self, entry_id: str | None, count: int) -> list[int]:
        """The rows of the last `count` messages on the path to an entry, oldest first."""
        found: list[int] = []
        seen: set[str] = set()
        while entry_id is not None and entry_id not in seen and len(found) < count:
            seen.add(entry_id)
            row = self.rows.get(entry_id)
            if row is None:
                break
            if row in self.messages:
                found.append(row)
            entry_id = self.parents[row]
        found.reverse()
        return found


def survey(
    records: Iterable[tuple[Line, Outline, str, Any]],
    lookup: Callable[[Any], str | None],
    null_parent: bool,
    placed: int,
    placed_parent: Callable[[str], str | None],
) -> Survey:
    """Survey a file.

    `records`: each node with its line, outline, entry id and parent token, in file order.
    `lookup` finds the entry that a token means, once all are read. The first `placed` rows are
    on the tape already, where `placed_parent` says what they hang under.
    """
    made = Survey()
    tokens: list[Any] = []
    for line, outline, entry_id, token in records:
        row = len(made.ids)
        made.ids.append(entry_id)
        made.rows[entry_id] = row
        made.starts.append(line.start)
        made.ends.append(line.end)
        tokens.append(token)
        _classify(made, row, outline, entry_id)
    links = resolve_links(
        [_row_of(made, row, token, lookup, null_parent) for row, token in enumerate(tokens)]
        if placed == 0
        else [
            _placed_row(made, entry_id, placed_parent)
            if row < placed
            else _row_of(made, row, tokens[row], lookup, null_parent)
            for row, entry_id in enumerate(made.ids)
        ],
        [row not in made.marks for row in range(len(made.ids))],
    )
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
    if made.other is None and outline.type not in ("label", "leaf") and outline.node != LOOSE:
        made.other = entry_id


def _row_of(
    made: Survey, row: int, token: Any, lookup: Callable[[Any], str | None], null_parent: bool
) -> int:
    if token is None or (null_parent and not token):
        return ROOT
    found = lookup(token)
    return UNKNOWN if found is None else made.rows.get(found, UNKNOWN)


def _placed_row(
    made: Survey, entry_id: str, placed_parent: Callable[[str], str | None]
) -> int:
    parent = placed_parent(entry_id)
    return ROOT if parent is None else made.rows.get(parent, ROOT)
