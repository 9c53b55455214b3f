"""What a session holds beside what was imported from its file, so that it is not imported too.

A session can be gone on with here and exported over its own file. The file then holds entries that
the tape has already, though no import brought them. A record that has the id of such an entry is
that entry where it says nothing that the entry does not say; else it is another record with the
same id. The lines that an export adds for what is no entry (labels, a name, results that are only
facts) are found by their ids, which are the same at each export.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from ..domain.drafts import Draft
from ..domain.events import (
    CompactionAnchored,
    ContextEdited,
    CustomRecorded,
    Event,
    HandoffAnchored,
    Labelled,
    MessageFinalized,
    ModelChanged,
    SessionInfoChanged,
    UsageRecorded,
)
from ..domain.heads import Head
from .outlines import Outline, Place
from .records import RecordFormat
from .tau_shape import usage_shape

EventAt = Callable[[int], Event | None]
"""The event at a position of the tape."""

Lookup = Callable[[Any], str | None]

STEPS: Final = 100
"""How far up the entries of a session are searched for the parent that a record names, and how
many versions of an entry are compared with it."""

OURS: Final = "tapefold."
"""Custom data that an export writes in place of what the file cannot hold begins so."""

_DIGITS: Final = 8
_FILLED: Final[dict[str, tuple[Any, ...]]] = {
    "model": ("unknown",),
    "provider": ("unknown",),
    "stop_reason": ("stop", "toolUse", "error"),
    "tool_name": ("unknown",),
    "custom_type": ("custom",),
    "tokens_before": (0,),
    "purpose": ("",),
}
"""What an export writes in a field that the tools demand and the event does not have."""

_MEANT: Final = ("content", "summary", "namespace", "data", "label", "title", "level")
"""Fields that a record must not lack either: they are what an entry says."""

_BESIDE: Final = frozenset({"source", "extra", "reason", "directory", "covered", "tokens_after"})


@dataclass(slots=True)
class Native:
    """An entry of the tape: where it hangs, and what its content is about."""

    kind: str
    parent_id: str | None
    owner: str | None
    first_kept: str | None


@dataclass(slots=True)
class _Added:
    """A line that an export adds: the kind of its event, its whole id, what the tape says."""

    kind: str
    digits: str
    target: str | None = None
    positions: list[int] = field(default_factory=list)


class Natives:
    """The events of a session that were not imported. False where there are none."""

    def __init__(
        self, form: RecordFormat, session_id: str, event_at: EventAt | None = None
    ) -> None:
        self._form = form
        self._session_id = session_id
        self._event_at = event_at
        self.entries: dict[str, Native] = {}
        """Those that are entries, by id."""
        self.stands_for: dict[Any, str | None] = {}
        """Lines that an export has added, to the entry that each hangs under."""
        self._said: dict[str, list[int]] = {}
        """Entry to the positions at which something was said of it: its versions, its edits."""
        self._digests: dict[str, set[str | None]] = {}
        self._entry_of: dict[str, str] = {}
        """Message to entry."""
        self._added: dict[str, _Added] = {}
        self._by_digits: dict[str, list[_Added]] = {}

    def __bool__(self) -> bool:
        return bool(self._added)

    # -- what the tape says ----------------------------------------------------------------

    def take(self, position: int, head: Head, is_known: bool) -> bool:
        """Take note of an event that was not imported. `is_known`: its entry was. Whether it is a
        new entry."""
        if not self._added:
            self._add("leaf", CustomRecorded.KIND)
            self._add("model", ModelChanged.KIND)
        entry_id = head.entry_id
        is_new = entry_id is not None and entry_id not in self.entries and not is_known
        if entry_id is not None and is_new:
            self.entries[entry_id] = Native(head.kind, head.parent_id, head.owner, head.first_kept)
            if head.message_id is not None:
                self._entry_of[head.message_id] = entry_id
        subject = entry_id
        if head.message_id is not None and not is_new:
            subject = self._entry_of.get(head.message_id, head.message_id)
        if subject is not None:
            self._say(subject, position, head.digest)
        if head.kind == ContextEdited.KIND:
            for target in head.targets:
                self._say(target, position, None)
        elif head.kind == Labelled.KIND:
            for target in head.targets:
                self._add(f"label:{target}", head.kind, position, target)
        elif head.kind == SessionInfoChanged.KIND:
            self._add("name", head.kind, position)
        elif head.kind == UsageRecorded.KIND:
            self._add(f"usage:{position}", head.kind, position)
        elif head.owner is not None and head.call_ids and head.message_id is None:
            owner = self._entry_of.get(head.owner, head.owner)
            self._add(f"{owner}:{head.call_ids[0]}", MessageFinalized.KIND)
        return is_new

    def _say(self, entry_id: str, position: int, digest: str | None) -> None:
        self._said.setdefault(entry_id, []).append(position)
        if digest is not None:
            self._digests.setdefault(entry_id, set()).add(digest)

    def _add(
        self, said: str, kind: str, position: int | None = None, target: str | None = None
    ) -> None:
        made = self._added.get(said)
        if made is None:
            text = f"{self._session_id}:{said}".encode("utf-8", "surrogatepass")
            made = self._added[said] = _Added(kind, sha256(text).hexdigest(), target)
            self._by_digits.setdefault(made.digits[:_DIGITS], []).append(made)
        if position is not None:
            made.positions.append(position)

    # -- what a record says ----------------------------------------------------------------

    def holds(self, outline: Outline, lookup: Lookup) -> bool:
        """Whether the tape says already what a record says. `lookup` finds the entry that a
        reference means."""
        own_id = outline.own_id
        if not isinstance(own_id, str) or outline.kind is None:
            return False
        native = self.entries.get(own_id)
        if native is None:
            return self._is_added(own_id, outline, lookup)
        return self._hangs(outline.parent, native) and self.repeats(own_id, native, outline)

    def changed(self, head: Head, outline: Outline) -> bool:
        """Whether a record that differs from the one that was imported says what the entry has
        been made to say since."""
        own_id = outline.own_id
        if own_id != head.entry_id or not isinstance(own_id, str) or own_id not in self._said:
            return False
        return self.repeats(
            own_id, Native(head.kind, head.parent_id, head.owner, head.first_kept), outline
        )

    def repeats(self, entry_id: str, native: Native, outline: Outline) -> bool:
        """Whether a record says what the tape says of an entry."""
        draft = self._draft(entry_id, native, outline)
        head = draft.head
        alike = head.kind in (native.kind, MessageFinalized.KIND)
        if alike and head.digest is not None and head.digest in self._digests.get(entry_id, ()):
            return True
        return self._at_one_of(self._said.get(entry_id, ()), draft)

    def _draft(self, entry_id: str, native: Native, outline: Outline) -> Draft:
        place = Place(0, "", None, entry_id, native.parent_id)
        place.owner, place.first_kept = native.owner, native.first_kept
        return self._form.draft(outline, place)

    def _at_one_of(self, positions: Iterable[int], draft: Draft) -> bool:
        if self._event_at is None:
            return False
        for position in list(positions)[: -STEPS - 1 : -1]:
            event = self._event_at(position)
            if event is not None and says_no_more(draft, event):
                return True
        return False

    def _hangs(self, token: Any, native: Native) -> bool:
        """Whether an entry hangs where a record says. What a file has no line for is left out."""
        if isinstance(token, str) and token in self.stands_for:
            token = self.stands_for[token]
        wanted = token if token or not self._form.NULL_PARENT else None
        at = native.parent_id
        for _ in range(STEPS):
            if at == wanted:
                return True
            above = None if at is None else self.entries.get(at)
            if above is None:
                break
            at = above.parent_id
        return False

    def _is_added(self, own_id: str, outline: Outline, lookup: Lookup) -> bool:
        assert outline.kind is not None
        for added in self._by_digits.get(own_id[:_DIGITS], ()):
            if added.kind == outline.kind.event.KIND and added.digits.startswith(own_id):
                place = Native(added.kind, None, None, None)
                draft = self._draft(own_id, place, outline)
                if added.target is not None and draft.head.targets != (added.target,):
                    continue
                if not added.positions or self._at_one_of(added.positions, draft):
                    self.stands_for[own_id] = lookup(outline.parent)
                    return True
        return False


def says_no_more(draft: Draft, event: Event) -> bool:
    """Whether a record says nothing that an event does not say: what the file has no place for it
    may lack, and what its tool demands it may have."""
    head = draft.head
    theirs, ours = draft.body.to_json(), event.body.to_json()
    if event.head.kind == ContextEdited.KIND and head.kind != ContextEdited.KIND:
        return _content(theirs) == _content(ours) and head.kind == MessageFinalized.KIND
    if head.kind == CustomRecorded.KIND and event.head.kind != head.kind:
        return str(theirs.get("namespace", "")).startswith(OURS)
    if head.role is None:
        kinds = (event.head.kind, head.kind)
        if kinds[0] != kinds[1] and kinds != (HandoffAnchored.KIND, CompactionAnchored.KIND):
            return False
        if head.cleared != event.head.cleared or head.targets != event.head.targets:
            return False
    elif (head.role, head.status) != (event.head.role, event.head.status):
        return False
    if head.role == "tool_result" and head.call_ids != event.head.call_ids:
        return False
    if head.interruption and event.head.interruption:
        theirs["content"] = ours.get("content")
    names = theirs.keys() | (ours.keys() & set(_MEANT))
    return all(_fits(name, theirs, ours) for name in names if name not in _BESIDE)


def _fits(name: str, theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    value, own = theirs.get(name), ours.get(name)
    if name == "content":
        return _content(theirs) == _content(ours)
    if value == own or (name == "usage" and usage_shape(value) == usage_shape(own)):
        return True
    if own is not None:
        return False
    if name == "details":
        return isinstance(value, dict) and list(value) == [OURS[:-1]]
    return value in _FILLED.get(name, ())


def _content(said: dict[str, Any]) -> list[Any]:
    """The content; a call without arguments has empty ones in a file."""
    return [
        {**block, "arguments": block.get("arguments") or {}}
        if isinstance(block, dict) and block.get("type") == "tool_call"
        else block
        for block in said.get("content") or ()
    ]
