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


def age_text(seconds: float) -> str:
    """`3.4 s`, `2 minutes`, `5 hours`, `44 days`: the largest unit of which there are two."""
    for name, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:,.0f} {name}"
    return f"{seconds:,.1f} s"


class Days:
    """Times of day down a page, each day told once."""

    def __init__(self) -> None:
        self._day = ""

    def time(self, timestamp: Timestamp) -> str:
        """The time of day; the day before it where it is another one than that before."""
        time = time_of_day(timestamp)
        moment = local_time(timestamp)
        day = self._day if moment is None else moment.date().isoformat()
        is_new, self._day = day != self._day, day
        return f"{day} {time}" if is_new else time


def _as_it_is(timestamp: Timestamp) -> str:
    return "" if timestamp is None else str(timestamp)[:16]
