"""What a tool's own message types take: blocks, fields and their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

Told = Callable[[str, str], None]
"""Takes a reason of the report and a detail."""

BLOCKS: Final = {
    "assistant": frozenset({"text", "thinking", "toolCall"}),
    "user": frozenset({"text", "image"}),
    "custom": frozenset({"text", "image"}),
    "toolResult": frozenset({"text", "image"}),
}

STOP_REASONS: Final = frozenset({"stop", "length", "toolUse", "error", "aborted"})

Fields = dict[str, tuple[type, ...]]

_TEXT: Final = (str,)
_WHOLE: Final = (int,)

TAU_FIELDS: Final[dict[str, Fields]] = {
    "assistant": {
        "api": _TEXT,
        "provider": _TEXT,
        "model": _TEXT,
        "responseModel": _TEXT,
        "responseProvider": _TEXT,
        "responseId": _TEXT,
        "usage": (dict,),
        "stopReason": _TEXT,
        "errorMessage": _TEXT,
    },
    "toolResult": {"toolCallId": _TEXT, "toolName": _TEXT, "isError": (bool,)},
    "custom": {"customType": _TEXT, "display": (bool,)},
    "bashExecution": {
        "command": _TEXT,
        "output": _TEXT,
        "exitCode": _WHOLE,
        "cancelled": (bool,),
        "truncated": (bool,),
        "fullOutputPath": _TEXT,
        "excludeFromContext": (bool,),
    },
}
"""Of each role: the fields whose type Tau checks."""


def fitting_blocks(role: str, content: Any, told: Told) -> list[Any]:
    """The blocks that a message of this role can have; a tool call's arguments as an object."""
    allowed = BLOCKS.get(role)
    if not isinstance(content, list) or allowed is None:
        return content if isinstance(content, list) else []
    kept = []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in allowed or not _is_sound(block, str(kind)):
            told("block", str(kind))
        elif kind == "toolCall" and not isinstance(block.get("arguments"), dict):
            arguments = block.get("arguments")
            if arguments is not None:
                told("arguments", str(block.get("name")))
            wrapped = {} if arguments is None else {"value": arguments}
            kept.append({**block, "arguments": wrapped})
        else:
            kept.append(block)
    return kept


def _is_sound(block: dict[str, Any], kind: str) -> bool:
    needed = {"image": ("data", "mimeType"), "toolCall": ("id", "name")}.get(kind, (kind,))
    return all(isinstance(block.get(name), str) for name in needed)


def fitting_fields(message: dict[str, Any], told: Told) -> dict[str, Any]:
    """A message of Tau's without the optional fields whose type it would refuse."""
    fields = TAU_FIELDS.get(str(message.get("role")), {})
    out = dict(message)
    for name, types in fields.items():
        if name in out and type(out[name]) not in types:
            told("field", name)
            value = out.pop(name)
            if name in _NEEDED:
                out[name] = str(value) if isinstance(value, int | float) else _NEEDED[name]
    for name in _NESTED:
        if name in out and not _NESTED[name](out[name]):
            told("field", name)
            del out[name]
    return out


_NEEDED: Final[dict[str, Any]] = {
    "toolCallId": "",
    "toolName": "unknown",
    "customType": "",
    "command": "",
    "output": "",
}
"""Fields that Tau does not do without, and what stands there instead."""


def _is_diagnostics(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and isinstance(one.get("type"), str)
        and type(one.get("timestamp", 0)) is int
        and isinstance(one.get("details", {}), dict)
        and (
            "error" not in one
            or (isinstance(one["error"], dict) and isinstance(one["error"].get("message"), str))
        )
        for one in value
    )


def _is_timing(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and type(value.get("totalDurationMs")) is int
        and all(type(v) is int and v >= 0 for v in value.values())
    )


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_NESTED: Final[dict[str, Callable[[Any], bool]]] = {
    "diagnostics": _is_diagnostics,
    "timing": _is_timing,
    "addedToolNames": _is_names,
}


def fitting_usage(usage: dict[str, Any], told: Callable[[], None]) -> dict[str, Any]:
    """Counts as whole numbers, costs as numbers; anything else is 0."""
    out: dict[str, Any] = {}
    lost = False
    for name, value in usage.items():
        if name == "cost":
            costs = {k: v if _is_number(v) else 0 for k, v in value.items()}
            lost = lost or costs != value
            out[name] = costs
        elif type(value) is int:
            out[name] = value
        else:
            out[name] = int(value) if isinstance(value, float) and value.is_integer() else 0
            lost = lost or out[name] != value
    if lost:
        told()
    return out


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def unknown_keys(value: Any, known: Iterable[str]) -> list[str]:
    """The keys of an object beside these."""
    return sorted(set(value) - set(known)) if isinstance(value, dict) else []
