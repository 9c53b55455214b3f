"""The tapes that a session stands on, its ancestors' included, read for writing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from ...domain.errors import TapefoldError
from ...domain.events import Event
from ...domain.heads import Head
from ...domain.kernel import State

STEP: Final = 64
"""Events that are passed over rather than asked for anew. Unit: positions."""


class FullTapes(Protocol):
    """What writing needs of a store."""

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterable[tuple[int, Head]]:
        """(position, head) of a tape in order."""

    def events(self, session_id: str, gt: int = 0, lte: int | None = None) -> Iterator[Event]:
        """The events of a tape in order."""

    def events_at(self, session_id: str, positions: Sequence[int]) -> Iterable[Event]:
        """The events at these positions."""


class Family:
    """Reads a session's events by order number, holding one page of one tape at a time."""

    def __init__(self, state: State, tapes: FullTapes) -> None:
        self.state = state
        self.tapes = tapes
        self._at = ""
        self._position = 0
        self._events: Iterator[Event] = iter(())
        self.formats = {one: self._format(one) for one, _ in state.lineage}
        """Session id to the format that it was imported from, for each tape; None: none."""

    def _format(self, session_id: str) -> str | None:
        for event in self.tapes.events_at(session_id, [1]):
            came = getattr(event.body, "imported_from", None)
            if isinstance(came, dict) and isinstance(came.get("format"), str):
                name: str = came["format"]
                return name
        return None

    def heads(self) -> Iterator[tuple[str, int, int, Head]]:
        """(session id, position, order number, head) of every event, in order."""
        ends = [before for _, before in self.state.lineage[1:]] + [self.state.seq]
        for (session_id, before), end in zip(self.state.lineage, ends, strict=True):
            for position, head in self.tapes.heads(session_id, 0, end - before):
                yield session_id, position, before + position, head

    def all_events(self) -> Iterator[Event]:
        """The events of the session's own tape, up to the state's position."""
        return self.tapes.events(self.state.session_id, 0, self.state.position)

    def event(self, seq: int) -> Event:
        """The event with this order number. Cheap where the numbers rise."""
        session_id, position = self.state.locate(seq)
        if session_id != self._at or position <= self._position:
            if session_id == self._at and self._position - position > 0:
                return self._single(session_id, position)
            self._begin(session_id, position)
        elif position - self._position > STEP:
            self._begin(session_id, position)
        for event in self._events:
            self._position = event.position
            if event.position == position:
                return event
        return self._single(session_id, position)

    def _begin(self, session_id: str, position: int) -> None:
        self._at, self._position = session_id, position - 1
        self._events = iter(self.tapes.events(session_id, position - 1))

    def _single(self, session_id: str, position: int) -> Event:
        for event in self.tapes.events_at(session_id, [position]):
            return event
        raise TapefoldError(
            f"session {session_id!r}: the event at position {position} is not in the store; "
            "check the store"
        )

    def own(self, event: Event, name: str) -> Any:
        """What a record of this tool says beside the event's own fields; None: it is of none."""
        found = event.body.extra.get(name)
        return found if isinstance(found, dict) else None
