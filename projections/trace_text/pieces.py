"""The texts that a stored body holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from tapefold.persistence.jsontext import dump

from ..log import LogEvent
from ..values import text_of

MESSAGE: Final = "message"
THINKING: Final = "thinking"
CALL: Final = "call"
RESULT: Final = "result"
SUMMARY: Final = "summary"
BRANCH_SUMMARY: Final = "branch_summary"
CUSTOM: Final = "custom"
FOREIGN: Final = "foreign"

KINDS: Final = (MESSAGE, THINKING, CALL, RESULT, SUMMARY, BRANCH_SUMMARY, CUSTOM, FOREIGN)
"""What a text is."""

ENTRY_KINDS: Final = {
    "compaction_anchored": SUMMARY,
    "handoff_anchored": SUMMARY,
    "branch_summarized": BRANCH_SUMMARY,
    "custom_recorded": CUSTOM,
    "foreign_recorded": FOREIGN,
}
"""Events that are no messages and hold a text, and what it is."""

_SIMPLE: Final = frozenset({"user", "assistant", "system", "tool_result"})


class Piece(NamedTuple):
    """One text. `name`: of a tool, or of an extension's namespace."""

    kind: str
    text: str
    call_id: str | None = None
    name: str | None = None


class _Block(msgspec.Struct, gc=False):
    """What is asked of one part of a message's content; whatever JSON there is."""

    type: Any = None
    text: Any = None
    call_id: Any = None
    name: Any = None
    arguments: Any = None
    thinking: Any = None
    url: Any = None
    value: Any = None


class Spoken(msgspec.Struct):
    """What is asked of a message's body; the rest of it is passed over."""

    content: list[_Block] | None = None
    error: Any = None
    details: Any = None
    tool_name: Any = None
    custom_type: Any = None
    name: Any = None


_read_spoken = msgspec.json.Decoder(Spoken).decode


def spoken_in(event: LogEvent) -> Spoken:
    """What an event's body says."""
    try:
        return _read_spoken(event.body_text)
    except (msgspec.DecodeError, RecursionError):  # lone surrogates, NaN, another shape
        return spoken_of(event.body)


def spoken_of(body: Mapping[str, Any]) -> Spoken:
    """The same of a body that is parsed already; parts that are no objects say nothing."""
    content = body.get("content")
    blocks = [
        _Block(**{name: block.get(name) for name in _Block.__struct_fields__})
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict)
    ]
    return Spoken(blocks, *(body.get(name) for name in Spoken.__struct_fields__[1:]))


def message_pieces(body: Spoken, role: str | None) -> list[Piece]:
    """What a message says, then its reasoning, then its calls. Text of several blocks is one."""
    content = body.content or []
    if len(content) == 1 and role in _SIMPLE and body.error is None:
        simple = content[0].text
        if isinstance(simple, str) and content[0].type == "text":
            if not simple:
                return []
            if role == "tool_result":
                return [Piece(RESULT, text_of(simple) or "", None, text_of(body.tool_name))]
            return [Piece(MESSAGE, text_of(simple) or "")]
    said: list[str] = []
    thought: list[str] = []
    calls: list[Piece] = []
    if role == "bash_execution" and isinstance(body.details, dict):
        said += _texts(body.details.get("command"))
    for block in content:
        kind = block.type
        if kind == "text":
            said += _texts(block.text)
        elif kind == "tool_call":
            calls.append(call_piece(text_of(block.name), block.arguments, text_of(block.call_id)))
        elif kind == "thinking":
            thought += _texts(block.thinking)
        elif kind == "other":
            said += _texts(flat(block.value))
        else:  # an image or a file: its name and address; what it holds is no text
            said += _texts(block.name) + _texts(block.url)
    said += _texts(body.error)
    found: list[Piece] = []
    if said:
        name = body.tool_name if role == "tool_result" else body.custom_type
        kind = RESULT if role == "tool_result" else MESSAGE
        found.append(Piece(kind, _joined(said), None, text_of(name)))
    if thought:
        found.append(Piece(THINKING, _joined(thought)))
    return found + calls


def call_piece(name: str | None, arguments: Any, call_id: str | None) -> Piece:
    """A call: the name of the tool on a line of its own, then its arguments."""
    said = [name or "", *_texts(flat(arguments))]
    return Piece(CALL, _joined(said), call_id, name)


def result_piece(body: Spoken, call_id: str) -> Piece | None:
    """A result that was recorded as a fact."""
    for piece in message_pieces(body, "tool_result"):
        return piece._replace(call_id=text_of(call_id), name=text_of(body.name))
    return None


def entry_piece(kind: str, body: Mapping[str, Any]) -> Piece | None:
    """The text of an entry that is no message, of one of `ENTRY_KINDS`."""
    if kind == "custom_recorded":
        name = text_of(body.get("namespace"))
        said = _texts(flat(body.get("data")))
    elif kind == "foreign_recorded":
        name, said = None, _texts(body.get("raw"))
    else:
        name = None
        said = _texts(body.get("summary")) + _texts(flat(body.get("state")))
    return Piece(ENTRY_KINDS[kind], _joined(said), None, name) if said else None


def flat(value: Any) -> str:
    """The text of a JSON value: a line `key: value` for each member, items a line each, so that
    nothing in it is written as an escape. Iterative."""
    if value is None:
        return ""
    lines: list[str] = []
    todo: list[tuple[str, Any]] = [("", value)]
    while todo:
        key, item = todo.pop()
        if isinstance(item, str):
            lines.append(f"{key}: {item}" if key else item)
        elif isinstance(item, dict):
            if key:
                lines.append(f"{key}:")
            todo.extend(reversed(item.items()))
        elif isinstance(item, list):
            todo.extend([(key, inner) for inner in reversed(item)])
        else:
            text = str(item) if type(item) is int else dump(item).decode()
            lines.append(f"{key}: {text}" if key else text)
    return "\n".join(lines)


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) and value else []


def _joined(texts: list[str]) -> str:
    return text_of("\n".join(texts) if len(texts) > 1 else texts[0]) or ""
