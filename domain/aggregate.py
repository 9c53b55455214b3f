"""The mechanics of a session: state, pending events, provenance. No decisions.

Commands decide against the state and trigger events; applying an event only changes state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, Self, TypedDict

from .bodies import BodyBase, Source
from .digests import request_digest
from .drafts import Draft
from .errors import (
    BasisMissing,
    ConcurrencyConflict,
    DuplicateId,
    InvalidValue,
    ProvenanceConflict,
    SpentInstance,
    UnknownEntry,
)
from .events import Event, SessionStarted
from .heads import Head, Timestamp
from .identifiers import Defaults, check_id
from .jsonvalues import check_json
from .kernel import State, check_basis
from .outcome import Outcome
from .tree import CurrentLeaf, LeafRef, entry_of, require_node
from .view import Tapes, Warning


class Meta(TypedDict, total=False):
    """What every command takes beside its own arguments.

    `key` is a provenance key: it names one delivery. `timestamp` replaces the clock.
    """

    key: str | None
    timestamp: Timestamp
    source: Source
    actor: str | None
    correlation_id: str | None
    causation_id: str | None
    trace_id: str | None
    span_id: str | None
    extra: dict[str, Any]


BODY_META = (
    "source",
    "actor",
    "correlation_id",
    "causation_id",
    "trace_id",
    "span_id",
    "extra",
)

FORK_KEY = "\x00fork:"
"""Keys that begin so are given by `fork` alone: no host writes a NUL by accident."""

WORTH_KEEPING = frozenset(
    {
        "message_finalized",
        "message_revised",
        "compaction_anchored",
        "summary_reset",
        "handoff_anchored",
        "branch_summarized",
        "forked",
    }
)
"""A session that has none of these yet is not written: an aborted start leaves nothing."""


class Aggregate:
    """A session as the `eventsourcing` library sees it: id, version, events to collect."""

    def __init__(
        self,
        session_id: str,
        *,
        basis: State | None = None,
        defaults: Defaults | None = None,
        tapes: Tapes | None = None,
    ) -> None:
        self.state = State(session_id)
        self.state.inherit(basis)
        self._basis = basis
        self._basis_error: BasisMissing | None = None
        self._pending: list[Event] = []
        self._recent: dict[int, Event] = {}
        self._handed: Event | None = None
        self._worthy = False
        self._spent = False
        self._under_required = False
        self._parked = False
        self._born: list[Aggregate] = []
        self._child_of: Aggregate | None = None
        self._handed_on = False
        self._rebuilt = False
        self._above: dict[str, str | None] = {}
        self.defaults = defaults or Defaults()
        self.tapes = tapes

    # -- the library's protocol ------------------------------------------------------------

    @property
    def id(self) -> str:
        """The session id."""
        return self.state.session_id

    @property
    def version(self) -> int:
        """The position of the last event, pending ones included."""
        return self.state.position

    @version.setter
    def version(self, value: int) -> None:
        if value != self.state.position:
            raise InvalidValue("a session's version follows from its events")

    @property
    def pending_events(self) -> tuple[Event, ...]:
        """Events that were triggered and not collected yet."""
        return tuple(self._pending)

    @property
    def basis(self) -> State | None:
        """The frozen state that a fork inherits."""
        return self._basis

    def collect_events(self) -> Sequence[Event]:
        """Hand the pending events to the application that saves them.

        Those of children that were forked off and not saved yet come with them: a receipt for a
        session that is nowhere would stay for ever. Nothing is handed out while the session is
        not worth keeping; it stays pending. Raises `SpentInstance` after a failed save.
        """
        if self._handed_on and not self._spent:
            # Of save(parent, child) the first has handed out all of it.
            self._handed_on = False
            return []
        children = [child for child in self.unsaved_children() if child._pending]
        for one in (self, *children):
            one._check_usable()
        collected = self._hand_out()
        for child in children:
            collected += child._hand_out()
            child._handed_on = True
        return collected

    def _hand_out(self) -> list[Event]:
        """The pending events of this session alone."""
        if not self._worthy and self._pending and self._pending[0].position == 1:
            return []
        self._born = []
        collected, self._pending = self._pending, []
        if collected:
            self._handed = collected[-1]
        return collected

    def unsaved_children(self) -> list[Any]:
        """The children that were forked off and not handed out yet, and theirs."""
        born: list[Any] = []
        todo: list[Aggregate] = [self]
        while todo:  # a child may have been forked, too
            parent = todo.pop()
            born += parent._born
            todo += parent._born
        return born

    def take_born(self) -> list[Any]:
        """The children that were forked off since this was last asked; `execute` saves them."""
        born = self.unsaved_children()
        for one in (self, *born) if born else ():
            one._born = []
        return born

    def unsaved_parent(self) -> Any:
        """The session that this one was forked off, while it holds the fork's receipt unsaved."""
        parent = self._child_of
        if parent is None or not any(
            event.head.kind == "forked" and self.id in event.head.targets
            for event in parent.pending_events
        ):
            return None
        return parent

    def spend(self) -> None:
        """Declare the instance unusable: its save failed, its state is ahead of the tape."""
        self._spent = True

    def forget_recent(self) -> None:
        """Let go of the bodies of saved events; they are read from the store from now on."""
        self._handed = None
        self._handed_on = False
        self._child_of = None
        self._recent = {event.position: event for event in self._pending} if self._pending else {}

    def apply(self, event: Event) -> None:
        """Apply an event of the tape. Raises `OutOfOrder`, and nothing for what it says."""
        if event.position == 1:
            try:
                check_basis(self.id, event.head, self._basis)
            except BasisMissing as error:
                self._basis_error = error
        self.state.apply_head(event.position, event.head)
        self._worthy = True
        self._rebuilt = True

    def expect(self, position: int | None) -> None:
        """Raise `ConcurrencyConflict` unless the session is at `position` (None: any)."""
        if position is not None and position != self.state.position:
            raise ConcurrencyConflict(self.id, position, self.state.position)

    def require_under(self, required: bool) -> None:
        """Whether assistant messages must say where they hang: set by `execute`."""
        self._under_required = required

    def begin_command(self, expected_position: int | None) -> None:
        """Let the session decide, inside `execute` and until `end_command`.

        Raises `ConcurrencyConflict` unless it is at `expected_position` (None: any position).
        """
        if expected_position is not None:
            self.expect(expected_position)
        self._under_required = expected_position is None
        self._parked = False

    def end_command(self) -> None:
        """The events are saved. Who kept the instance must not decide on it: it is shared."""
        self._under_required = False
        self._parked = True
        self.forget_recent()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = copy(self)
        other.state = self.state.copy()
        other._pending = list(self._pending)
        other._recent = dict(self._recent)
        other._born = list(self._born)
        return other

    def _check_usable(self) -> None:
        if self._spent:
            raise SpentInstance(self.id)
        self._handed_on = False
        if self._parked:
            raise SpentInstance(self.id, "the command that it was lent to has ended")
        if self._basis_error is not None:
            raise self._basis_error
        if self._handed is not None:
            self._check_handed(self._handed)

    def _check_handed(self, handed: Event) -> None:
        """Raise `SpentInstance` unless the last event that was handed out stands on the tape.

        An application of a host's own does not say whether its save has worked, and an entry
        that hangs under one that was never stored would cut the conversation off.
        """
        if self.tapes is None:
            if self._rebuilt:  # by a repository of the library's
                raise SpentInstance(
                    self.id, "it was saved, and has no tape that tells whether it worked"
                )
            return
        for there in self.tapes.events_at(self.id, [handed.position]):
            if _signature(there) == _signature(handed):
                self._handed = None
                return
        self.spend()
        raise SpentInstance(self.id)

    # -- triggering ------------------------------------------------------------------------

    def _append(
        self,
        event: type[Event],
        head: Head,
        body: BodyBase,
        stored_body: dict[str, Any] | None = None,
    ) -> int:
        """Apply the next event and keep it for whoever saves; answer its position."""
        state = self.state
        position = state.position + 1
        state.apply_head(position, head)
        new = event(state.session_id, position, head, body, None, stored_body)
        self._pending.append(new)
        self._recent[position] = new
        if not self._worthy and head.kind in WORTH_KEEPING:
            self._worthy = True
        return position

    def _trigger(
        self,
        event: type[Event],
        body: BodyBase,
        meta: Meta,
        identities: dict[str, Any] | None = None,
        said: str = "",
        stored_body: dict[str, Any] | None = None,
        **head: Any,
    ) -> Outcome:
        """Append one event and answer where it stands.

        `identities` and `said` are what the caller gave: with a key they name the delivery.
        `stored_body`: of a body that `_body` made, see `Event.stored_body`.
        """
        request = None
        key = meta.get("key")
        if key is not None:
            request = request_digest(event.KIND, identities or {}, said)
        timestamp = meta.get("timestamp")
        if timestamp is not None:
            if type(timestamp) not in (str, int, float):
                raise InvalidValue(
                    f"a timestamp is text or a number, not {type(timestamp).__name__}; "
                    "a datetime is given as its isoformat()"
                )
            check_json(timestamp, "timestamp")
        made = Head(
            kind=event.KIND,
            timestamp=self.defaults.now() if timestamp is None else timestamp,
            key=key,
            request=request,
            **head,
        )
        position = self._append(event, made, body, stored_body)
        return Outcome(self.state.session_id, position, made.entry_id, made.message_id)

    def _repeated(
        self, event: type[Event], meta: Meta, identities: dict[str, Any], said: str
    ) -> Outcome | None:
        """The first delivery's answer, where the key was used before.

        Raises `ProvenanceConflict` when that delivery was another one.
        """
        key = meta.get("key")
        if key is None:
            return None
        _check_key(key)
        first = self.state.keys.get(key)
        if first is None:
            return None
        session_id, position = self.state.locate(first.seq)
        request = request_digest(event.KIND, identities, said)
        if request != first.request:
            raise ProvenanceConflict(session_id, key, position, first.request or "none", request)
        # The requests are equal, so the identities of this one are those of the first.
        message_id = first.message_id or identities.get("message_id")
        message = self.state.message(message_id) if message_id else None
        entry_id = first.entry_id or identities.get("entry_id")
        if message is not None:
            entry_id = message.entry_id
        hidden = message is not None and message.struck
        return Outcome(session_id, position, entry_id, message_id, False, hidden)

    def _unchanged(
        self,
        entry_id: str | None = None,
        message_id: str | None = None,
        seq: int | None = None,
        warnings: Iterable[Warning] = (),
    ) -> Outcome:
        session_id, position = self.id, self.state.position
        if seq is not None:
            session_id, position = self.state.locate(seq)
        message = self.state.message(message_id) if message_id else None
        hidden = message is not None and message.struck
        return Outcome(session_id, position, entry_id, message_id, False, hidden, tuple(warnings))

    def _body(self, make: type[BodyBase], meta: Meta, **values: Any) -> Any:
        if meta:
            check_meta(meta)
            if str(meta.get("key", "")).startswith(FORK_KEY):
                raise InvalidValue(f"keys that begin with {FORK_KEY!r} name forks")
            for name in BODY_META:
                if name in meta:
                    values[name] = meta[name]  # type: ignore[literal-required]
        return make.build(**values)

    # -- ids and places --------------------------------------------------------------------

    def _new_entry_id(self, given: str | None) -> str:
        if given is not None:
            check_id(given, "entry_id")
            if self._is_taken(given):
                raise DuplicateId(self.id, "entry id", given)
            return given
        for _ in range(100):
            made = check_id(self.defaults.new_entry_id(), "entry_id")
            if not self._is_taken(made):
                return made
        raise DuplicateId(self.id, "entry id", made)

    def _is_taken(self, entry_id: str) -> bool:
        """Whether an entry or a message has this id."""
        state = self.state
        return state.entries.get(entry_id) is not None or state.aliases.get(entry_id) is not None

    def _place(self, under: LeafRef) -> tuple[str | None, bool]:
        """(parent_id, takes_leaf): an entry takes the leaf if it hangs under it."""
        if isinstance(under, CurrentLeaf):
            return self.state.leaf, True
        parent: str | None = None
        place_said(under)
        if under is not None:
            parent = entry_of(require_node(self.state, under))
        return parent, parent == self.state.leaf

    def _event_at(self, seq: int) -> Event:
        """The event with this order number, pending ones included."""
        session_id, position = self.state.locate(seq)
        if session_id == self.id and position in self._recent:
            return self._recent[position]
        if self.tapes is None:
            raise InvalidValue(
                f"session {session_id!r}: the event at position {position} cannot be read here; "
                "load the session with Sessions or load_session(), which attach its tape"
            )
        for event in self.tapes.events_at(session_id, [position]):
            return event
        raise UnknownEntry(session_id, f"position {position}")

    # -- beginning, importing --------------------------------------------------------------

    @classmethod
    def _begin(
        cls,
        session_id: str,
        body: BodyBase,
        head: dict[str, Any],
        meta: Meta,
        basis: State | None,
        defaults: Defaults,
        tapes: Tapes | None,
    ) -> Self:
        if meta.get("key") is not None:
            _check_key(meta["key"])
        session = cls(
            check_id(session_id, "session_id"), basis=basis, defaults=defaults, tapes=tapes
        )
        session._trigger(SessionStarted, body, meta, **head)
        return session

    def append_imported(self, drafts: Iterable[Draft]) -> Outcome:
        """Append events made by an importer as they are; it has resolved ids, links and leaf.

        Imports are worth keeping at once.
        """
        self._check_usable()
        for draft in drafts:
            self._append(draft.event, draft.head, draft.body)
        self._worthy = True
        return Outcome(self.id, self.state.position, self.state.leaf)


def check_meta(meta: Meta) -> None:
    """Raise `TypeError`, as Python does, for an argument that no command takes."""
    unknown = meta.keys() - Meta.__annotations__.keys()
    if unknown:
        raise TypeError(f"there is no argument {', '.join(sorted(map(repr, unknown)))}")


def place_said(under: LeafRef) -> Any:
    """The place that the caller gave, as one of a delivery's identities. Raises `InvalidValue`."""
    if isinstance(under, CurrentLeaf):
        return "leaf"
    if under is not None and not isinstance(under, str):
        raise InvalidValue("under= takes an entry id, None for the root, or nothing")
    return [under]


def _check_key(key: object) -> None:
    if not isinstance(key, str) or not key:
        raise InvalidValue("a provenance key is text, and not empty; leave it out for none")


def _signature(event: Event) -> tuple[str | None, ...]:
    head = event.head
    return head.kind, head.entry_id, head.message_id, head.digest
