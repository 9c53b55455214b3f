"""Values of any JSON as columns hold them: what none can hold is none, or as near as can be."""

from __future__ import annotations

import re
from math import isnan
from typing import Any, Final

from tapefold.domain.heads import Timestamp
from tapefold.persistence.jsontext import dump

_LEAST: Final = -(1 << 63)
_MOST: Final = (1 << 63) - 1
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


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


def text_of(value: Any) -> str | None:
    """Text that a column can hold: a lone surrogate is shown as U+FFFD; None for what is none."""
    if not isinstance(value, str):
        return None
    if value.isascii():
        return value
    try:
        value.encode()  # fails at a surrogate: in text that was decoded, each stands alone
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", value)
    return value


def key_of(value: str) -> str:
    """An id as a key column holds it: a lone surrogate is spelt as its escape, so that two ids
    stay two."""
    if value.isascii():
        return value
    return value.encode("utf-8", "backslashreplace").decode()


def stamp(value: Timestamp) -> Timestamp:
    """A time as it was written, as far as a column can hold it: SQLite's integers have 64 bits,
    and it knows no NaN."""
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return float(value) if abs(value) < 1 << 1023 else None
    return None if isinstance(value, float) and isnan(value) else value


def json_column(value: Any) -> str | bytes | None:
    """A JSON value as its text; None for null."""
    return None if value is None else column(dump(value))


def column(text: bytes) -> str | bytes:
    """JSON text as a column holds it: text, or the bytes where they are no UTF-8."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text
