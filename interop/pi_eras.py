"""Pi's older versions: their records as version 3 has them, and back.

Version 1 has no ids: the file is one line of history, a compaction names the first kept entry by
its index, and the header may hold a model and a thinking level. Version 2 calls the role of an
extension's message `hookMessage`. The newest release of the tool rewrites such a file when it
opens it. Here the file stays as it is, and each record is read as what that release would have
made of it, with three differences:

* An id that a record lacks is made from the session's id and the record's line, as for any record
  without one (`placing.py`). The tool makes random ones at each opening.
* A record that has an id, or names its parent, keeps them, whatever the header says. The tool
  gives every record of a file without a version new ones, and loses labels and boundaries.
* Lines that the tool skips may still be records (glued ones, say); an index counts those too.

A record without an id or a parent hangs under the one before it in the file. The header is kept
as it is (`extra` of the session's first event), the model and thinking level in it too: they say
nothing to the newest release, and nothing here.

What is stored is the event of the version 3 record. So `PI.record_of(head, body)`, the inverse
for all of Pi, gives the **version 3 record**: an export needs no more than that. How the record
of the file differed stands in `extra["pi"]["older"]` of the body, and `original_of(head, body)`
gives **the record as it was**. `older` is left out where the two are equal; else it has

* `version`: 1 or 2;
* `absent`: fields that only the version 3 record has;
* `fields`: fields that the record of the file has, or has with another value;
* `role`: the message's role in the file, where it was another;
* `record`: the whole record of the file, where all this would not give it back exactly.

`newest_header` says what the header of an exported file has to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from ..domain.drafts import Draft
from ..domain.heads import Head
from .line import Line
from .outlines import Outline, Place
from .pi import PI, VERSION, PiFormat, is_header
from .placing import derived_id
from .raw import record_digest
from .times import is_number

HOOK_ROLE: Final = "hookMessage"
"""What versions 1 and 2 call the role `custom`."""

_INDEX: Final = "firstKeptEntryIndex"
_BOUNDARY: Final = "firstKeptEntryId"


class Older(dict[str, Any]):
    """A record as the file has it. `newest` is what it is in version 3."""

    __slots__ = ("newest",)

    def __init__(self, record: dict[str, Any], newest: dict[str, Any]) -> None:
        super().__init__(record)
        self.newest = newest


class PiOlder(PiFormat):
    """Reads the records of one file of an older version. `session_id`: that file's."""

    VERSION: ClassVar[int] = 0

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id

    def own_id(self, record: Any) -> Any:
        """The id that the record has in version 3."""
        return super().own_id(record.newest if isinstance(record, Older) else record)

    def outline(self, record: Any) -> Outline:
        """As of the version 3 record, with how the file's own differs from it."""
        if not isinstance(record, Older):
            return super().outline(record)
        outline = super().outline(record.newest)
        outline.older = _difference(self.VERSION, record, record.newest)
        return outline

    def draft(self, outline: Outline, place: Place) -> Draft:
        """The event of the version 3 record."""
        made = super().draft(outline, place)
        if outline.older is not None:
            made.body.extra[self.NAME]["older"] = outline.older
        return made


class PiSecond(PiOlder):
    """Version 2: as version 3, but for the name of one role. It reads version 3 as well."""

    VERSION = 2

    def lines(self, reader: Iterable[Line]) -> Iterator[Line]:
        """The lines, each record with its newer form."""
        for line in reader:
            newest = _renamed(line.value)
            if newest is not line.value:
                line.value = Older(line.value, newest)
            yield line


class PiFirst(PiOlder):
    """Version 1: no ids, one line of history."""

    VERSION = 1

    def is_record(self, value: Any) -> bool:
        """Whether a value looks like a record: those of this version have no ids."""
        return (
            isinstance(value, dict)
            and "timestamp" in value
            and (value.get("type") in self.KINDS or is_header(value))
        ) or super().is_record(value)

    def lines(self, reader: Iterable[Line]) -> Iterator[Line]:
        """The lines, each record with its newer form."""
        chain = _Chain(self._session_id)
        for line in reader:
            if line.has_value:
                chain.read(line)
            yield line


class _Chain:
    """The records of a file in their order: which id each has, and what the last one was."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._last: Any = None
        self._by_index: list[Any] = []
        """Ids by the index that a compaction may name; the header has one too."""
        self._taken: set[str] = set()
        self._own: dict[Any, str] = {}
        """Ids that records of the file have themselves, to the digest of the first of each."""

    def read(self, line: Line) -> None:
        """Give the record of the next line its newer form."""
        record = line.value
        if not isinstance(record, dict) or is_header(record):
            self._by_index.append(None)
            return
        newest = dict(_renamed(record))
        own_id = record.get("id")
        if not isinstance(own_id, str | int):
            own_id = None
        entry_id = self._id(line, own_id)
        if own_id is None:
            newest["id"] = entry_id
        if "parentId" not in record:
            newest["parentId"] = self._last
        self._by_index.append(entry_id)
        if record.get("type") == "compaction" and is_number(record.get(_INDEX)):
            self._boundary(line, newest)
        if entry_id is not None:
            self._last = entry_id
        line.value = Older(record, newest)

    def _id(self, line: Line, own_id: Any) -> Any:
        """The id by which a record is found; None for one that repeats an earlier one."""
        if own_id is None:
            entry_id: Any = derived_id(self._session_id, line.number, self._taken)
        else:
            digest = record_digest(line.value, line.raw)
            first = self._own.setdefault(own_id, digest)
            if first == digest and own_id in self._taken:
                return None
            entry_id = own_id if first == digest else f"{own_id}~{line.number}"
        self._taken.add(entry_id)
        return entry_id

    def _boundary(self, line: Line, newest: dict[str, Any]) -> None:
        """The id of the entry at an index. One after the compaction has none yet, and counts for
        nothing, as with the tool."""
        index = newest.pop(_INDEX)
        found = None
        if index == int(index) and 0 <= index < len(self._by_index):
            found = self._by_index[int(index)]
        if found is None:
            line.notes = (*line.notes, ("boundary_unknown", f"entry number {index!s:.40}"))
        else:
            newest[_BOUNDARY] = found


def _renamed(record: Any) -> Any:
    """The record with its message's role as it is called now; the same object where it is."""
    message = record.get("message") if isinstance(record, dict) else None
    if (
        not isinstance(message, dict)
        or message.get("role") != HOOK_ROLE
        or record.get("type") != "message"
    ):
        return record
    return {**record, "message": {**message, "role": "custom"}}


def _difference(
    version: int, record: dict[str, Any], newest: dict[str, Any]
) -> dict[str, Any] | None:
    """What `original_of` needs; None where the two are equal."""
    older: dict[str, Any] = {"version": version}
    absent = [key for key in newest if key not in record]
    fields = {
        key: value
        for key, value in record.items()
        if key != "message" and (key not in newest or newest[key] != value)
    }
    if absent:
        older["absent"] = absent
    if fields:
        older["fields"] = fields
    if record.get("message") is not newest.get("message"):
        older["role"] = HOOK_ROLE
    if len(older) == 1:
        return None
    if _original(newest, older) != record:
        return {"version": version, "record": dict(record)}
    return older


def _original(newest: dict[str, Any], older: dict[str, Any]) -> Any:
    if "record" in older:
        return older["record"]
    out = {key: value for key, value in newest.items() if key not in older.get("absent", ())}
    out.update(older.get("fields", {}))
    if "role" in older:
        out["message"] = {**out["message"], "role": older["role"]}
    return out


def original_of(head: Head, body: Any) -> Any:
    """The record of the file, in the version that it has there; None if it was not read from a
    file of Pi's. Of a record that was not read whole it is the part that was."""
    record = PI.record_of(head, body)
    older = (PI.own(body) or {}).get("older")
    return record if older is None or not isinstance(record, dict) else _original(record, older)


def newest_header(header: dict[str, Any]) -> dict[str, Any]:
    """A header as version 3 has it: all of its fields, and that number."""
    return {**header, "version": VERSION}


def pi_format(version: float, session_id: str) -> PiFormat:
    """What reads the records of a file of this version."""
    if version >= VERSION:
        return PI
    return PiFirst(session_id) if version < 2 else PiSecond(session_id)


__all__ = ["PiFirst", "PiSecond", "newest_header", "original_of", "pi_format"]
