"""The message object inside a Tau or Pi record, taken apart into our fields and put together.

Both tools share the shape: `role`, `content` (text or blocks), camelCase fields. What we have no
place for stays in `rest`, as it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from ..domain.bodies import MessageBody
from ..domain.content import TextBlock, call_ids, content_json
from .blocks import read_blocks, text_block, write_blocks

INTERRUPTED: Final = "Tool call interrupted by user"
"""The whole text of an error result that says only that there is none (Tau's sentence)."""

ROLES: Final = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "toolResult": "tool_result",
    "custom": "custom",
    "bashExecution": "bash_execution",
}
"""Their roles and ours. Summaries stored as messages, which no release writes, become custom
messages of that type."""

SUMMARY_ROLES: Final = ("branchSummary", "compactionSummary")

THEIRS: Final = {ours: theirs for theirs, ours in ROLES.items()}
"""Our roles and theirs."""

_BASH: Final = {
    "command": "command",
    "exitCode": "exit_code",
    "cancelled": "cancelled",
    "truncated": "truncated",
    "fullOutputPath": "full_output_path",
    "excludeFromContext": "exclude_from_context",
}

_TEXTS: Final = {
    "assistant": (
        ("model", "model"),
        ("provider", "provider"),
        ("stopReason", "stop_reason"),
        ("errorMessage", "error"),
    ),
    "tool_result": (("toolName", "tool_name"),),
    "custom": (("customType", "custom_type"),),
}
"""Per role: their text fields and ours."""

_VALUES: Final = {
    "assistant": (("usage", "usage"),),
    "tool_result": (("details", "details"), ("usage", "usage")),
    "custom": (("details", "details"),),
}
"""Per role: fields of any JSON value but null."""

_FLAGS: Final = {"tool_result": ("isError", "is_error"), "custom": ("display", "display")}
"""Per role: the field that is always written, true or false."""


@dataclass(slots=True)
class Taken:
    """A message taken apart.

    `values` are fields of the body. `rest` and `absent` say how the message differs from what
    `give` would make of these: fields beside ours, and fields that it lacks. `text`: its content
    was a string. `sections`: the last block of the content was made of its sections.
    """

    role: str
    values: dict[str, Any]
    status: str = "sent"
    call_ids: tuple[str, ...] = ()
    interruption: bool = False
    rest: dict[str, Any] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    text: bool = False
    sections: bool = False

    def extra(self) -> dict[str, Any]:
        """The part of `extra` that `give` needs."""
        out: dict[str, Any] = {}
        if self.rest:
            out["message"] = self.rest
        if self.absent:
            out["message_absent"] = self.absent
        if self.text:
            out["text"] = True
        if self.sections:
            out["sections"] = True
        return out


def take(message: Any) -> Taken | None:
    """Take a message apart; None if it is no object, or of a role that we do not know."""
    if not isinstance(message, dict):
        return None
    theirs = message.get("role")
    role = ROLES.get(theirs) if isinstance(theirs, str) else None
    if role is None:
        return _summary(message) if theirs in SUMMARY_ROLES else None
    taken = Taken(role, {})
    rest = dict(message)
    del rest["role"]
    if role == "bash_execution":
        _take_bash(taken, rest)
    else:
        _take_content(taken, rest)
    if role == "system":
        _take_sections(taken, rest)
    for key, name in _TEXTS.get(role, ()):
        if isinstance(rest.get(key), str):
            taken.values[name] = rest.pop(key)
    for key, name in _VALUES.get(role, ()):
        if rest.get(key) is not None:
            taken.values[name] = rest.pop(key)
    if role in _FLAGS:
        key, name = _FLAGS[role]
        if isinstance(rest.get(key), bool):
            taken.values[name] = rest.pop(key)
        elif key not in rest:
            taken.absent.append(key)
    taken.rest = rest
    _finish(taken)
    return taken


def _finish(taken: Taken) -> None:
    values = taken.values
    if taken.role == "assistant":
        taken.call_ids = call_ids(values.get("content", ()))
        if values.get("stop_reason") in ("error", "aborted"):
            taken.status = "error"
    elif taken.role == "tool_result":
        call_id = taken.rest.get("toolCallId")
        if isinstance(call_id, str):
            taken.call_ids = (call_id,)
            del taken.rest["toolCallId"]
        content = values.get("content", ())
        taken.interruption = (
            values.get("is_error") is True
            and len(content) == 1
            and isinstance(content[0], TextBlock)
            and content[0].text == INTERRUPTED
        )


def _take_content(taken: Taken, rest: dict[str, Any]) -> None:
    content = rest.get("content")
    if isinstance(content, str):
        taken.values["content"] = (text_block(content),) if content else ()
        taken.text = True
        del rest["content"]
    elif isinstance(content, list):
        taken.values["content"] = read_blocks(content)
        del rest["content"]
    elif "content" not in rest:
        taken.absent.append("content")


def sections_text(message: dict[str, Any]) -> str:
    """What the sections of a system message say: Pi sends their texts, as they are and in their
    order, behind the content, with an empty line between two. Empty where they say nothing."""
    sections = message.get("sections")
    if not isinstance(sections, dict):
        return ""
    said = "\n\n".join(text for text in sections.values() if isinstance(text, str) and text)
    return said if said.strip() else ""


def _take_sections(taken: Taken, rest: dict[str, Any]) -> None:
    """The sections stay in the rest; what they say is content, too, for it is what is sent."""
    said = sections_text(rest)
    if said:
        taken.values["content"] = (*taken.values.get("content", ()), text_block(said))
        taken.sections = True


def _take_bash(taken: Taken, rest: dict[str, Any]) -> None:
    output = rest.get("output")
    if isinstance(output, str):
        taken.values["content"] = (text_block(output),) if output else ()
        del rest["output"]
    elif "output" not in rest:
        taken.absent.append("output")
    details = {ours: rest.pop(theirs) for theirs, ours in _BASH.items() if theirs in rest}
    if details:
        taken.values["details"] = details


def _summary(message: dict[str, Any]) -> Taken:
    summary = message.get("summary")
    content = (text_block(summary),) if isinstance(summary, str) and summary else ()
    rest = {key: value for key, value in message.items() if key != "summary"}
    if not content:
        rest = dict(message)
    values = {"content": content, "custom_type": message["role"]}
    return Taken("custom", values, rest=rest)


def give(
    role: str | None, body: MessageBody, calls: tuple[str, ...], extra: dict[str, Any]
) -> dict[str, Any]:
    """The message that `take` took apart. `calls`: the head's call ids."""
    rest = extra.get("message", {})
    if rest.get("role") in SUMMARY_ROLES:
        summary = "".join(b.text for b in body.content if isinstance(b, TextBlock))
        return {"summary": summary, **rest} if body.content else dict(rest)
    role = role or "user"
    content = body.content[:-1] if extra.get("sections") else body.content
    out: dict[str, Any] = {"role": THEIRS.get(role, role)}
    if role == "bash_execution":
        details = body.details if isinstance(body.details, dict) else {}
        out["output"] = "".join(b.text for b in body.content if isinstance(b, TextBlock))
        out.update({theirs: details[ours] for theirs, ours in _BASH.items() if ours in details})
    elif extra.get("text"):
        out["content"] = "".join(b.text for b in content if isinstance(b, TextBlock))
    else:
        out["content"] = write_blocks(content)
    if role == "tool_result" and calls:
        out["toolCallId"] = calls[0]
    for key, name in (*_TEXTS.get(role, ()), *_VALUES.get(role, ())):
        value = getattr(body, name)
        if value is not None:
            out[key] = value
    if role in _FLAGS:
        key, name = _FLAGS[role]
        out[key] = getattr(body, name)
    out.update(rest)
    for key in extra.get("message_absent", ()):
        out.pop(key, None)
    return out


def kept_message(taken: Taken) -> dict[str, Any]:
    """A message that a compaction carries, as an anchor's body keeps it."""
    kept: dict[str, Any] = {
        "role": taken.role,
        "content": content_json(taken.values.get("content", ())),
    }
    if taken.role == "tool_result" and taken.call_ids:
        kept["call_id"] = taken.call_ids[0]
        if taken.values.get("is_error"):
            kept["is_error"] = True
    return kept
