"""The texts that a stored body holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from tapefold.persistence.jsontext import dump

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


def message_pieces(body: Mapping[str, Any], role: str | None) -> list[Piece]:
    """What a message says, then its reasoning, then its calls. Text of several blocks is one."""
    content: list[Any] = body.get("content") or []
    if len(content) == 1 and role in _SIMPLE and "error" not in body:
        simple = content[0].get("text") if isinstance(content[0], dict) else None
        if isinstance(simple, str) and content[0].get("type") == "text":
            if role == "tool_result":
                named = Piece(RESULT, text_of(simple) or "", None, text_of(body.get("tool_name")))
                return [named] if simple else []
            return [Piece(MESSAGE, text_of(simple) or "")] if simple else []
    said: list[str] = []
    thought: list[str] = []
    calls: list[Piece] = []
    details = body.get("details")
    if role == "bash_execution" and isinstance(details, dict):
        said += _texts(details.get("command"))
    for block in content:
        if isinstance(block, dict):
            _block(block, said, thought, calls)
    said += _texts(body.get("error"))
    found: list[Piece] = []
    if said:
        name = body.get("tool_name") if role == "tool_result" else body.get("custom_type")
        kind = RESULT if role == "tool_result" else MESSAGE
        found.append(Piece(kind, _joined(said), None, text_of(name)))
    if thought:
        found.append(Piece(THINKING, _joined(thought)))
    return found + calls


def _block(
    block: Mapping[str, Any], said: list[str], thought: list[str], calls: list[Piece]
) -> None:
    kind = block.get("type")
    if kind == "text":
        said += _texts(block.get("text"))
    elif kind == "tool_call":
        name = text_of(block.get("name"))
        calls.append(call_piece(name, block.get("arguments"), text_of(block.get("call_id"))))
    elif kind == "thinking":
        thought += _texts(block.get("thinking"))
    elif kind == "other":
        said += _texts(flat(block.get("value")))
    else:  # an image or a file: its name and address; what it holds is no text
        said += _texts(block.get("name")) + _texts(block.get("url"))


def call_piece(name: str | None, arguments: Any, call_id: str | None) -> Piece:
    """A call: the name of the tool on a line of its own, then its arguments."""
    said = [name or "", *_texts(flat(arguments))]
    return Piece(CALL, _joined(said), call_id, name)


def result_piece(body: Mapping[str, Any], call_id: str) -> Piece | None:
    """A result that was recorded as a fact."""
    for piece in message_pieces(body, "tool_result"):
        return piece._replace(call_id=text_of(call_id), name=text_of(body.get("name")))
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
