"""Values of any JSON as columns hold them: what does not fit a column is none."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from tapefold.domain.heads import Timestamp
from tapefold.domain.instants import instant

from ..effective_view.bodies import text_of

_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1


def whole(value: Any) -> int | None:
    """An integer of 64 bits; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if _LEAST <= value <= _MOST else None


def real(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -1e300 < value < 1e300 else None


def short(value: Any) -> str | int | float | None:
    """Text or a number, such as a version; None for anything else."""
    if isinstance(value, str):
        return text_of(value)
    number = whole(value)
    return real(value) if number is None else number


def stamp(value: Timestamp) -> Timestamp:
    """A time as it was written, as far as a column can hold it."""
    return short(value)


def moment(value: Timestamp) -> float | None:
    """Seconds since 1970; None for what is no time."""
    if isinstance(value, str) and value[-1:] == "Z" and value.isascii():
        try:  # how nearly all are written; the long way comes to the same
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            pass
    found = instant(value)
    return None if found is None else found.timestamp()
