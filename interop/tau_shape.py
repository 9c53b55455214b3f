"""A Tau message as the tool's own reader understands it.

Tau validates each message when it reads a file: old shapes become new ones, either spelling of a
field is read (`toolCallId`, `tool_call_id`), defaults are filled in, and fields that are null
vanish; inside arguments, details and other free data nothing is touched. `shaped` does the same,
but never fails: what the tool would refuse stays as it is.

Times of messages that have none are left out here; the tool takes the moment of reading.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

_SNAKE: Final = {
    camel: "".join("_" + c.lower() if c.isupper() else c for c in camel)
    for camel in (
        "cacheRead",
        "cacheWrite",
        "totalTokens",
        "responseModel",
        "responseProvider",
        "responseId",
        "stopReason",
        "errorMessage",
        "timeToFirstOutputMs",
        "totalDurationMs",
        "toolCallId",
        "toolName",
        "addedToolNames",
        "isError",
        "customType",
        "exitCode",
        "fullOutputPath",
        "excludeFromContext",
        "fromId",
        "tokensBefore",
        "textSignature",
        "thinkingSignature",
        "thoughtSignature",
        "mimeType",
    )
} | {"cacheWrite1H": "cache_write_1h"}

_COUNTS: Final = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
_COSTS: Final = ("input", "output", "cacheRead", "cacheWrite", "total")

UNKNOWN: Final = "unknown"
"""What stands where a message does not say its API, provider or model."""

_MISSING: Final = object()


def _get(holder: dict[str, Any], key: str, default: Any = None) -> Any:
    """A field under either spelling."""
    value = holder.get(key, _MISSING)
    if value is _MISSING:
        value = holder.get(_SNAKE.get(key, key), _MISSING)
    return default if value is _MISSING else value


def _add(out: dict[str, Any], holder: dict[str, Any], keys: Iterable[str]) -> None:
    """Copy fields that are present and not null."""
    for key in keys:
        value = _get(holder, key)
        if value is not None:
            out[key] = value


def shaped(message: dict[str, Any]) -> dict[str, Any]:
    """The message with this release's fields, all defaults filled in."""
    message = _migrated(message)
    role = message.get("role")
    shape = _SHAPES.get(role) if isinstance(role, str) else None
    if shape is None:
        return dict(message)
    out = {"role": role, **shape(message)}
    if "timestamp" in message:
        out["timestamp"] = message["timestamp"]
    return out


# -- old shapes --------------------------------------------------------------------------------


def _migrated(message: dict[str, Any]) -> dict[str, Any]:
    role = message.get("role")
    if role == "tool":
        return _tool(message)
    if role in ("user", "custom") and ("custom_type" in message or "customType" in message):
        kept = ("content", "display", "details", "timestamp")
        custom = {key: message[key] for key in kept if key in message}
        wins = "custom_type" if "custom_type" in message else "customType"
        return {"role": "custom", "customType": message[wins], **custom}
    if role == "assistant" and ("tool_calls" in message or "toolCalls" in message):
        return _with_calls(message)
    return message


def _with_calls(message: dict[str, Any]) -> dict[str, Any]:
    """The calls of the oldest shape stood beside the content."""
    calls = message.get("tool_calls", message.get("toolCalls"))
    content = message.get("content")
    blocks = _blocks(content) if isinstance(content, str | list) else []
    if isinstance(calls, list):
        blocks += [{"type": "toolCall", **c} if isinstance(c, dict) else c for c in calls]
    rest = {k: v for k, v in message.items() if k not in ("tool_calls", "toolCalls")}
    return {**rest, "content": blocks}


def _tool(message: dict[str, Any]) -> dict[str, Any]:
    """A tool result of the oldest shape: `ok`, `data` and `error` beside a text."""
    content = message.get("content", "")
    error = message.get("error")
    if not content and error:
        content = error if isinstance(error, str) else repr(error)
    data, details = message.get("data"), message.get("details")
    if isinstance(data, dict) and isinstance(details, dict):
        details = {**data, **details}
    elif details is None:
        details = data
    out = {
        "role": "toolResult",
        "toolCallId": message.get("tool_call_id", message.get("toolCallId", "")),
        "toolName": message.get("name", message.get("toolName", "unknown")),
        "content": content,
        "details": details,
        "isError": not message.get("ok", True),
    }
    if "timestamp" in message:
        out["timestamp"] = message["timestamp"]
    return out


# -- roles -------------------------------------------------------------------------------------


def _user(message: dict[str, Any]) -> dict[str, Any]:
    return {"content": _content(message)}


def _assistant(message: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {"content": _blocks(message.get("content"))}
    for key in ("api", "provider", "model"):
        out[key] = message.get(key, UNKNOWN)
    _add(out, message, ("responseModel", "responseProvider", "responseId"))
    if message.get("diagnostics") is not None:
        out["diagnostics"] = _diagnostics(message["diagnostics"])
    out["usage"] = usage_shape(message.get("usage"))
    if isinstance(message.get("timing"), dict):
        timing: dict[str, Any] = {}
        _add(timing, message["timing"], ("timeToFirstOutputMs", "totalDurationMs"))
        out["timing"] = timing
    out["stopReason"] = _get(message, "stopReason", "stop")
    _add(out, message, ("errorMessage",))
    return out


def _diagnostics(raw: Any) -> Any:
    if not isinstance(raw, list):
        return raw
    return [_diagnostic(item) if isinstance(item, dict) else item for item in raw]


def _diagnostic(raw: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    _add(out, raw, ("type", "timestamp"))
    if isinstance(raw.get("error"), dict):
        error: dict[str, Any] = {}
        _add(error, raw["error"], ("name", "message", "stack", "code"))
        out["error"] = error
    _add(out, raw, ("details",))
    return out


def usage_shape(raw: Any) -> dict[str, Any]:
    """Token counts and cost; what is missing is zero. Pi's spelling of one field is mapped."""
    usage = raw if isinstance(raw, dict) else {}
    out = {key: _get(usage, key, 0) for key in _COUNTS}
    _add(out, usage, ("cacheWrite1H", "reasoning"))
    if "cacheWrite1H" not in out and usage.get("cacheWrite1h") is not None:
        out["cacheWrite1H"] = usage["cacheWrite1h"]
    cost = usage.get("cost")
    cost = cost if isinstance(cost, dict) else {}
    out["cost"] = {key: _get(cost, key, 0.0) for key in _COSTS}
    return out


def _tool_result(message: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {
        "toolCallId": _get(message, "toolCallId", ""),
        "toolName": _get(message, "toolName", "unknown"),
        "content": _blocks(message.get("content")),
    }
    _add(out, message, ("details", "addedToolNames"))
    out["isError"] = _get(message, "isError", False)
    return out


def _custom(message: dict[str, Any]) -> dict[str, Any]:
    out = {
        "customType": _get(message, "customType", ""),
        "content": _content(message),
        "display": message.get("display", True),
    }
    _add(out, message, ("details",))
    return out


def _bash(message: dict[str, Any]) -> dict[str, Any]:
    out = {"command": message.get("command", ""), "output": message.get("output", "")}
    _add(out, message, ("exitCode",))
    out["cancelled"] = message.get("cancelled", False)
    out["truncated"] = message.get("truncated", False)
    _add(out, message, ("fullOutputPath",))
    out["excludeFromContext"] = _get(message, "excludeFromContext", False)
    return out


def _branch_summary(message: dict[str, Any]) -> dict[str, Any]:
    return {"summary": message.get("summary", ""), "fromId": _get(message, "fromId", "")}


def _compaction_summary(message: dict[str, Any]) -> dict[str, Any]:
    return {"summary": message.get("summary", ""), "tokensBefore": _get(message, "tokensBefore", 0)}


_SHAPES: Final = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "custom": _custom,
    "bashExecution": _bash,
    "branchSummary": _branch_summary,
    "compactionSummary": _compaction_summary,
}


# -- blocks ------------------------------------------------------------------------------------


def _content(message: dict[str, Any]) -> Any:
    """Content that may be a string: of a user's or an extension's message."""
    content = message.get("content", "")
    return [_block(item) for item in content] if isinstance(content, list) else content


def _blocks(content: Any) -> Any:
    """Content that is a list of blocks; text becomes one, no text none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    if content is None:
        return []
    return [_block(item) for item in content] if isinstance(content, list) else content


def _block(raw: Any) -> Any:
    if not isinstance(raw, dict):
        return raw
    kind = raw.get("type")
    if kind is None:
        # A block without a type is told by its fields.
        kind = next((name for key, name in _TOLD_BY if key in raw), None)
    out: dict[str, Any]
    if kind == "text":
        out = {"type": kind, "text": raw.get("text")}
        _add(out, raw, ("textSignature",))
    elif kind == "thinking":
        out = {"type": kind, "thinking": raw.get("thinking")}
        _add(out, raw, ("thinkingSignature",))
        out["redacted"] = raw.get("redacted", False)
    elif kind == "image":
        out = {"type": kind, "data": raw.get("data"), "mimeType": _get(raw, "mimeType")}
    elif kind == "toolCall":
        out = {"type": kind, "id": raw.get("id"), "name": raw.get("name")}
        out["arguments"] = raw.get("arguments", {})
        _add(out, raw, ("thoughtSignature",))
    else:
        return raw
    return out


_TOLD_BY: Final = (
    ("text", "text"),
    ("thinking", "thinking"),
    ("data", "image"),
    ("id", "toolCall"),
)
