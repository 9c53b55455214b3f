"""Times for people: the stored ones are data, in whatever form they came."""

from __future__ import annotations

from datetime import datetime

from tapefold.domain.heads import Timestamp
from tapefold.domain.instants import instant


def local_time(timestamp: Timestamp) -> datetime | None:
    """The moment in the time zone of this machine; None where the text or number is no time."""
    moment = instant(timestamp)
    try:
        return None if moment is None else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def day_and_time(timestamp: Timestamp) -> str:
    """`2026-03-02 09:10`; what is no time as it stands, cut."""
    moment = local_time(timestamp)
    return _as_it_is(timestamp) if moment is None else moment.isoformat(" ", "minutes")[:16]


def time_of_day(timestamp: Timestamp) -> str:
    """`09:10:04`; what is no time as it stands, cut."""
    moment = local_time(timestamp)
    return _as_it_is(timestamp)[:8] if moment is None else moment.isoformat()[11:19]


def _as_it_is(timestamp: Timestamp) -> str:
    return "" if timestamp is None else str(timestamp)[:16]
