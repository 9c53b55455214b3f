"""Tau's session files: the newest generation, and the shapes of the older ones inside any file.

There is no header. Every record has `id`, `parent_id` (left out for a root), a `timestamp` in
float seconds and `type`; the names of entry fields are snake_case, those of messages camelCase.
Older records are read as the newest release of the tool reads them, so a file of any generation
gives what that release makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from ..domain.events import (
    BranchSummarized,
    CompactionAnchored,
    CustomRecorded,
    Labelled,
    LeafMoved,
    MessageFinalized,
    ModelChanged,
    SessionInfoChanged,
    ThinkingLevelChanged,
)
from ..domain.heads import Head
from .jsontext import Plain
from .messages import Taken, take
from .outlines import MARK, QUIET, ROW, Field, Kind, Outline, Place
from .records import RecordFormat
from .tau_shape import UNKNOWN, shaped
from .times import is_moment

COMPACTION: Final = "compaction/imported"


class TauFormat(RecordFormat):
    """Tau's records."""

    NAME = "tau"
    PARENT = "parent_id"
    NULL_PARENT = False
    KINDS: ClassVar[Mapping[str, Kind]] = {
        "message": Kind(MessageFinalized, ROW),
        "custom_message": Kind(MessageFinalized, ROW),
        "model_change": Kind(
            ModelChanged, QUIET, (Field("model", "model"), Field("provider", "provider"))
        ),
        "thinking_level_change": Kind(
            ThinkingLevelChanged, QUIET, (Field("thinking_level", "level"),)
        ),
        "compaction": Kind(
            CompactionAnchored,
            ROW,
            (
                Field("summary", "summary"),
                Field("tokens_before", "tokens_before", int),
                Field("usage", "usage", None),
                Field("provider", "provider"),
                Field("model", "model"),
            ),
        ),
        "branch_summary": Kind(
            BranchSummarized,
            ROW,
            (
                Field("summary", "summary"),
                Field("usage", "usage", None),
                Field("provider", "provider"),
                Field("model", "model"),
            ),
        ),
        "custom": Kind(
            CustomRecorded, QUIET, (Field("namespace", "namespace"), Field("data", "data", None))
        ),
        "label": Kind(Labelled, MARK),
        "session_info": Kind(
            SessionInfoChanged, MARK, (Field("title", "title"), Field("cwd", "directory"))
        ),
        "leaf": Kind(LeafMoved, MARK),
    }
    TYPES: ClassVar[Mapping[str, str]] = {
        kind.event.KIND: name for name, kind in KINDS.items() if name != "custom_message"
    }

    def is_time(self, token: Any) -> bool:
        """A number of seconds, or such a number as text."""
        if isinstance(token, str):
            try:
                return is_moment(float(token), seconds=True)
            except ValueError:
                return False
        return is_moment(token, seconds=True)

    def take(self, name: str, record: dict[str, Any]) -> Taken | None:
        """The message as the newest release reads it, or a `custom_message` record as one."""
        if name == "message":
            message = record.get("message")
            if not isinstance(message, dict):
                return None
            taken = take(shaped(message))
            if taken is not None and taken.values.get("model") == UNKNOWN:
                taken.rest["model"] = taken.values.pop("model")
            if taken is not None and taken.values.get("provider") == UNKNOWN:
                taken.rest["provider"] = taken.values.pop("provider")
            return taken
        return take(custom_message(record))

    def plain_message(self, plain: Plain) -> Any:
        """The message, where the tool itself would read it as it is written."""
        message = plain.value.get("message")
        if not isinstance(message, dict):
            return None
        read = shaped(message)
        if read != message or UNKNOWN in (read.get("model"), read.get("provider")):
            return None
        return read if plain.value is plain.written else shaped(plain.written["message"])

    def beside_message(self, outline: Outline) -> dict[str, Any]:
        """Fields beside the message."""
        if outline.type == "message":
            return super().beside_message(outline)
        return {
            k: v for k, v in outline.record.items() if k not in self._common and k not in _CUSTOM
        }

    def give(self, out: dict[str, Any], message: dict[str, Any]) -> None:
        """Put a message into its record."""
        if out["type"] == "message":
            out["message"] = message
            return
        out["custom_type"] = message.get("customType")
        out.update({k: message[k] for k in ("content", "display", "details") if k in message})

    def special(
        self, outline: Outline, place: Place, body: dict[str, Any], rest: dict[str, Any]
    ) -> dict[str, Any]:
        """Head fields of a kind."""
        match outline.type:
            case "label":
                return _label(place, body, rest)
            case "session_info":
                # A record without a title says nothing about the name.
                return {} if body.get("title") else {"digest": None}
            case "compaction":
                return _compaction(place, rest)
            case "leaf":
                return _leaf(rest)
            case "branch_summary":
                body.setdefault("summary", "")
            case "custom":
                body.setdefault("namespace", "")
        return {}

    def give_special(self, out: dict[str, Any], head: Head, body: Any, own: dict[str, Any]) -> None:
        """The inverse of `special`."""
        match out["type"]:
            case "label":
                out["target_id"] = head.targets[0] if head.targets else None
                if body.label is not None:
                    out["label"] = body.label
            case "compaction":
                if head.replaces is not None:
                    out["replaces_entry_ids"] = list(head.replaces)
                if head.first_kept is not None:
                    out["first_kept_entry_id"] = head.first_kept
            case "leaf" if head.targets:
                out["entry_id"] = head.targets[0]


_CUSTOM: Final = ("custom_type", "content", "display", "details")


def custom_message(record: dict[str, Any]) -> dict[str, Any]:
    """What a `custom_message` record says, as a message of role custom."""
    message: dict[str, Any] = {
        "role": "custom",
        "customType": record.get("custom_type", record.get("customType")),
    }
    message.update({k: record[k] for k in ("content", "display", "details") if k in record})
    return message


def has_target(record: dict[str, Any]) -> bool:
    """Whether a label names its target. The older generations' one label a session did not."""
    return "target_id" in record


def _label(place: Place, body: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """A label's text is trimmed; without text the label is cleared."""
    text = rest.get("label")
    shown = text.strip() if isinstance(text, str) else ""
    if shown:
        body["label"] = shown
        if shown == text:
            del rest["label"]
    target = rest.get("target_id") if has_target(rest) else place.target
    if isinstance(rest.get("target_id"), str):
        del rest["target_id"]
    targets = (target,) if isinstance(target, str) else ()
    return {"targets": targets, "cleared": not shown}


def _compaction(place: Place, rest: dict[str, Any]) -> dict[str, Any]:
    """By boundary, or (older) by a list of the entries that it replaces."""
    head: dict[str, Any] = {"name": COMPACTION, "cumulative": True, "first_kept": place.first_kept}
    if place.first_kept is not None and rest.get("first_kept_entry_id") == place.first_kept:
        del rest["first_kept_entry_id"]
    replaced = rest.get("replaces_entry_ids")
    if "replaces_entry_ids" in rest:
        ids = replaced if isinstance(replaced, list) else []
        head["replaces"] = tuple(i for i in ids if isinstance(i, str))
        if list(head["replaces"]) == replaced:
            del rest["replaces_entry_ids"]
    return head


def _leaf(rest: dict[str, Any]) -> dict[str, Any]:
    """Kept for export; it moves nothing here, as in the newest release."""
    target = rest.get("entry_id")
    if isinstance(target, str):
        del rest["entry_id"]
        return {"targets": (target,)}
    return {}


TAU: Final = TauFormat()
"""The one reader of Tau's records."""
