"""Where each record of a file goes: its id, its parent, its time, the call it answers, the leaf.

Records are placed in file order, as they are read. Only a record that names a parent that has
not been read yet makes it necessary to look at the whole file first (`survey.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from hashlib import sha256
from typing import Any, Final

from ..domain.errors import InvalidValue
from ..domain.heads import Head, Timestamp
from ..domain.identifiers import check_id
from .outlines import LOOSE, MARK, QUIET, ROW, Outline, Place
from .records import RecordFormat
from .survey import Survey

LONGEST_ID: Final = 200
"""Longest id that is taken over: a suffix has to fit behind it. Unit: characters."""

Report = Callable[[str, str], None]
"""Takes a reason code and a detail."""


def usable_id(own_id: Any) -> bool:
    """Whether an id of a record can be an entry id."""
    if not isinstance(own_id, str) or len(own_id) > LONGEST_ID:
        return False
    try:
        check_id(own_id, "id")
    except InvalidValue:
        return False
    return True


def is_node(outline: Outline) -> bool:
    """Whether a record is a node of the tree. One that becomes foreign needs a usable id."""
    if outline.node == LOOSE:
        return False
    return outline.kind is not None or usable_id(outline.own_id)


class Ids:
    """Gives records their entry ids, in file order. The same file gets the same ids each time."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.first: dict[str, int] = {}
        """Entry id to the digest of its record."""
        self._odd: dict[tuple[str, Any], str] = {}
        """Ids that could not be taken over, to those that were given instead."""

    def lookup(self, token: Any) -> str | None:
        """The entry that a reference means; None where no record so far has that id."""
        if isinstance(token, str) and token in self.first:
            return token
        return self._odd.get(_key(token)) if _hashable(token) else None

    def adopt(self, entry_id: str, own_id: Any, digest: str) -> None:
        """Take note of a record that has its entry id already."""
        self.first.setdefault(entry_id, int(digest, 16))
        if own_id != entry_id and _hashable(own_id) and self.lookup(own_id) is None:
            self._odd[_key(own_id)] = entry_id

    def repeats(self, own_id: Any, digest: str) -> bool:
        """Whether a record with this id and the same content came before."""
        entry_id = self.lookup(own_id)
        return entry_id is not None and self.first[entry_id] == int(digest, 16)

    def assign(self, own_id: Any, line: int, digest: str, report: Report) -> str:
        """A new entry id."""
        if usable_id(own_id):
            entry_id = str(own_id)
            if entry_id in self.first:
                entry_id = _free(f"{entry_id}~{line}", self.first)
                report("duplicate_id", f"{own_id} is now {entry_id}")
        else:
            missing = own_id is None
            entry_id = derived_id(self._session_id, line, self.first)
            report("id_missing" if missing else "id_unusable", f"the record is now {entry_id}")
            if not missing and _hashable(own_id):
                self._odd.setdefault(_key(own_id), entry_id)
        self.first[entry_id] = int(digest, 16)
        return entry_id


def derived_id(session_id: str, line: int, taken: Collection[str]) -> str:
    """The id of a record that has none: the same at each reading, and none that is taken."""
    made = sha256(f"{session_id}:{line}".encode("utf-8", "surrogatepass")).hexdigest()
    length = 8
    while made[:length] in taken and length < len(made):
        length += 8
    return _free(made[:length], taken)


def _free(wanted: str, taken: Collection[str]) -> str:
    """`wanted`, or, where that is taken (records glued on one line), with a number."""
    entry_id, number = wanted, len(taken)
    while entry_id in taken:
        entry_id, number = f"{wanted}~{number}", number + 1
    return entry_id


def _hashable(token: Any) -> bool:
    # NaN equals nothing, itself included: it can be no id.
    return isinstance(token, str | int) or (isinstance(token, float) and not math.isnan(token))


def _key(token: Any) -> tuple[str, Any]:
    """Ids are compared strictly: 2, "2" and true are three."""
    return type(token).__name__, token


class Placer:
    """Places the records of one file.

    `survey` makes a survey of the whole file when it is first needed.
    """

    def __init__(
        self,
        form: RecordFormat,
        ids: Ids,
        survey: Callable[[], Survey],
        started: Timestamp,
    ) -> None:
        self._form = form
        self._ids = ids
        self._make_survey = survey
        self._survey: Survey | None = None
        self.frozen = False
        """The session was gone on with here, so nothing of the file moves its leaf."""
        self._time = started
        self._leaf: str | None = None
        self._stands: dict[str, str | None] = {}
        """Mark to the entry that it stands for."""
        self._turn: dict[str, str] = {}
        """Result or mark to the assistant message that it follows directly."""
        self._calls: dict[str, tuple[str, ...]] = {}
        """Assistant message to its calls."""
        self.placed: list[str | None] = []
        """The parents of the rows so far: on the tape already, or about to be."""
        self._last = ""

    # -- what is on the tape already -------------------------------------------------------

    def adopt(self, head: Head, own_id: Any) -> None:
        """Take note of a record that was imported before; the tape says where it stands."""
        self._time = head.timestamp
        if head.entry_id is None:
            return
        self.placed.append(head.parent_id)
        self._ids.adopt(head.entry_id, own_id, head.record or "0")
        if head.takes_leaf:
            self._leaf = head.entry_id
        is_mark = head.kind in _MARK_KINDS
        self._remember(
            head.entry_id,
            head.parent_id,
            is_mark,
            head.stands_for,
            head.role,
            head.call_ids,
            head.owner,
        )

    # -- what is new -----------------------------------------------------------------------

    def place(self, outline: Outline, place: Place, report: Report) -> None:
        """Fill in where the record goes. It must not be one that repeats an earlier one."""
        self._timestamp(outline, place, report)
        if not is_node(outline):
            return
        node = outline.node
        place.entry_id = self._ids.assign(outline.own_id, place.line, place.record, report)
        self._parent(outline, place, report)
        if node == MARK:
            place.stands_for = self._entry_of(place.parent_id)
        elif not self.frozen and (
            node == ROW or (node == QUIET and self._entry_of(place.parent_id) == self._leaf)
        ):
            place.takes_leaf = True
            self._leaf = place.entry_id
        role: str | None = None
        calls: tuple[str, ...] = ()
        if outline.taken is not None:
            role, calls = outline.taken.role, outline.taken.call_ids
            if role == "tool_result":
                place.owner = self._owner(place.parent_id, calls)
        self._remember(
            place.entry_id,
            place.parent_id,
            node == MARK,
            place.stands_for,
            role,
            calls,
            place.owner,
        )
        self.placed.append(place.parent_id)

    @property
    def known_ids(self) -> Collection[str]:
        """The entry ids so far. It goes on to change."""
        return self._ids.first

    def put(
        self,
        entry_id: str,
        parent_id: str | None,
        time: Timestamp,
        digest: str,
        role: str,
        calls: tuple[str, ...],
    ) -> tuple[str | None, bool]:
        """Take note of a message about which there is nothing to decide or to report: its id is
        new and usable, its parent known. Its owner, and whether it takes the leaf.
        """
        if parent_id == self._last:
            parent_id = self._last  # one string in memory, not two
        owner = None
        if role == "tool_result":
            owner = self._owner(parent_id, calls)
            if owner is not None:
                self._turn[entry_id] = owner
        elif role == "assistant" and calls:
            self._turn[entry_id] = entry_id
            self._calls[entry_id] = calls
        self._ids.first[entry_id] = int(digest, 16)
        self._time = time
        if not self.frozen:
            self._leaf = entry_id
        self.placed.append(parent_id)
        self._last = entry_id
        return owner, not self.frozen

    def known(self, token: Any) -> str | None:
        """The entry that a reference means, among the records so far."""
        return self._ids.lookup(token)

    def survey(self) -> Survey:
        """The survey of the whole file."""
        return self._survey_of(len(self.placed))

    def _survey_of(self, rows: int) -> Survey:
        """A survey with at least so many rows: a file that is followed outgrows the first one."""
        if self._survey is None or len(self._survey.ids) < rows:
            self._survey = self._make_survey()
        return self._survey

    def _timestamp(self, outline: Outline, place: Place, report: Report) -> None:
        record = outline.record if isinstance(outline.record, dict) else {}
        token = record.get("timestamp")
        if self._form.is_time(token):
            self._time = token
        elif outline.node != LOOSE:
            report("time_unreadable" if "timestamp" in record else "time_missing", "")
        place.timestamp = self._time

    def _parent(self, outline: Outline, place: Place, report: Report) -> None:
        token = outline.parent
        if token is None or (self._form.NULL_PARENT and not token):
            return  # a root; Pi takes every empty value for none
        found = self._ids.lookup(token)
        if found is not None and found != place.entry_id:
            place.parent_id = found
            return
        if found is not None:
            report("self_parent", f"{token}")
            return
        # Not read yet, or nowhere: only the whole file can tell.
        row = len(self.placed)
        survey = self._survey_of(row + 1)
        place.parent_id = survey.parents[row]
        if row in survey.unknown:
            place.unknown_parent = True
            under = f"hangs under {place.parent_id}" if place.parent_id else "is a root"
            report("unknown_parent", f"{token!s:.200} is not in the file; the record {under}")
        elif row in survey.rings:
            report("ring", f"{place.entry_id} is now a root")

    def _entry_of(self, parent_id: str | None) -> str | None:
        """The entry that a parent is, or stands for."""
        if parent_id is None or self._survey is None:
            return None if parent_id is None else self._stands.get(parent_id, parent_id)
        if parent_id in self._stands:
            return self._stands[parent_id]
        return self._survey.entry_of(parent_id)

    def _owner(self, parent_id: str | None, calls: tuple[str, ...]) -> str | None:
        """The message whose call a result answers, where it follows it directly."""
        turn = None if parent_id is None else self._turn.get(parent_id)
        if turn is None or not calls or calls[0] not in self._calls.get(turn, ()):
            return None
        return turn

    def _remember(
        self,
        entry_id: str,
        parent_id: str | None,
        is_mark: bool,
        stands_for: str | None,
        role: str | None,
        calls: tuple[str, ...],
        owner: str | None,
    ) -> None:
        if is_mark:
            self._stands[entry_id] = stands_for
            turn = None if parent_id is None else self._turn.get(parent_id)
            if turn is not None:
                self._turn[entry_id] = turn
        elif role == "assistant" and calls:
            self._turn[entry_id] = entry_id
            self._calls[entry_id] = calls
        elif owner is not None:
            self._turn[entry_id] = owner


_MARK_KINDS: Final = frozenset({"labelled", "session_info_changed", "usage_recorded", "leaf_moved"})
