"""A look at all of a file's ids and parents at once, for what one record cannot tell alone.

A file may have millions of entries, so it is held in arrays by row, not in objects: about forty
bytes an entry beside its id.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

from .line import Line
from .links import ROOT, UNKNOWN, resolve_links
from .outlines import MARK, Outline

BRANCHABLE = frozenset({"message", "compaction", "branch_summary"})
"""Types that Tau's one label a session is put on."""

STEPS = 100
STEPS_EACH = 10
"""How far up a path the messages of a compaction are searched for: so many nodes, and so many
more for each message. A file with many compactions must not make the search quadratic."""

_IS_MARK: Final = 1
_IS_MESSAGE: Final = 2
_IS_UNKNOWN: Final = 4
_IS_RING: Final = 8
_ENTRIES: Final = bytes(not flags & _IS_MARK for flags in range(256))
"""From the flags of a row to whether it is an entry."""


class KnownIds(Protocol):
    """The entries that have been read."""

    rows: dict[str, int]
    """Entry id to row."""

    def row_of(self, token: Any, given: bool = True) -> int | None: ...


class Survey:
    """The tree of a file, by rows: its nodes in file order.

    `ids` are their entry ids; `parents` the row of each one's parent, negative for a root;
    `starts` and `ends` their bytes. `branchable` and `other`: the first entry that Tau's label
    may be put on, and the first that is neither label nor leaf. `known`: the rows of the entries
    that have been read, which may grow.
    """

    def __init__(self, known: Mapping[str, int]) -> None:
        self._known = known
        self.ids: list[str] = []
        self.parents: array[int] = array("q")
        self.starts: array[int] = array("q")
        self.ends: array[int] = array("q")
        self.branchable: str | None = None
        self.other: str | None = None
        self._flags = bytearray()
        self._rows: dict[str, int] | None = None
        self._stands: dict[int, int] = {}

    def parent_of(self, row: int) -> str | None:
        """The entry id of a row's parent; None for a root."""
        parent = self.parents[row]
        return None if parent < 0 else self.ids[parent]

    def is_unknown(self, row: int) -> bool:
        """Whether a row names a parent that is not in the file, and was hung elsewhere."""
        return bool(self._flags[row] & _IS_UNKNOWN)

    def is_ring(self, row: int) -> bool:
        """Whether a row was cut off at a ring of parents."""
        return bool(self._flags[row] & _IS_RING)

    def entry_of(self, entry_id: str) -> str | None:
        """The entry that a node is, or stands for: its nearest ancestor that is no mark."""
        at = self._row_of(entry_id)
        if at is None:
            return entry_id
        walked: list[int] = []
        while at >= 0 and at not in self._stands and self._flags[at] & _IS_MARK:
            walked.append(at)
            at = self.parents[at]
        found = self._stands.get(at, at)
        # Remembered for all that were passed, so that a chain of marks is walked once.
        self._stands.update(dict.fromkeys(walked, found))
        return None if found < 0 else self.ids[found]

    def messages_above(self, entry_id: str | None, count: int) -> list[int]:
        """The rows of the last `count` messages on the path to an entry, oldest first."""
        found: list[int] = []
        row = None if entry_id is None else self._row_of(entry_id)
        for _ in range(STEPS + STEPS_EACH * count):
            if row is None or row < 0 or len(found) == count:
                break
            if self._flags[row] & _IS_MESSAGE:
                found.append(row)
            row = self.parents[row]
        found.reverse()
        return found

    def _row_of(self, entry_id: str) -> int | None:
        row = self._known.get(entry_id)
        if row is None:
            if self._rows is None:  # few files need it
                self._rows = {known: row for row, known in enumerate(self.ids)}
            row = self._rows.get(entry_id)
        return row

    # -- making one ------------------------------------------------------------------------

    def add(self, line: Line, outline: Outline, entry_id: str, parent: int) -> None:
        """Add a row."""
        self.ids.append(entry_id)
        self.starts.append(line.start)
        self.ends.append(line.end)
        self.parents.append(parent)
        is_message = outline.type == "message" and outline.taken is not None
        self._flags.append(_IS_MARK * (outline.node == MARK) + _IS_MESSAGE * is_message)
        if self.branchable is None and outline.type in BRANCHABLE:
            self.branchable = entry_id
        if self.other is None and outline.type not in ("label", "leaf"):
            self.other = entry_id

    def resolve(self) -> None:
        """Decide where each row hangs; until then `parents` may say anything that a file can."""
        links = resolve_links(self.parents, self._flags.translate(_ENTRIES))
        self.parents = links.parents
        for row in links.unknown:
            self._flags[row] |= _IS_UNKNOWN
        for row in links.rings:
            self._flags[row] |= _IS_RING


def survey(
    records: Iterable[tuple[Line, Outline, str]],
    ids: KnownIds,
    null_parent: bool,
    placed: Sequence[str | None] = (),
) -> Survey:
    """Survey a file.

    `records`: each node with its line, outline and entry id, in file order. `ids` knows the rows
    of those that have been given, or more; they may be forgotten afterwards. `null_parent`: every
    empty parent is a root. `placed`: the parents of the first rows, which stand on the tape
    already.
    """
    made, row_of = Survey(ids.rows), ids.row_of
    later: array[int] = array("q")
    tokens: list[Any] = []
    """Rows, and the parents that they name, where these have not been read yet."""
    for row, (line, outline, entry_id) in enumerate(records):
        token = outline.parent
        parent: int | None = ROOT
        if row < len(placed):
            parent = ids.rows.get(placed[row] or "", ROOT)
        elif token or (token is not None and not null_parent):
            parent = row_of(token, given=False)
            if parent is None:
                later.append(row)
                tokens.append(token)
        made.add(line, outline, entry_id, ROOT if parent is None else parent)
    for row, token in zip(later, tokens, strict=True):
        found = row_of(token)
        made.parents[row] = UNKNOWN if found is None else found
    made.resolve()
    return made
