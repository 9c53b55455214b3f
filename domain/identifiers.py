"""Ids: what is accepted, and how new ones are made."""

from __future__ import annotations

import re
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from .errors import InvalidValue, shown

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

MAX_ID = 255
"""Longest id. Unit: characters."""


def check_id(value: object, what: str) -> str:
    """Return `value` if it is a usable id: 1-255 characters, none of them a control character.

    Raises `InvalidValue`. An id is data: it is compared, never parsed, and no file name.
    """
    if not isinstance(value, str):
        raise InvalidValue(f"{what} must be text, not {type(value).__name__}")
    if not 1 <= len(value) <= MAX_ID:
        raise InvalidValue(f"{what} must have 1 to {MAX_ID} characters, not {len(value)}")
    if _CONTROL.search(value):
        raise InvalidValue(f"{what} {value!r} has control characters; choose a plain id")
    return value


def check_position(value: object, what: str) -> int:
    """Return `value` if it can be a position: a whole number that a store can hold.

    Whether the tape reaches that far is another question. Raises `InvalidValue`.
    """
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise InvalidValue(f"{what} takes a position, a whole number, not {shown(value)}")
    return value


def uuid7() -> str:
    """A new UUIDv7 as text (RFC 9562): 48 bits of milliseconds, then random bits."""
    millis = time.time_ns() // 1_000_000
    value = (millis & ((1 << 48) - 1)) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | (0x7 << 76)
    value = value & ~(0x3 << 62) | (0x2 << 62)
    return str(uuid.UUID(int=value))


def new_entry_id() -> str:
    """Twelve random hex digits, a letter among them: digits alone would be read as a position.

    Uniqueness is checked by the command that takes it.
    """
    made = f"{secrets.randbits(48):012x}"
    while made.isdigit():  # one in 280
        made = f"{secrets.randbits(48):012x}"
    return made


def now() -> str:
    """The present as ISO text in UTC with microseconds, `2026-03-01T09:30:00.000000Z`."""
    seconds, micros = divmod(time.time_ns() // 1000, 1_000_000)
    return f"{_whole(seconds)}.{micros:06d}Z"


@lru_cache(maxsize=4)
def _whole(seconds: int) -> str:
    """ISO text of a whole second: the same for every message within it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@dataclass(frozen=True)
class Defaults:
    """Where commands take ids and times from, unless the caller gives them."""

    new_session_id: Callable[[], str] = uuid7
    new_entry_id: Callable[[], str] = new_entry_id
    now: Callable[[], str] = now
    new_incarnation: Callable[[], str] = uuid7
