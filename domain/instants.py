"""Moments in time: what a stored time says, in whatever form it came."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from .heads import Timestamp

MILLISECONDS: Final = 1e11
"""A number from here on counts milliseconds since 1970, a smaller one seconds."""


def instant(timestamp: Timestamp) -> datetime | None:
    """The moment, with a zone; None where the text or number is no time.

    ISO 8601 text without a zone is taken for UTC, so that every machine sorts it alike. Numbers,
    and text that is a number, count seconds or milliseconds since 1970.
    """
    try:
        if isinstance(timestamp, str):
            return _of_text(timestamp)
        if isinstance(timestamp, int | float) and not isinstance(timestamp, bool):
            return _of_number(timestamp)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def seconds(timestamp: Timestamp) -> float | None:
    """The same in seconds since 1970, as sessions are sorted by it."""
    if isinstance(timestamp, str) and timestamp[-1:] == "Z" and timestamp.isascii():
        try:  # how nearly all are written; the long way comes to the same
            return datetime.fromisoformat(timestamp).timestamp()
        except (ValueError, OverflowError):
            pass
    moment = instant(timestamp)
    return None if moment is None else moment.timestamp()


def _of_text(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _of_number(float(text))
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return moment.astimezone(UTC)  # what no calendar holds in UTC is no time


def _of_number(number: float) -> datetime:
    return datetime.fromtimestamp(number / 1000 if abs(number) >= MILLISECONDS else number, UTC)
