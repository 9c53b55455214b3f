"""Pi's session files, version 3 with its additions.

The first record is the header (`type` `session`); each further one is an entry with `id`,
`parentId` (null for a root) and an ISO `timestamp`. The reader of the tool checks nothing, so
nothing here may rely on the shape of a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from ..domain.events import (
    BranchSummarized,
    CompactionAnchored,
    ContextEdited,
    CustomRecorded,
    Labelled,
    MessageFinalized,
    ModelChanged,
    SessionInfoChanged,
    ThinkingLevelChanged,
    UsageRecorded,
)
from ..domain.heads import Head
from .blocks import read_blocks, text_block, write_blocks
from .messages import Taken, kept_message, take
from .outlines import LOOSE, MARK, QUIET, ROW, Field, Kind, Outline, Place
from .records import RecordFormat
from .times import is_iso, is_moment

VERSION: Final = 3
"""The version of the format that we read."""

COMPACTION: Final = "compaction/imported"
"""The name of the anchor that a compaction of a file becomes."""

HEADER: Final = "session"
SECOND_HEADER: Final = "second_header"

# What JavaScript's trim takes away; Python's strip differs at both ends of the list.
_JS_BLANKS: Final = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


class PiFormat(RecordFormat):
    """Pi's records."""

    NAME = "pi"
    PARENT = "parentId"
    NULL_PARENT = True
    KINDS: ClassVar[Mapping[str, Kind]] = {
        "message": Kind(MessageFinalized, ROW),
        "custom_message": Kind(MessageFinalized, ROW),
        "model_change": Kind(
            ModelChanged, QUIET, (Field("modelId", "model"), Field("provider", "provider"))
        ),
        "thinking_level_change": Kind(
            ThinkingLevelChanged, QUIET, (Field("thinkingLevel", "level"),)
        ),
        "compaction": Kind(
            CompactionAnchored,
            ROW,
            (
                Field("summary", "summary"),
                Field("tokensBefore", "tokens_before", int),
                Field("usage", "usage", None),
                Field("details", "details", None),
            ),
        ),
        "branch_summary": Kind(
            BranchSummarized,
            ROW,
            (
                Field("summary", "summary"),
                Field("usage", "usage", None),
                Field("details", "details", None),
            ),
        ),
        "context_edit": Kind(ContextEdited, QUIET),
        "custom": Kind(
            CustomRecorded, QUIET, (Field("customType", "namespace"), Field("data", "data", None))
        ),
        "label": Kind(Labelled, MARK),
        "session_info": Kind(SessionInfoChanged, MARK),
        "usage": Kind(
            UsageRecorded,
            MARK,
            (
                Field("kind", "purpose"),
                Field("provider", "provider"),
                Field("model", "model"),
                Field("usage", "usage", None),
                Field("note", "note"),
            ),
        ),
    }
    TYPES: ClassVar[Mapping[str, str]] = {
        kind.event.KIND: name for name, kind in KINDS.items() if name != "custom_message"
    }

    def is_time(self, token: Any) -> bool:
        """ISO text, or a number of milliseconds."""
        return is_iso(token) or is_moment(token, seconds=False)

    def own_id(self, record: Any) -> Any:
        """The id of an entry; a header is none."""
        return None if is_header(record) else super().own_id(record)

    def outline(self, record: Any) -> Outline:
        """As for any record; a header that is not the first record is no entry."""
        if is_header(record):
            return Outline(record, LOOSE, problem=SECOND_HEADER)
        return super().outline(record)

    def take(self, name: str, record: dict[str, Any]) -> Taken | None:
        """The message, or what a `custom_message` record says as one."""
        if name == "message":
            return take(record.get("message"))
        return take({"role": "custom", **{k: record[k] for k in _CUSTOM if k in record}})

    def fits(self, outline: Outline) -> bool:
        """An edit needs a target and a replacement: without these the tool fails on it."""
        if outline.type == "context_edit":
            record = outline.record
            return isinstance(record.get("targetId"), str) and "replacement" in record
        return super().fits(outline)

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
        else:
            out.update({k: v for k, v in message.items() if k != "role"})

    def special(
        self, outline: Outline, place: Place, body: dict[str, Any], rest: dict[str, Any]
    ) -> dict[str, Any]:
        """Head fields of a kind."""
        match outline.type:
            case "label":
                return _label(body, rest)
            case "session_info":
                return _name(body, rest)
            case "compaction":
                return _compaction(place, body, rest)
            case "context_edit":
                return _edit(body, rest)
            case "branch_summary":
                body.setdefault("summary", "")
                left = rest.get("fromId")
                # Until 0.84.3 it named the point that was returned to, which is the parent.
                if isinstance(left, str) and left not in ("root", outline.parent):
                    body["left"] = left
            case "custom":
                body.setdefault("namespace", "")
        return {}

    def give_special(self, out: dict[str, Any], head: Head, body: Any, own: dict[str, Any]) -> None:
        """The inverse of `special`."""
        match out["type"]:
            case "label":
                out["targetId"] = head.targets[0] if head.targets else None
                if body.label is not None:
                    out["label"] = body.label
            case "session_info" if body.title is not None:
                out["name"] = body.title
            case "compaction" if head.first_kept is not None and not own.get("tail"):
                out["firstKeptEntryId"] = head.first_kept
            case "context_edit":
                out["targetId"] = head.targets[0]
                cleared = head.cleared or body.content is None
                out["replacement"] = None if cleared else {"content": write_blocks(body.content)}


def is_header(record: Any) -> bool:
    """Whether a record is a session header."""
    return isinstance(record, dict) and record.get("type") == HEADER


_CUSTOM: Final = ("customType", "content", "display", "details")


def _label(body: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """A label is kept as it is; none, null and empty text clear it."""
    text = rest.get("label")
    target = rest.get("targetId")
    if isinstance(text, str) and text:
        body["label"] = rest.pop("label")
    elif text:
        body["label"] = str(text)
    if isinstance(target, str):
        del rest["targetId"]
    return {
        "targets": (target,) if isinstance(target, str) else (),
        "cleared": "label" not in body,
    }


def _name(body: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """The newest name counts, and an empty one takes the name away."""
    name = rest.get("name")
    title = shown_name(name)
    if title is not None:
        body["title"] = title
        if title == name:
            del rest["name"]
    return {"cleared": title is None}


def shown_name(name: Any) -> str | None:
    """A name as a title: trimmed, on one line; None where nothing is left."""
    if not isinstance(name, str):
        return None
    return " ".join(name.strip(_JS_BLANKS).splitlines()) or None


def trimmed(name: Any) -> str | None:
    """A name as the tool itself reads it."""
    return (name.strip(_JS_BLANKS) or None) if isinstance(name, str) else None


def _compaction(place: Place, body: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    head: dict[str, Any] = {"name": COMPACTION, "first_kept": place.first_kept}
    kept = [*_system_message(rest), *(place.kept or ())]
    if kept or place.kept is not None:
        body["kept"] = kept
    if place.first_kept is not None and rest.get("firstKeptEntryId") == place.first_kept:
        del rest["firstKeptEntryId"]
    return head


def _system_message(rest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What the model is told from a compaction on, which the compaction carries: the system
    messages before it are behind its boundary."""
    taken = take(rest.get("systemMessage"))
    if taken is not None and taken.role == "system" and taken.values.get("content"):
        yield kept_message(taken)


def _edit(body: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    """Null leaves the target out; `{content}` stands in its place. Anything else has no content."""
    target = rest.pop("targetId")
    replacement = rest["replacement"]
    if replacement is None:
        del rest["replacement"]
        return {"targets": (target,), "cleared": True}
    content = replacement.get("content") if isinstance(replacement, dict) else None
    if isinstance(content, list):
        body["content"] = read_blocks(content)
    elif isinstance(content, str):
        body["content"] = (text_block(content),) if content else ()
    else:
        body["content"] = ()
    if isinstance(replacement, dict) and len(replacement) == 1 and isinstance(content, list):
        del rest["replacement"]
    return {"targets": (target,)}


PI: Final = PiFormat()
"""The one reader of Pi's records."""
