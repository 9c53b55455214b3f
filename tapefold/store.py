"""The tapes of a store: reads through the recorder and the mapper, heads before bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eventsourcing.persistence import StoredEvent

from .domain.errors import TapefoldError
from .domain.events import Event, is_ours
from .domain.heads import Head, Timestamp
from .persistence.rows import row_digest
from .persistence.sqlite_streams import EventRow

RANGE_FACTOR = 4
"""Where at least one in this many positions is wanted, the whole range is read at once."""


@dataclass(frozen=True)
class Stream:
    """One tape of a store. `first_id` and `last_id` are its ids in the store's log."""

    session_id: str
    position: int
    first_id: int
    last_id: int


class StoreTapes:
    """Reads tapes. Safe to share between threads."""

    def __init__(self, recorder: Any, mapper: Any) -> None:
        self._recorder = recorder
        self._mapper = mapper

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterator[tuple[int, Head]]:
        """(position, head) of a tape in order; bodies are not looked at."""
        head_of = self._mapper.head_of
        for position, topic, state in self._recorder.iter_events(session_id, gt=gt, lte=lte):
            yield position, head_of(topic, state, session_id, position)

    def first_head(self, session_id: str) -> Head | None:
        """The head at position 1; None where there is no tape, or a tape of somebody else's."""
        for position, topic, state in self._recorder.iter_events(session_id, gt=0, lte=1):
            if is_ours(topic):
                head: Head = self._mapper.head_of(topic, state, session_id, position)
                return head
        return None

    def mark(self, session_id: str, position: int) -> str | None:
        """What tells the event at a position from any other that could stand there in a log that
        was restored and has grown on; None where there is none."""
        rows = self._recorder.log_tape(session_id, position - 1, 1)
        return row_digest(*rows[0]) if rows and rows[0][2] == position else None

    def events(self, session_id: str, gt: int = 0, lte: int | None = None) -> Iterator[Event]:
        """The events of a tape in order; a body is decoded when it is asked for.

        Raises `TapefoldError` where a position is missing.
        """
        expected = gt
        for position, topic, state in self._recorder.iter_events(session_id, gt=gt, lte=lte):
            expected += 1
            if position != expected:
                raise TapefoldError(
                    f"session {session_id!r}: position {expected} is missing from the store, "
                    f"{position} comes next; restore the store from a backup"
                )
            yield self.event_of(session_id, position, topic, state)

    def event_of(self, session_id: str, position: int, topic: str, state: bytes) -> Event:
        """The event of a row of the store; its body is decoded when it is asked for.

        Raises `TapefoldError` for a row that is no event of a session.
        """
        if not is_ours(topic):  # a foreign topic names code to import: never here
            raise TapefoldError(
                f"{session_id!r} is no session: at position {position} stands {topic!r}"
            )
        event = self._mapper.to_domain_event(StoredEvent(session_id, position, topic, state))
        if not isinstance(event, Event):
            raise TapefoldError(
                f"{session_id!r} is no session: at position {position} stands {topic!r}"
            )
        return event

    def events_at(self, session_id: str, positions: Sequence[int]) -> Iterator[Event]:
        """The events at these positions, in any order."""
        if not positions:
            return
        first, last = min(positions), max(positions)
        if last - first < RANGE_FACTOR * len(positions):
            wanted = set(positions)
            for event in self.events(session_id, first - 1, last):
                if event.position in wanted:
                    yield event
            return
        for position, topic, state in self._recorder.select_states(session_id, positions):
            yield self.event_of(session_id, position, topic, state)

    def of_topics(self, session_id: str, topics: Sequence[str]) -> Iterator[Event]:
        """The events of a tape with one of these topics, the newest first; no other is read."""
        for position, topic, state in self._recorder.select_topics(session_id, topics, desc=True):
            yield self.event_of(session_id, position, topic, state)

    def streams(self) -> Iterable[Stream]:
        """Every tape of the store, the one with the newest event first; no foreign streams."""
        found = [
            Stream(row.originator_id, row.last_version, row.first_id, row.last_id)
            for row in self._recorder.streams()
            if is_ours(row.first_topic) and isinstance(row.originator_id, str)
        ]
        return sorted(found, key=lambda stream: -stream.last_id)


def mark_of(row: EventRow) -> int:
    """What tells the event at a position of a tape from any other that could stand there. Of 64
    bits, and for this process alone: it is made at every command, so it has to cost nothing."""
    return hash(row)


class MarkedTapes(StoreTapes):
    """Tapes as they are read for one load. `ends`: the mark of the last row of each that was."""

    def __init__(self, recorder: Any, mapper: Any) -> None:
        super().__init__(recorder, mapper)
        self.ends: dict[str, int] = {}

    def heads(
        self, session_id: str, gt: int = 0, lte: int | None = None
    ) -> Iterator[tuple[int, Head]]:
        """(position, head) of a tape in order; bodies are not looked at."""
        head_of, last = self._mapper.head_of, None
        for last in self._recorder.iter_events(session_id, gt=gt, lte=lte):
            position, topic, state = last
            yield position, head_of(topic, state, session_id, position)
        if last is not None:
            self.ends[session_id] = mark_of(last)


@dataclass(frozen=True)
class SessionInfo:
    """What a list of sessions shows. `parent` is the session that it was forked from.

    Times are as they were written. `messages` counts those that were said here, struck or not.
    """

    session_id: str
    position: int
    title: str | None
    directory: str | None
    created: Timestamp
    last_activity: Timestamp
    messages: int
    leaf: str | None
    parent: str | None
    parent_position: int | None
