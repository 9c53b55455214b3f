"""Records of Tau's and Pi's files, made into events and back, exactly.

What the two tools have in common stands here; `tau.py` and `pi.py` say what is their own. Both
write one record a line: `type`, `id`, a parent, `timestamp`, and the kind's own fields.

Everything that a record says survives. `extra` of the event's body holds, under the tool's name
(`"pi"`, `"tau"`), what the event has no place for; each part is left out where it is empty:

* `fields`: fields of the record, as they were (explicit nulls, unknown ones, an own id or parent
  that differs from where the entry was put);
* `absent`: fields that such a record has, and this one lacks;
* `type`: the record's type, where the event's kind does not say it;
* `message`, `message_absent`, `text`, `sections`: the same for the message inside it
  (`messages.py`);
* `record`: the whole record, where the rest would not give it back exactly;
* `tail`: true where a compaction's boundary was found by the messages that it carries;
* `raw` or `raw_base64`: its text, where the record itself was not read whole, with `why`;
* `older`: how the record differs from one of the newest version, which it was read as
  (`pi_eras.py`);
* `unknown_parent`: true where the parent is not in the file. The tool itself takes such an entry
  for a root; we hang it under the entry before it.

`record_of` is the inverse. It is checked for every record at import.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from ..domain.bodies import BodyBase, MessageBody
from ..domain.digests import mark_digest, message_digest
from ..domain.drafts import Draft
from ..domain.events import Event, ForeignRecorded, MessageFinalized
from ..domain.heads import Head
from .jsontext import Plain
from .line import Line
from .making import make
from .messages import Taken, give
from .outlines import LOOSE, MISFIT, NO_OBJECT, QUIET, UNKNOWN_TYPE, Kind, Outline, Place
from .raw import raw_text


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

    def lines(self, reader: Iterable[Line]) -> Iterable[Line]:
        """The lines of a file, in order, each record in the shape that `outline` reads."""
        return reader

    @abstractmethod
    def is_time(self, token: Any) -> bool:
        """Whether the tool's reader could read this time."""

    def own_id(self, record: Any) -> Any:
        """The id that a record of an entry has."""
        return record.get("id") if isinstance(record, dict) else None

    def outline(self, record: Any) -> Outline:
        """What has to be known of a record to place it."""
        if not isinstance(record, dict):
            return Outline(record, LOOSE, problem=NO_OBJECT)
        name = record.get("type")
        kind = self.KINDS.get(name) if isinstance(name, str) else None
        own_id, parent = record.get("id"), record.get(self.PARENT)
        if kind is None or not isinstance(name, str):
            shown = name[:100] if isinstance(name, str) else ""
            return Outline(record, QUIET, None, shown, own_id, parent, None, UNKNOWN_TYPE)
        outline = Outline(record, kind.node, kind, name, own_id, parent)
        if kind.event is MessageFinalized:
            outline.taken = self.take(name, record)
        if not self.fits(outline):
            return Outline(record, QUIET, None, name, own_id, parent, None, MISFIT)
        return outline

    def plain_message(self, plain: Plain) -> Any:
        """The message in a record of type `message`, made of parts of `plain.written`, if it can
        go the quick way (`plain.py`): nothing of it would be given back differently."""
        return plain.written.get("message")

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
        made = make(event.BODY, **body, source="import", extra={self.NAME: own})
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

    @abstractmethod
    def special(
        self, outline: Outline, place: Place, body: dict[str, Any], rest: dict[str, Any]
    ) -> dict[str, Any]:
        """Head fields of a kind. May add to `body` and take from `rest`."""

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

    @abstractmethod
    def give_special(self, out: dict[str, Any], head: Head, body: Any, own: dict[str, Any]) -> None:
        """The inverse of `special`."""


_CIRCUMSTANCES: Final = ("unknown_parent", "raw", "raw_base64", "why", "tail")


def _same(a: Any, b: Any) -> bool:
    """Equal, and of one type: 1, 1.0 and true are three."""
    return type(a) is type(b) and (a == b or a is b)


def _digest(head: dict[str, Any], body: BodyBase) -> str:
    if isinstance(body, MessageBody):
        calls = head["call_ids"] if head["role"] == "tool_result" else ()
        return message_digest(
            head["role"],
            head["status"],
            body,
            None,
            calls[0] if calls else None,
            head["owner"],
            interruption=head["interruption"],
        )
    return mark_digest(body)
