"""Records of Tau's and Pi's files, made into events and back, exactly.

What the two tools have in common stands here; `tau.py` and `pi.py` say what is their own. Both
write one record a line: `type`, `id`, a parent, `timestamp`, and the kind's own fields.

Everything that a record says survives. `extra` of the event's body holds, under the tool's name
(`"pi"`, `"tau"`), what the event has no place for; each part is left out where it is empty:

* `fields`: fields of the record, as they were (explicit nulls, unknown ones, an own id or parent
  that differs from where the entry was put);
* `absent`: fields that such a record has, and this one lacks;
* `type`: the record's type, where the event's kind does not say it;
* `message`, `message_absent`, `text`: the same for the message inside it (`messages.py`);
* `record`: the whole record, where the rest would not give it back exactly;
* `tail`: true where a compaction's boundary was found by the messages that it carries;
* `raw` or `raw_base64`: its text, where the record itself was not read whole, with `why`;
* `unknown_parent`: true where the parent is not in the file. The tool itself takes such an entry
  for a root; we hang it under the entry before it.

`record_of` is the inverse. It is checked for every record at import.
"""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from ..domain.bodies import BodyBase, ForeignBody, MessageBody
from ..domain.digests import mark_digest, message_digest
from ..domain.drafts import Draft
from ..domain.events import Event, ForeignRecorded, MessageFinalized
from ..domain.heads import Head, Timestamp
from ..domain.jsonvalues import digest
from .messages import Taken, give

ROW: Final = "row"
"""An entry that makes a row: message, anchor, branch summary. It takes the leaf."""

QUIET: Final = "quiet"
"""An entry that makes none: settings, edits, custom data, what we cannot read."""

MARK: Final = "mark"
"""A mark: a node that is only walked through."""

LOOSE: Final = "loose"
"""No node of the tree at all."""

UNKNOWN_TYPE: Final = "unknown_type"
NO_OBJECT: Final = "no_object"
MISFIT: Final = "misfit"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, and of the body that takes it when it has this type.

    `type` None: any JSON value but null.
    """

    key: str
    name: str
    type: type | None = str


@dataclass(frozen=True, slots=True)
class Kind:
    """What records of one type become."""

    event: type[Event]
    node: str
    fields: tuple[Field, ...] = ()


@dataclass(slots=True)
class Outline:
    """What has to be known of a record before it can be placed.

    `kind` is None for a record that becomes foreign; `problem` says why.
    """

    record: Any
    node: str
    kind: Kind | None = None
    type: str = ""
    own_id: Any = None
    parent: Any = None
    taken: Taken | None = None
    problem: str | None = None


@dataclass(slots=True)
class Place:
    """Where a record goes: what the importer found out about it beside its content.

    `target` is the label's, of a record that does not name it. `first_kept` is a compaction's
    boundary as an id of ours; `tail` says that it, or the messages in `kept`, come from the
    messages that the record itself carries. `raw` is the text of a record that was not read
    whole, `why` the codes that say so.
    """

    line: int
    record: str
    timestamp: Timestamp
    entry_id: str | None = None
    parent_id: str | None = None
    takes_leaf: bool = False
    stands_for: str | None = None
    owner: str | None = None
    unknown_parent: bool = False
    target: str | None = None
    first_kept: str | None = None
    kept: Any = None
    tail: bool = False
    raw: bytes | None = None
    why: tuple[str, ...] = ()


def record_digest(value: Any, raw: bytes | None = None) -> str:
    """The digest by which a record is known again: of its value, or, where that is not all,
    of its bytes."""
    return digest(value) if raw is None else digest(raw.hex())


class RecordFormat(ABC):
    """What Tau and Pi have in common."""

    NAME: ClassVar[str] = ""
    PARENT: ClassVar[str] = ""
    KINDS: ClassVar[Mapping[str, Kind]] = {}
    TYPES: ClassVar[Mapping[str, str]] = {}
    """Event kind to record type."""
    NULL_PARENT: ClassVar[bool] = False
    """A root names its parent null, rather than none."""

    # -- reading ---------------------------------------------------------------------------

    def is_record(self, value: Any) -> bool:
        """Whether a value looks like a record, rather than like some object inside one."""
        return (
            isinstance(value, dict)
            and isinstance(value.get("type"), str)
            and "id" in value
            and "timestamp" in value
            and (value["type"] in self.KINDS or self.PARENT in value or value["type"] == "session")
        )

    @abstractmethod
    def is_time(self, token: Any) -> bool:
        """Whether the tool's reader could read this time."""

    def outline(self, record: Any) -> Outline:
        """What has to be known of a record to place it."""
        if not isinstance(record, dict):
            return Outline(record, LOOSE, problem=NO_OBJECT)
        name = record.get("type")
        kind = self.KINDS.get(name) if isinstance(name, str) else None
        own_id, parent = record.get("id"), record.get(self.PARENT)
        if kind is None or not isinstance(name, str):
            return Outline(record, QUIET, None, "", own_id, parent, None, UNKNOWN_TYPE)
        outline = Outline(record, kind.node, kind, name, own_id, parent)
        if kind.event is MessageFinalized:
            outline.taken = self.take(name, record)
        if not self.fits(outline):
            return Outline(record, QUIET, None, name, own_id, parent, None, MISFIT)
        return outline

    @abstractmethod
    def take(self, name: str, record: dict[str, Any]) -> Taken | None:
        """The message in a record of a message type."""

    def fits(self, outline: Outline) -> bool:
        """Whether a record of a known type can be understood as one."""
        return outline.kind is None or (
            outline.kind.event is not MessageFinalized or outline.taken is not None
        )

    # -- events ----------------------------------------------------------------------------

    def draft(self, outline: Outline, place: Place) -> Draft:
        """The event that a record becomes at its place."""
        if outline.kind is None:
            return self._foreign(outline, place)
        own: dict[str, Any] = {}
        if outline.taken is not None:
            head, body = self._message(outline, outline.taken, place, own)
        else:
            head, body = self._other(outline, place, own)
        if self.TYPES.get(outline.kind.event.KIND) != outline.type:
            own["type"] = outline.type
        self._links(outline.record, place, own)
        made = self._made(outline.kind.event, head, body, own, place)
        record = outline.record
        if self.record_of(made.head, made.body) != record:
            own = {key: own[key] for key in _CIRCUMSTANCES if key in own}
            own["record"] = record
            made = self._made(outline.kind.event, head, body, own, place)
        return made

    def _made(
        self,
        event: type[Event],
        head: dict[str, Any],
        body: dict[str, Any],
        own: dict[str, Any],
        place: Place,
    ) -> Draft:
        made = event.BODY.model_construct(**body, source="import", extra={self.NAME: own})
        if "digest" not in head:
            head = {**head, "digest": _digest(head, made)}
        return Draft(
            event,
            Head(
                kind=event.KIND,
                timestamp=place.timestamp,
                entry_id=place.entry_id,
                parent_id=place.parent_id,
                takes_leaf=place.takes_leaf,
                stands_for=place.stands_for,
                record=place.record,
                line=place.line,
                **head,
            ),
            made,
        )

    def _message(
        self, outline: Outline, taken: Taken, place: Place, own: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        own.update(taken.extra())
        own_fields = self.beside_message(outline)
        if own_fields:
            own["fields"] = own_fields
        head = {
            "message_id": place.entry_id,
            "role": taken.role,
            "status": taken.status,
            "call_ids": taken.call_ids,
            "owner": place.owner,
            "interruption": taken.interruption,
        }
        return head, dict(taken.values)

    def beside_message(self, outline: Outline) -> dict[str, Any]:
        """Fields of a message record beside type, id, parent, time and the message."""
        return {k: v for k, v in outline.record.items() if k not in self._common and k != "message"}

    @property
    def _common(self) -> tuple[str, ...]:
        return ("type", "id", self.PARENT, "timestamp")

    def _other(
        self, outline: Outline, place: Place, own: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        assert outline.kind is not None
        rest = {k: v for k, v in outline.record.items() if k not in self._common}
        body: dict[str, Any] = {}
        for field in outline.kind.fields:
            value = rest.get(field.key)
            if value is not None and (field.type is None or type(value) is field.type):
                body[field.name] = rest.pop(field.key)
        head = self.special(outline, place, body, rest)
        if rest:
            own["fields"] = rest
        if place.tail:
            own["tail"] = True
        return head, body

    def special(
        self, outline: Outline, place: Place, body: dict[str, Any], rest: dict[str, Any]
    ) -> dict[str, Any]:
        """Head fields of a kind. May add to `body` and take from `rest`."""
        return {}

    def _links(self, record: dict[str, Any], place: Place, own: dict[str, Any]) -> None:
        """Note how id, parent and time of the record differ from those of the event."""
        said = {"id": place.entry_id, "timestamp": place.timestamp}
        if self.NULL_PARENT or place.parent_id is not None:
            said[self.PARENT] = place.parent_id
        for key in ("id", self.PARENT, "timestamp"):
            if key not in record:
                if key in said:
                    own.setdefault("absent", []).append(key)
            elif key not in said or not _same(record[key], said[key]):
                own.setdefault("fields", {})[key] = record[key]
        if place.unknown_parent:
            own["unknown_parent"] = True
        if place.raw is not None:
            own.update(raw_text(place.raw), why=list(place.why))

    def _foreign(self, outline: Outline, place: Place) -> Draft:
        own: dict[str, Any] = {"unknown_parent": True} if place.unknown_parent else {}
        body: dict[str, Any] = {"problem": outline.problem}
        if place.raw is None:
            body["value"] = outline.record
        else:
            body.update(raw_text(place.raw))
            own["why"] = list(place.why)
        return self._made(ForeignRecorded, {}, body, own, place)

    # -- back ------------------------------------------------------------------------------

    def own(self, body: BodyBase) -> dict[str, Any] | None:
        """This tool's part of `extra`; None for an event that was not read from its file."""
        found = body.extra.get(self.NAME)
        return found if isinstance(found, dict) else None

    def record_of(self, head: Head, body: Any) -> Any:
        """The record that an event was made of; None if it was not read from such a file.

        Of a record that was not read whole it is the part that was; `raw_of` has its text.
        """
        own = self.own(body)
        if own is None:
            return None
        if "record" in own:
            return own["record"]
        if head.kind == ForeignRecorded.KIND:
            return body.value
        out: dict[str, Any] = {
            "type": own.get("type") or self.TYPES[head.kind],
            "id": head.entry_id,
            "timestamp": head.timestamp,
        }
        if self.NULL_PARENT or head.parent_id is not None:
            out[self.PARENT] = head.parent_id
        if isinstance(body, MessageBody):
            self.give(out, give(head.role, body, head.call_ids, own))
        else:
            for field in self.KINDS[out["type"]].fields:
                value = getattr(body, field.name)
                if value is not None:
                    out[field.key] = value
            self.give_special(out, head, body, own)
        out.update(own.get("fields", {}))
        for key in own.get("absent", ()):
            out.pop(key, None)
        return out

    def give(self, out: dict[str, Any], message: dict[str, Any]) -> None:
        """Put a message into its record."""
        out["message"] = message

    def give_special(
        self, out: dict[str, Any], head: Head, body: Any, own: dict[str, Any]
    ) -> None:
        """The inverse of `special`."""


_CIRCUMSTANCES: Final = ("unknown_parent", "raw", "raw_base64", "why", "tail")


def _same(a: Any, b: Any) -> bool:
    """Equal, and of one type: 1, 1.0 and true are three."""
    return type(a) is type(b) and (a == b or a is b)


def _digest(head: dict[str, Any], body: BodyBase) -> str:
    if isinstance(body, MessageBody):
        calls = head["call_ids"] if head["role"] == "tool_result" else ()
        return message_digest(
            head["role"], head["status"], body, None, calls[0] if calls else None, head["owner"]
        )
    return mark_digest(body)


def raw_text(raw: bytes) -> dict[str, Any]:
    """Bytes as they can stand in a body: text, or base64 where they are none."""
    try:
        return {"raw": raw.decode()}
    except UnicodeDecodeError:
        return {"raw_base64": base64.b64encode(raw).decode("ascii")}


def raw_of(body: BodyBase, name: str) -> bytes | None:
    """The text of a record that was not read whole; None where its value is all of it."""
    own = body.extra.get(name)
    holder: Any = own if isinstance(own, dict) else {}
    if isinstance(body, ForeignBody):
        holder = {"raw": body.raw, "raw_base64": body.raw_base64}
    if holder.get("raw") is not None:
        return str(holder["raw"]).encode("utf-8", "surrogatepass")
    if holder.get("raw_base64") is not None:
        return base64.b64decode(holder["raw_base64"])
    return None


def unreadable(line: int, start: int, end: int, raw: bytes, problem: str) -> Draft:
    """What a line becomes that holds no JSON: a mark with its bytes."""
    body = ForeignBody.model_construct(
        source="import", problem=problem, start=start, end=end, **raw_text(raw)
    )
    head = Head(
        kind=ForeignRecorded.KIND,
        digest=mark_digest(body),
        record=record_digest(None, raw),
        line=line,
    )
    return Draft(ForeignRecorded, head, body)
