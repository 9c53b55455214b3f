"""Writing a session to a tape file: our own format, complete, to be imported as it is."""

from __future__ import annotations

from collections.abc import Iterator

from eventsourcing.persistence import StoredEvent

from .domain.errors import (
    BasisMissing,
    PositionOutOfRange,
    SessionNotFound,
    TapefoldError,
)
from .domain.events import TOPICS, is_ours
from .domain.identifiers import check_id, check_position
from .persistence.codec import CodecFault
from .persistence.errors import UnreadableEvent
from .persistence.tape_line import TapeHeader, TapeRow, write_line
from .sessions import Sessions


def write_tape(sessions: Sessions, session_id: str, at: int | None = None) -> Iterator[bytes]:
    """The lines of a session's tape file (docs/tape-file.md), up to position `at` (left out: all
    that is there now). A fork's ancestors come first, as far as it inherits them.

    Raises `SessionNotFound`, `PositionOutOfRange`, `BasisMissing` at once, and, while the lines
    are taken, `TapefoldError` for an event that is damaged, missing, or no event of ours.
    """
    check_id(session_id, "session_id")
    tapes = _tapes(sessions, session_id, at)
    versions = {topic: event.class_version for topic, event in sorted(TOPICS.items())}
    header = TapeHeader(session_id, tuple(tapes), versions)
    return _lines(sessions, header)


def _tapes(sessions: Sessions, session_id: str, at: int | None) -> list[tuple[str, int]]:
    """(session id, last position) of each tape that the session stands on, the oldest first."""
    last = sessions.recorder.stream_version(session_id)
    head = sessions.tapes.first_head(session_id)
    if head is None or last is None:
        raise SessionNotFound(session_id)
    if at is not None:
        check_position(at, "at=")
        if not 1 <= at <= last:
            raise PositionOutOfRange(session_id, at, last)
    tapes = [(session_id, last if at is None else at)]
    seen = {session_id}
    while head.origin is not None and head.origin.inherit:
        child, origin = tapes[-1][0], head.origin
        above = sessions.tapes.first_head(origin.session_id)
        there = sessions.recorder.stream_version(origin.session_id) or 0
        if above is None or origin.session_id in seen or not 1 <= origin.position <= there:
            raise BasisMissing(child, origin.session_id, origin.position)
        seen.add(origin.session_id)
        tapes.append((origin.session_id, origin.position))
        head = above
    tapes.reverse()
    return tapes


def _lines(sessions: Sessions, header: TapeHeader) -> Iterator[bytes]:
    yield header.line()
    for session_id, last in header.tapes:
        rows = sessions.recorder.iter_events(session_id, lte=last)
        for expected, (position, topic, state) in enumerate(rows, 1):
            if position != expected:
                raise TapefoldError(
                    f"session {session_id!r}: position {expected} is missing from the store, "
                    f"{position} comes next; restore the store from a backup"
                )
            if not is_ours(topic):
                raise TapefoldError(
                    f"{session_id!r} is no session: at position {position} stands {topic!r}"
                )
            plain = sessions.mapper.plain(StoredEvent(session_id, position, topic, state))
            try:
                yield write_line(TapeRow(session_id, position, topic, plain))
            except CodecFault as fault:
                raise UnreadableEvent(topic, session_id, position, str(fault)) from fault


__all__ = ["write_tape"]
