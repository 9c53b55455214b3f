"""Where each record of a file goes: its id, its parent, its time, the call it answers, the leaf.

Records are placed in file order, as they are read. Only a record that names a parent that has
not been read yet makes it necessary to look at the whole file first (`survey.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final, Protocol

from ..domain.errors import InvalidValue
from ..domain.heads import Head, Timestamp
from ..domain.identifiers import check_id
from .natives import Natives
from .outlines import LOOSE, MARK, QUIET, ROW, Outline, Place
from .records import RecordFormat
from .survey import Survey

_DIGEST: Final = 16
"""Length of a digest. Unit: bytes."""

LONGEST_ID: Final = 200
"""Longest id that is taken over: a suffix has to fit behind it. Unit: characters."""

FEW: Final = 16
"""Calls of a message that are looked through one by one."""

Report = Callable[[str, str], None]
"""Takes a reason code and a detail."""


class Taken(Protocol):
    """The ids that are taken."""

    def __contains__(self, entry_id: object, /) -> bool: ...
    def __len__(self) -> int: ...


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
    """Gives records their entry ids, in file order. The same file gets the same ids each time.

    A reference means the record that has the id itself, not one that was given it. `natives`: the
    entries of the tape that did not come from the file; their ids are taken.
    """

    def __init__(self, session_id: str, natives: Natives) -> None:
        self._session_id = session_id
        self.natives = natives
        self.rows: dict[str, int] = {}
        """Entry id to its row: 0, 1, … in file order."""
        self._digests = bytearray()
        """The digests of the records, by row."""
        self._odd: dict[tuple[str, Any], str] = {}
        """Ids that could not be taken over, to those that were given instead."""
        self.given: dict[str, None] = {}
        """Entry ids that no record has itself."""
        self._more: dict[tuple[str, Any, str], int] = {}
        """Id and digest of records whose id an earlier one has, to their rows."""

    def __contains__(self, entry_id: object) -> bool:
        """Whether an entry of the tape or of the file has this id."""
        return entry_id in self.rows or entry_id in self.natives.entries

    def __len__(self) -> int:
        return len(self.rows)

    def lookup(self, token: Any, given: bool = True) -> str | None:
        """The entry that a reference means; None where no record so far has that id. Where none
        has it, it is the entry that was given it; not without `given`."""
        if not _hashable(token):
            return None
        if isinstance(token, str):
            if token in self.rows and token not in self.given:
                return token
            if token in self.natives.entries:
                return token
            if token in self.natives.stands_for:
                return self.natives.stands_for[token]
        found = self._odd.get(_key(token))
        if found is None and given and isinstance(token, str) and token in self.given:
            return token
        return found

    def row_of(self, token: Any, given: bool = True) -> int | None:
        """The row of the entry that a reference means; -1 for one that is not of the file."""
        entry_id = self.lookup(token, given)
        return None if entry_id is None else self.rows.get(entry_id, -1)

    def put(self, entry_id: str, digest: str) -> None:
        """Take note of a new entry id."""
        self.rows[entry_id] = len(self.rows)
        self._digests += bytes.fromhex(digest)

    def adopt(self, entry_id: str, own_id: Any, digest: str) -> None:
        """Take note of a record that has its entry id already."""
        if entry_id not in self.rows:
            self.put(entry_id, digest)
        if own_id != entry_id:
            self._give(entry_id, own_id, digest)

    def _give(self, entry_id: str, own_id: Any, digest: str) -> None:
        """Take note of a record whose entry id is not its own."""
        self.given[entry_id] = None
        if own_id is None or not _hashable(own_id):
            return
        if self.lookup(own_id, given=False) is None:
            self._odd[_key(own_id)] = entry_id
        else:
            self._more.setdefault((*_key(own_id), digest), self.rows[entry_id])

    def repeats(self, own_id: Any, digest: str, before: int | None = None) -> bool:
        """Whether a record with this id and the same content came before (before this row)."""
        row = self.row_of(own_id, given=False)
        if row is None:
            return False
        if row < 0 or self._digests[row * _DIGEST : (row + 1) * _DIGEST] != bytes.fromhex(digest):
            row = self._more.get((*_key(own_id), digest)) if self._more else None
        return row is not None and (before is None or row < before)

    @contextmanager
    def looking_ahead(self) -> Iterator[None]:
        """What is assigned within is forgotten at the end."""
        sizes = [(held, len(held)) for held in (self.rows, self._odd, self.given, self._more)]
        rows = len(self.rows)
        try:
            yield
        finally:
            # The last ones in are the first ones out.
            for held, size in sizes:
                while len(held) > size:
                    held.popitem()
            del self._digests[rows * _DIGEST :]

    def assign(self, own_id: Any, line: int, digest: str, report: Report) -> str:
        """A new entry id."""
        if usable_id(own_id):
            entry_id = str(own_id)
            if entry_id in self:
                entry_id = _free(f"{entry_id}~{line}", self)
                report("duplicate_id", f"{own_id} is now {entry_id}")
        else:
            entry_id = derived_id(self._session_id, line, self)
            reason = "id_missing" if own_id is None else "id_unusable"
            report(reason, f"the record is now {entry_id}")
        self.adopt(entry_id, own_id, digest)
        return entry_id


def derived_id(session_id: str, line: int, taken: Taken) -> str:
    """The id of a record that has none: the same at each reading, and none that is taken."""
    made = sha256(f"{session_id}:{line}".encode("utf-8", "surrogatepass")).hexdigest()
    length = 8
    while made[:length] in taken and length < len(made):
        length += 8
    return _free(made[:length], taken)


def _free(wanted: str, taken: Taken) -> str:
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
        self._calls: dict[str, Collection[str]] = {}
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
        self._ids.adopt(head.entry_id, own_id, head.record or "00" * _DIGEST)
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

    def pass_by(self, position: int, head: Head, later: Collection[str | None] = ()) -> None:
        """Take note of an event that did not come from the file. `later`: entries of the file
        before it on the tape that have not been adopted yet."""
        if position == 1:
            return
        self.frozen = True
        natives = self._ids.natives
        known = head.entry_id in self._ids.rows or head.entry_id in later
        if natives.take(position, head, known) and head.entry_id is not None:
            role, calls, owner = head.role, head.call_ids, head.owner
            self._remember(head.entry_id, head.parent_id, False, None, role, calls, owner)
        elif head.role == "assistant" and head.call_ids and head.message_id is not None:
            self._turn[head.message_id] = head.message_id
            self._calls[head.message_id] = _held(head.call_ids)

    # -- what is new -----------------------------------------------------------------------

    def place(self, outline: Outline, place: Place, report: Report) -> None:
        """Fill in where the record goes. It must not be one that repeats an earlier one."""
        self._timestamp(outline, place, report)
        if not is_node(outline):
            return
        node = outline.node
        entry_id = self._ids.assign(outline.own_id, place.line, place.record, report)
        place.entry_id = self._shared(entry_id)
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
        """The entry ids so far. It goes on to change, as all three do."""
        return self._ids.rows

    @property
    def native_ids(self) -> Collection[str]:
        """The ids of the tape's entries that did not come from the file."""
        return self._ids.natives.entries

    @property
    def given_ids(self) -> Collection[str]:
        """Those of `known_ids` that no record has itself."""
        return self._ids.given

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
        if self._survey is not None:
            entry_id = self._shared(entry_id)
        self._ids.put(entry_id, digest)
        self._time = time
        owner = None
        if role == "tool_result":
            owner = self._owner(parent_id, calls)
            if owner is not None:
                self._turn[entry_id] = owner
        elif role == "assistant" and calls:
            self._turn[entry_id] = entry_id
            self._calls[entry_id] = _held(calls)
        if not self.frozen:
            self._leaf = entry_id
        self.placed.append(parent_id)
        self._last = entry_id
        return owner, not self.frozen

    def known(self, token: Any) -> str | None:
        """The entry that a reference means, among the records so far."""
        return self._ids.lookup(token)

    def _shared(self, entry_id: str) -> str:
        """The same id, as the survey holds it: one string in memory, not two."""
        ids, row = self._survey.ids if self._survey else (), len(self.placed)
        return ids[row] if row < len(ids) and ids[row] == entry_id else entry_id

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
        found = self._ids.lookup(token, given=False)
        if found is not None and found != place.entry_id:
            place.parent_id = found
            return
        if found is not None:
            report("self_parent", f"{token}")
            return
        # Not read yet, or nowhere: only the whole file can tell.
        row = len(self.placed)
        survey = self._survey_of(row + 1)
        place.parent_id = survey.parent_of(row)
        if survey.is_unknown(row):
            place.unknown_parent = True
            under = f"hangs under {place.parent_id}" if place.parent_id else "is a root"
            report("unknown_parent", f"{token!s:.200} is not in the file; the record {under}")
        elif survey.is_ring(row):
            report("ring", f"{place.entry_id} is now a root")

    def _entry_of(self, parent_id: str | None) -> str | None:
        """The entry that a parent is, or stands for."""
        if parent_id is None or parent_id in self._stands:
            return None if parent_id is None else self._stands[parent_id]
        if self._survey is None or parent_id in self._ids.rows:
            return parent_id
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
            self._calls[entry_id] = _held(calls)
        elif owner is not None:
            self._turn[entry_id] = owner


def _held(calls: tuple[str, ...]) -> Collection[str]:
    """The calls of a message, to look for one of them: as a set, where they are many."""
    return calls if len(calls) <= FEW else frozenset(calls)


_MARK_KINDS: Final = frozenset({"labelled", "session_info_changed", "usage_recorded", "leaf_moved"})
