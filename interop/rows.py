"""The row that a message record makes in its own tool's context."""

from __future__ import annotations

import math
from typing import Any, Final

from .tau import custom_message
from .tau_shape import shaped
from .times import is_moment, iso_milliseconds, seconds_to_milliseconds, token_milliseconds

Row = dict[str, Any]

_MISSING: Final = object()
_EMPTY_CONTENT: Final = {"system": "", "user": [], "assistant": [], "toolResult": []}


def tau_row(record: Row, without: int) -> Row | None:
    """The row of a `message` or `custom_message` of Tau's; None if its message is no object.

    `without`: the time in milliseconds where the record has none that can be read. The tool
    takes the moment of replay for a message without a time; here it is the record's.
    """
    entry_time = token_milliseconds(record.get("timestamp"), True)
    if entry_time is None:
        entry_time = without
    if record.get("type") == "custom_message":
        return {**shaped(custom_message(record)), "timestamp": entry_time}
    if not isinstance(record.get("message"), dict):
        return None
    row = shaped(record["message"])
    token = row.get("timestamp")
    if row.get("role") == "custom":
        # The tool makes an entry of its own of it, timed in seconds, and of that a row again.
        row["timestamp"] = entry_time
        if isinstance(token, int | float) and is_moment(token, seconds=False):
            row["timestamp"] = seconds_to_milliseconds(token / 1000)
    elif token is None:
        row["timestamp"] = entry_time
    return row


def pi_row(record: Row) -> Row | None:
    """The row of a `message` or `custom_message` of Pi's; None if its message is no object.

    A message is its own row, with every field that it has; only content that is null or absent
    becomes empty.
    """
    if record.get("type") == "custom_message":
        content = record.get("content")
        return {
            "role": "custom",
            **present(record, "customType", "display", "details"),
            "content": [] if content is None else content,
            "timestamp": js_time(record),
        }
    message = record.get("message")
    if not isinstance(message, dict):
        return None
    role = message.get("role")
    if message.get("content") is not None or role not in _EMPTY_CONTENT:
        return dict(message)
    return {**message, "content": _EMPTY_CONTENT[role]}


def present(record: Row, *keys: str) -> Row:
    """These fields, where the record has them."""
    return {key: record[key] for key in keys if key in record}


def js_time(record: Row) -> int | None:
    """What Pi makes of a record's time: milliseconds; None where it cannot be read."""
    token = record.get("timestamp", _MISSING)
    if token is None or isinstance(token, bool):
        return int(token or 0)
    if isinstance(token, str):
        return iso_milliseconds(token)
    if isinstance(token, int | float) and math.isfinite(token):
        return int(token)
    return None
