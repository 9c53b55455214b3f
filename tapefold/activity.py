"""Which sessions were busy last, and what they are called: read without folding any tape.

A session's last activity is the time of its last event. An instant is compared, so that a time
in seconds and one in ISO text sort rightly; sessions whose time says nothing come last. Where
two are equal, the one whose event was stored later is the newer. The session index sorts alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from .domain.errors import SessionNotFound, TapefoldError
from .domain.events import SessionInfoChanged, SessionStarted
from .domain.heads import DIRECTORY, Timestamp
from .domain.instants import seconds
from .persistence.errors import StoreError
from .store import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .domain.events import Event
    from .domain.heads import Head
    from .sessions import Sessions

INFO_TOPICS: Final = (SessionStarted.TOPIC, SessionInfoChanged.TOPIC)
"""The events that say what a session is called and where it belongs."""


@dataclass(frozen=True)
class Active:
    """A tape with the time of its last event. `problem` tells why that cannot be read."""

    stream: Stream
    last_activity: Timestamp
    problem: str | None = None

    @property
    def session_id(self) -> str:
        return self.stream.session_id

    @property
    def moment(self) -> float | None:
        """The last activity in seconds since 1970; None where its time says nothing."""
        return seconds(self.last_activity)


def newest_first(sessions: Sessions) -> list[Active]:
    """Every session of the store, that with the newest activity first.

    Reads the last event's head of each. A damaged one is named by its `problem`, and is no
    reason to show none.
    """
    found = [_active(sessions, stream) for stream in sessions.tapes.streams()]
    return sorted(
        found,
        key=lambda one: newest_key(one.moment, one.stream.last_id),
        reverse=True,
    )


def newest_key(moment: float | None, last_id: int) -> tuple[float, int]:
    """What sessions are sorted by, the newest having the greatest: last activity in seconds
    since 1970, then the id of the last event in the log."""
    return (-math.inf if moment is None else moment, last_id)


def activity_of(sessions: Sessions, session_id: str) -> Active:
    """The same of one session. Raises `SessionNotFound`."""
    first = sessions.recorder.log_tape(session_id, 0, 1)
    position = sessions.recorder.stream_version(session_id)
    if not first or not position:
        raise SessionNotFound(session_id)
    (last,) = sessions.recorder.log_tape(session_id, position - 1, 1)
    return _active(sessions, Stream(session_id, position, first[0][0], last[0]))


def _active(sessions: Sessions, stream: Stream) -> Active:
    try:
        (event,) = sessions.tapes.events_at(stream.session_id, [stream.position])
        return Active(stream, event.timestamp)
    except StoreError:
        raise
    except TapefoldError as error:
        return Active(stream, None, str(error))


@dataclass(frozen=True)
class Described:
    """What a session is called, and the directory that it belongs to."""

    title: str | None = None
    directory: str | None = None


def describe(sessions: Sessions, session_id: str, alone: Event | None = None) -> Described:
    """The newest title and directory, those that a fork inherits included.

    What folding the tape says, from the few events that speak of it. `alone`: the tape's first
    event, where the caller knows that no other speaks of it.
    """
    title: str | None = None
    directory: str | None = None
    is_titled = is_placed = False
    for event in _informing(sessions, session_id, alone):
        head, begins = event.head, isinstance(event, SessionStarted)
        # As the kernel: an empty name takes the name away, but no session begins with one.
        names = not head.cleared and head.digest is not None if begins else _names(head)
        if names and not is_titled:
            is_titled, title = True, None if head.cleared else event.body.title
        places = head.name == DIRECTORY and (begins or not names)
        places = places or (begins and _is_root(event))
        if places and not is_placed:
            is_placed, directory = True, event.body.directory
        if is_titled and is_placed:
            break
    return Described(title, directory)


def _names(head: Head) -> bool:
    return head.digest is not None or head.cleared


def _is_root(first: Event) -> bool:
    return first.head.origin is None or not first.head.origin.inherit


def _informing(sessions: Sessions, session_id: str, alone: Event | None) -> Iterator[Event]:
    """What speaks of a session, the newest first: of its own tape, then of what it inherits."""
    seen: set[str] = set()
    bound: int | None = None
    while session_id not in seen:
        own = [alone] if alone is not None and not seen else None
        seen.add(session_id)
        origin = None
        for event in own or sessions.tapes.of_topics(session_id, INFO_TOPICS):
            if bound is None or event.position <= bound:
                yield event
            if event.position == 1:
                origin = event.head.origin
        if origin is None or not origin.inherit:
            return
        session_id, bound = origin.session_id, origin.position
