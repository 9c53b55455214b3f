"""Records of Tau's older generations as the newest release writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...domain.heads import Head
from ..tau import has_target
from ..tau_shape import shaped
from ..times import is_moment, token_milliseconds

Record = dict[str, Any]


def is_old(record: Record) -> bool:
    """Whether only an older generation writes such a record."""
    kind = record.get("type")
    if kind == "leaf" or (kind == "label" and not has_target(record)):
        return True
    message = record.get("message")
    if kind != "message" or not isinstance(message, dict):
        return False
    role = message.get("role")
    return role in ("tool", "custom") or (
        (role == "user" and ("custom_type" in message or "customType" in message))
        or (role == "assistant" and ("tool_calls" in message or "toolCalls" in message))
    )


def is_newest(record: Record) -> bool:
    """Whether only the newest generation writes such a record."""
    match record.get("type"):
        case "label":
            return has_target(record)
        case "custom_message":
            return True
        case "compaction":
            return "replaces_entry_ids" not in record
        case "branch_summary":
            return "usage" in record
    return False


def is_of_old_file(records: Iterable[Record]) -> bool:
    """Whether a file is of an older generation. One that the newest release has gone on with
    is its own: it reads every line of it, and leaves the old ones as they are."""
    old = False
    for record in records:
        if is_newest(record):
            return False
        old = old or is_old(record)
    return old


def newest_record(record: Record, head: Head) -> Record:
    """The record as the newest release writes it: fields that are null left out, the message in
    its present shape and with a time, a label with its target."""
    out = {key: value for key, value in record.items() if value is not None}
    if record.get("type") == "label" and not has_target(record):
        out["target_id"] = head.targets[0] if head.targets else record.get("id")
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return out
    new = shaped(message)
    token = new.get("timestamp")
    if new.get("role") == "custom":
        return _custom_message(out, new)
    if token is None:
        new["timestamp"] = token_milliseconds(record.get("timestamp"), True) or 0
    out["message"] = new
    return out


def _custom_message(out: Record, message: Record) -> Record:
    """A message of an extension is an entry of its own kind, at the message's time."""
    made = {key: value for key, value in out.items() if key != "message"}
    made["type"] = "custom_message"
    token = message.get("timestamp")
    if isinstance(token, int | float) and is_moment(token, seconds=False):
        made["timestamp"] = token / 1000
    made["custom_type"] = message.get("customType", "")
    made.update({k: message[k] for k in ("content", "display", "details") if k in message})
    return made
