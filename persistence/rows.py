"""Rows of the table of events as they stand there: what tells one from another, how large one is.

A column of SQLite holds any type, whatever it was declared as; so nothing here trusts one.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_OTHER: Final = 8
"""Bytes of a number."""


def row_digest(
    row_id: int, originator_id: object, version: object, topic: object, state: object
) -> str:
    """What tells a row from any other that could stand at its id, as hex digits."""
    made = sha256(f"{row_id}\0{version}\0".encode("utf-8", "surrogatepass"))
    for part in (topic, originator_id, state):
        made.update(part if isinstance(part, bytes) else _text(part))
        made.update(b"\0")
    return made.hexdigest()


def size_of(state: object) -> int:
    """How many bytes a stored state has, about."""
    return len(state) if isinstance(state, bytes | str) else _OTHER


def _text(value: object) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")
