"""What happened, in words: each kind of event as a person would say it.

The names of the classes (`UsageRecorded`) are for programs; `tape` and `replay --json` print them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tapefold.domain.content import TextBlock, ToolCallBlock
from tapefold.domain.events import Event
from tapefold.domain.heads import PENDING, Head
from tapefold.domain.nodes import MESSAGE, NODE_KINDS
from tapefold.domain.outline import preview_of

from .paper import Span
from .words import arguments_text, count, first_line

TITLES = {
    "session_started": "session started",
    "message_drafted": "message, unfinished",
    "message_finalized": "message",
    "message_revised": "message, another version",
    "retracted": "retraction",
    "tool_call_recorded": "call",
    "tool_result_recorded": "result",
    "compaction_anchored": "compaction",
    "summary_reset": "summary reset",
    "handoff_anchored": "hand-off",
    "branch_summarized": "branch summary",
    "context_edited": "context edit",
    "forked": "forked",
    "fork_merged": "fork merged",
    "fork_discarded": "fork given up",
    "subagent_linked": "sub-agent",
    "leaf_moved": "leaf moved",
    "labelled": "label",
    "session_info_changed": "session info",
    "model_changed": "model",
    "thinking_level_changed": "thinking level",
    "usage_recorded": "usage",
    "custom_recorded": "custom data",
    "foreign_recorded": "unreadable record",
    "backfill_recorded": "backfill",
    "context_assembled": "context sent",
    "model_call_completed": "model call",
}
"""Kind of event to what a reader calls it."""

SEVERAL = 8
"""Most figures of a usage that are said."""


def title_of(event: Event) -> Span:
    """What the event is; a message by its role."""
    head = event.head
    if is_message(event):
        return Span(head.role or "message", head.role or "")
    style = {"retracted": "bad", "tool_call_recorded": "call", "tool_result_recorded": "call"}
    return Span(TITLES.get(head.kind, "event"), style.get(head.kind, "mark"))


def is_message(event: Event) -> bool:
    """Whether the event is a version of a message."""
    return NODE_KINDS.get(event.head.kind) == MESSAGE


def details_of(event: Event) -> list[str]:
    """What it says, in pieces of one line each."""
    pieces: Iterable[str | None]
    if is_message(event):
        pieces = _message(event)
    else:
        pieces = _SAY[event.head.kind](event.head, event.body)
    return [line for piece in pieces if (line := first_line(piece or ""))]


def calls_of(event: Event) -> str:
    """The calls of a message on one line."""
    calls = [block for block in event.body.content if isinstance(block, ToolCallBlock)]
    return " ".join(f"{c.name}({first_line(arguments_text(c.arguments), 40)})" for c in calls)


# -- kinds -------------------------------------------------------------------------------------


def _message(event: Event) -> Iterable[str | None]:
    """The words of a message; its calls are said beside it."""
    content = event.body.content
    said = any(isinstance(block, TextBlock) and block.text.strip() for block in content)
    if said or not any(isinstance(block, ToolCallBlock) for block in content):
        yield preview_of(event)
    if event.body.error:
        yield f"error: {event.body.error}"


def _started(head: Head, body: Any) -> Iterable[str | None]:
    yield body.title and f"“{body.title}”"
    yield body.directory and f"in {body.directory}"
    if head.origin is not None:
        what = "a fork of" if head.origin.inherit else "begun by"
        yield f"{what} {head.origin.session_id} at {head.origin.position}"
    if isinstance(body.imported_from, dict):
        where = body.imported_from.get("tool") or body.imported_from.get("format")
        yield f"imported from {where}" if isinstance(where, str) else "imported"


def _call(head: Head, body: Any) -> Iterable[str | None]:
    yield f"{body.name}({first_line(arguments_text(body.arguments), 60)})"
    yield head.call_ids[0] if head.call_ids else None
    yield _status(head)


def _result(head: Head, body: Any) -> Iterable[str | None]:
    yield body.name
    yield head.call_ids[0] if head.call_ids else None
    yield _status(head)
    yield " ".join(block.text for block in body.content if hasattr(block, "text"))


def _status(head: Head) -> str | None:
    if head.status == PENDING:
        return "unfinished"
    return head.status if head.status not in ("success", "sent") else None


def _anchor(head: Head, body: Any) -> Iterable[str | None]:
    kind, _, name = (head.name or "").partition("/")
    yield f"automatic, {name}" if kind.startswith("auto_") else name
    if body.tokens_before is not None and body.tokens_after is not None:
        yield f"{body.tokens_before:,} tokens become {body.tokens_after:,}"
    yield body.summary


def _reset(head: Head, body: Any) -> Iterable[str | None]:
    yield body.reason or "no summary before this is used any more"


def _branch(head: Head, body: Any) -> Iterable[str | None]:
    yield body.left and f"of the branch that ended at {body.left}"
    yield body.summary


def _edit(head: Head, body: Any) -> Iterable[str | None]:
    target = head.targets[0] if head.targets else "?"
    yield f"{target} {'left out of' if body.content is None else 'replaced in'} the context"
    yield body.reason


def _fork(head: Head, body: Any) -> Iterable[str | None]:
    yield body.child
    yield f"from position {body.position}"
    if not body.inherit:
        yield "which begins empty"


def _fork_end(head: Head, body: Any) -> Iterable[str | None]:
    yield body.child
    if body.count is not None:
        yield count(body.count, "event")


def _link(head: Head, body: Any) -> Iterable[str | None]:
    yield body.child
    yield f"up to its position {body.position}"
    yield body.outcome
    yield body.summary


def _leaf(head: Head, body: Any) -> Iterable[str | None]:
    yield f"to {head.targets[0] if head.targets else 'none'}"
    if body.before:
        yield f"to ask anew before {body.before}"
    if not head.takes_leaf:
        yield "as another tool noted it; it moves nothing here"
    yield body.reason


def _label(head: Head, body: Any) -> Iterable[str | None]:
    label = f"[{body.label}]" if body.label else "taken away"
    yield f"{label} on {head.targets[0]}" if head.targets else label


def _info(head: Head, body: Any) -> Iterable[str | None]:
    if body.title is not None or head.cleared:
        yield f"name: {body.title or 'none'}"
    if body.directory is not None:
        yield f"directory: {body.directory}"
    if body.title is None and body.directory is None and not head.cleared:
        yield ", ".join(body.data) if isinstance(body.data, dict) else None


def _model(head: Head, body: Any) -> Iterable[str | None]:
    yield (body.model or "unset") + (f" ({body.provider})" if body.provider else "")


def _thinking(head: Head, body: Any) -> Iterable[str | None]:
    yield body.level or "unset"


def _usage(head: Head, body: Any) -> Iterable[str | None]:
    yield body.purpose and f"for {body.purpose}"
    yield body.model
    yield figures(body.usage)
    yield body.note


def figures(usage: Any) -> str:
    """The numbers of a usage, under the names that its writer gave them."""
    if not isinstance(usage, dict):
        return ""
    said = [
        f"{str(name).replace('_', ' ')} {value:,}"
        for name, value in usage.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and value
    ]
    return ", ".join(said[:SEVERAL])


def _custom(head: Head, body: Any) -> Iterable[str | None]:
    yield f"of {body.namespace}"
    yield arguments_text(body.data) if isinstance(body.data, dict) else None


def _foreign(head: Head, body: Any) -> Iterable[str | None]:
    yield None if head.line is None else f"line {head.line}"
    yield body.problem
    yield body.raw


def _backfill(head: Head, body: Any) -> Iterable[str | None]:
    yield body.origin and f"from {body.origin}"
    yield None if body.read is None else f"{body.read:,} read"
    yield None if body.written is None else f"{body.written:,} written"


def _sent(head: Head, body: Any) -> Iterable[str | None]:
    yield body.request_id and f"request {body.request_id}"
    manifest = body.manifest if isinstance(body.manifest, dict) else {}
    included, excluded = manifest.get("included"), manifest.get("excluded")
    yield count(len(included), "row") if isinstance(included, list) else None
    yield f"{len(excluded)} left out" if isinstance(excluded, list) and excluded else None


def _asked(head: Head, body: Any) -> Iterable[str | None]:
    yield body.request_id and f"request {body.request_id}"
    yield body.model
    yield body.status
    yield None if body.latency_ms is None else f"{body.latency_ms:,.0f} ms"
    yield figures(body.usage)
    yield body.error


_SAY: dict[str, Callable[[Head, Any], Iterable[str | None]]] = {
    "session_started": _started,
    "retracted": lambda head, body: [body.reason],
    "tool_call_recorded": _call,
    "tool_result_recorded": _result,
    "compaction_anchored": _anchor,
    "summary_reset": _reset,
    "handoff_anchored": _anchor,
    "branch_summarized": _branch,
    "context_edited": _edit,
    "forked": _fork,
    "fork_merged": _fork_end,
    "fork_discarded": _fork_end,
    "subagent_linked": _link,
    "leaf_moved": _leaf,
    "labelled": _label,
    "session_info_changed": _info,
    "model_changed": _model,
    "thinking_level_changed": _thinking,
    "usage_recorded": _usage,
    "custom_recorded": _custom,
    "foreign_recorded": _foreign,
    "backfill_recorded": _backfill,
    "context_assembled": _sent,
    "model_call_completed": _asked,
}
