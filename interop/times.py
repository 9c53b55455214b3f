"""Time tokens of foreign records: which can be read, and what they are in milliseconds.

A token is kept as it was written. It is turned into a number only where another tool's own shape
asks for one.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)

LATEST: Final = 8_640_000_000_000_000
"""The last moment, before 1970 the first, that a date of ECMAScript's can hold. Unit: ms."""


def is_number(value: Any) -> bool:
    """Whether a token is a finite number (true and false are none)."""
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
    )


def is_iso(value: Any) -> bool:
    """Whether a token is ISO 8601 text."""
    return isinstance(value, str) and iso_milliseconds(value) is not None


def is_moment(value: Any, seconds: bool) -> bool:
    """Whether a token is a number that a date can hold; `seconds` says what it counts."""
    return is_number(value) and abs(value) <= (LATEST // 1000 if seconds else LATEST)


def _parsed(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    # Without a zone it is taken for UTC: the same on every machine.
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def iso_milliseconds(text: str) -> int | None:
    """ISO 8601 text in milliseconds since 1970, finer parts cut off; None if it is no time."""
    moment = _parsed(text)
    if moment is None:
        return None
    cut = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    try:
        return (cut - _EPOCH) // _MILLISECOND
    except OverflowError:
        return None


def seconds_to_milliseconds(seconds: float) -> int | None:
    """Seconds since 1970 in milliseconds, as Tau rounds: half to even, on the float product."""
    try:
        return round(float(seconds) * 1000) if is_moment(seconds, True) else None
    except (OverflowError, ValueError):
        return None


def token_milliseconds(token: Any, seconds: bool) -> int | None:
    """A readable token in milliseconds; `seconds` says what a bare number counts."""
    if isinstance(token, str):
        found = iso_milliseconds(token)
        if found is None and seconds:
            return _text_seconds(token)
        return found
    if not is_moment(token, seconds):
        return None
    return seconds_to_milliseconds(token) if seconds else int(token)


def _text_seconds(text: str) -> int | None:
    try:
        return seconds_to_milliseconds(float(text))
    except ValueError:
        return None
