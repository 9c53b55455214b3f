"""Looks through the events of a store: what is in it, and whether all of it can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from eventsourcing.persistence import StoredEvent

from tapefold.domain.errors import TapefoldError
from tapefold.domain.events import TOPICS, Event
from tapefold.persistence.codec import CodecFault, find_head
from tapefold.persistence.errors import UnreadableEvent
from tapefold.persistence.mapper import TapeMapper
from tapefold.persistence.sqlite_recorder import TapeRecorder

from .faults import is_database_fault
from .log import Log, LogRow
from .parking import reason_of

PAGE_BYTES: Final = 8 << 20
FIRST: Final = 1_000
STREAMS: Final = 10_000
"""How many failures are named; the others are counted."""

Say = Callable[[int, int], None]
"""What is told how many rows of how many are done."""


def _nothing(done: int, total: int) -> None:
    return None


@dataclass
class EventStats:
    """How many events there are of each type and stored class version. `known`: the version that
    this program writes, None for a type that it does not know. `foreign`: other aggregates' rows.
    `unreadable`: events whose version cannot be told."""

    counts: Counter[tuple[str, int]] = field(default_factory=Counter)
    foreign: Counter[str] = field(default_factory=Counter)
    """By topic; one that is no text as Python writes it, cut at 80 signs."""
    unreadable: int = 0

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "events": [
                {
                    "topic": topic,
                    "class_version": version,
                    "known": known_version(topic),
                    "count": count,
                }
                for (topic, version), count in sorted(self.counts.items())
            ],
            "foreign": dict(sorted(self.foreign.items())),
            "unreadable": self.unreadable,
        }


@dataclass
class Failure:
    """An event that cannot be read: where it stands, and why."""

    session_id: str
    position: int
    log_id: int
    topic: str
    kind: str
    error: str


@dataclass
class EventCheck:
    """What a check found. `upcast`: events that were stored in an older shape."""

    events: int = 0
    upcast: int = 0
    foreign: int = 0
    failed: int = 0
    failures: list[Failure] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "events": self.events,
            "upcast": self.upcast,
            "foreign": self.foreign,
            "failed": self.failed,
            "failures": [vars(one) for one in self.failures],
        }


def known_version(topic: str) -> int | None:
    """The class version that this program writes of a topic, None if it knows no such event."""
    cls = TOPICS.get(topic)
    return None if cls is None else cls.class_version


def event_stats(recorder: TapeRecorder, mapper: TapeMapper[Any], say: Say = _nothing) -> EventStats:
    """Count the events of a store by type and class version. Reads heads alone."""
    stats = EventStats()
    for row in _rows(Log(recorder, mapper), say):
        if not Log.is_ours(row):
            topic: object = row.topic
            stats.foreign[topic if isinstance(topic, str) else repr(topic)[:80]] += 1
            continue
        try:
            stats.counts[row.topic, _version(mapper, row)] += 1
        except TapefoldError:
            stats.unreadable += 1
    return stats


def check_events(
    recorder: TapeRecorder, mapper: TapeMapper[Any], say: Say = _nothing
) -> EventCheck:
    """Decode and upcast every event with its body, as strictly as reading does.

    Changes nothing. A fault of the store itself is raised.
    """
    found = EventCheck()
    log = Log(recorder, mapper)
    is_session = lru_cache(STREAMS)(log.begins_as_ours)
    for row in _rows(log, say):
        # Whose a stream is, its first event says.
        belongs = isinstance(row.session_id, str) and is_session(row.session_id)
        if not belongs and not Log.is_ours(row):
            found.foreign += 1
            continue
        found.events += 1
        try:
            if not belongs:
                reason = "its stream does not begin as a session"
                raise UnreadableEvent(row.topic, row.session_id, row.position, reason)
            version = _version(mapper, row)
            event = mapper.to_domain_event(
                StoredEvent(row.session_id, row.position, row.topic, row.state)
            )
            assert isinstance(event, Event)
            _ = event.body
            mapper.parts_of(row.topic, row.state, row.session_id, row.position)
            found.upcast += version < (known_version(row.topic) or version)
        except Exception as error:
            if is_database_fault(error):
                raise
            found.failed += 1
            if len(found.failures) < FIRST:
                found.failures.append(_failure(row, error))
    return found


def _failure(row: LogRow, error: Exception) -> Failure:
    text = reason_of(error, row) or type(error).__name__
    return Failure(row.session_id, row.position, row.id, row.topic, type(error).__name__, text)


def _version(mapper: TapeMapper[Any], row: LogRow) -> int:
    stored = StoredEvent(row.session_id, row.position, row.topic, row.state)
    try:
        return find_head(mapper.plain(stored))[0]
    except CodecFault as fault:
        raise UnreadableEvent(row.topic, row.session_id, row.position, str(fault)) from fault


def _rows(log: Log, say: Say) -> Iterator[LogRow]:
    """All rows of the log, as it ends now, in pages that stay small."""
    last, after, done, size = log.last_id(), 0, 0, 64
    total = log.count(last)
    while rows := log.page(after, size, last):
        yield from rows
        after, done = rows[-1].id, done + len(rows)
        say(done, total)
        taken = max(1, sum(row.size for row in rows))
        size = max(1, min(2_000, 4 * len(rows), len(rows) * PAGE_BYTES // taken))
