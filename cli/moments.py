"""Times for people: the stored ones are data, in whatever form they came."""

from __future__ import annotations

from datetime import UTC, datetime

from tapefold.domain.heads import Timestamp

MILLISECONDS = 1e11
"""A number from here on counts milliseconds since 1970, a smaller one seconds."""


def local_time(timestamp: Timestamp) -> datetime | None:
    """The moment in the time zone of this machine; None where the text or number is no time."""
    try:
        if isinstance(timestamp, str):
            moment = datetime.fromisoformat(timestamp)
        elif isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
            seconds = timestamp / 1000 if abs(timestamp) >= MILLISECONDS else timestamp
            moment = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        return moment.astimezone()
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
