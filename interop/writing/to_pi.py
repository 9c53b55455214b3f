"""A session as a file of version 3 that Pi opens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

from ...domain.bodies import MessageBody
from ...domain.content import plain_text
from ...domain.events import Event
from ...domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    CUSTOM,
    HANDOFF,
    MODEL,
    RESET,
    THINKING,
    Anchor,
    AnyNode,
    MessageNode,
)
from ..blocks import write_blocks
from ..messages import give
from ..pi import PI, VERSION
from ..pi_eras import newest_header
from ..pi_replay import converted
from ..records import RecordFormat
from ..replay import milliseconds, own_record
from ..rows import tau_row
from ..tau import TAU
from .fitting import BLOCKS, fitting_blocks
from .held import held_fields
from .writer import NAMESPACE, Record, Writer

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SUMMARY: Final = frozenset({"summary", "usage", "details"})
_EDITABLE: Final = frozenset({"user", "assistant", "tool_result", "custom"})


class PiWriter(Writer):
    """Pi checks nothing, and passes over lines that are not JSON."""

    FORM: ClassVar[RecordFormat] = PI
    MARK_KINDS: ClassVar[frozenset[str]] = frozenset(
        {"labelled", "session_info_changed", "usage_recorded"}
    )
    HELD: ClassVar[dict[str, frozenset[str]]] = {
        **held_fields(_SUMMARY),
        "branch_summarized": _SUMMARY | {"left"},
        "context_edited": frozenset(),
    }

    def is_written(self, node: AnyNode) -> bool:
        """An edit is written where it has an effect in Pi, too."""
        if node.kind != CONTEXT_EDIT:
            return super().is_written(node)
        event = self.family.event(node.seq)
        return all(self._can_edit(target, event) for target in event.head.targets)

    def _can_edit(self, target: str, event: Event) -> bool:
        node = self.state.entries.get(target)
        if node is None:
            return self._came_whole(event)
        last = self.edits.get(target)
        if not self.edit_holds(target, event) or (
            last is not None and self._is_applied(target, last)
        ):
            return False
        if event.head.cleared or event.body.content is None:
            rules = node.kind not in ANCHORS or self.summaries.rules(target)
            return node.kind != CONTEXT_EDIT and rules and super().is_written(node)
        if not isinstance(node, MessageNode):
            return self._came_whole(event)
        message = self.state.message(node.message_id)
        final = None if message is None else message.final
        return final is not None and final.role in _EDITABLE and super().is_written(node)

    def keeps_raw(self, event: Event) -> bool:
        """Pi passes over what is not JSON."""
        return self._came_whole(event) or event.head.line is not None

    # -- records ---------------------------------------------------------------------------

    def record(self, kind: str, key: str, parent: str | None, /, **fields: Any) -> Record:
        """A record of Pi's; fields that are None are left out."""
        rest = {name: value for name, value in fields.items() if value is not None}
        when = _iso(self.time)
        return {"type": kind, "id": key, "parentId": parent, "timestamp": when, **rest}

    def custom(self, what: str, data: Any, key: str, parent: str | None) -> Record:
        """Custom data under a namespace of ours."""
        return self.record("custom", key, parent, customType=f"{NAMESPACE}.{what}", data=data)

    def preamble(self) -> Iterable[Record]:
        """The header."""
        self._note_edits()
        first = self.family.event(self.state.offset + 1)
        self.time = milliseconds(first)
        own = self.FORM.own(first.body) or {}
        header = own.get("header")
        directory = self.directory()
        if isinstance(header, dict):
            made = newest_header(header)
            if directory is not None and directory != header.get("cwd"):
                made["cwd"] = directory
            yield made
            return
        yield self.strict(
            {
                "type": "session",
                "version": VERSION,
                "id": self.state.session_id,
                "timestamp": _iso(self.time),
                "cwd": directory or "",
            },
            first,
        )

    def _note_edits(self) -> None:
        for node in self.state.entries.values():
            here = self.only is None or node.entry_id in self.only
            if node.kind == CONTEXT_EDIT and here and node.entry_id not in self.written:
                event = self.family.event(node.seq)
                applied = any(self._is_applied(target, event) for target in event.head.targets)
                self.tell("edit_applied" if applied else "edit_left_out", event)

    def _is_applied(self, target: str, event: Event) -> bool:
        """Whether the text of a summary is written as edited: Pi edits messages alone."""
        node = self.state.entries.get(target)
        return (
            self.edits.get(target) == event
            and event.body.content is not None
            and node is not None
            and (node.kind == BRANCH_SUMMARY or self.summaries.rules(target))
            and not isinstance(node, MessageNode)
        )

    def newest(self, record: Record, event: Event) -> Record | None:
        """Records are kept as version 3 has them."""
        return record

    def make(self, node: AnyNode, event: Event, key: str, parent: str | None) -> Iterable[Record]:
        """The record of an entry."""
        body = event.body
        if isinstance(node, MessageNode):
            yield self._message(node, event, key, parent)
        elif node.kind in ANCHORS:
            yield from self._anchor(node, event, key, parent)
        elif node.kind == BRANCH_SUMMARY:
            yield self.record(
                "branch_summary",
                key,
                parent,
                fromId=body.left or parent or "root",
                summary=self.summary_text(key, event),
                details=body.details,
                usage=body.usage,
            )
        elif node.kind == MODEL:
            provider = body.provider
            if provider is None and key in self.plan.on_leaf_path:
                provider = self.models.value(self.models.ours, "provider")
            yield self.record(
                "model_change",
                key,
                parent,
                provider=provider or "unknown",
                modelId=body.model or "unknown",
            )
        elif node.kind == THINKING:
            level = body.level or "off"
            yield self.record("thinking_level_change", key, parent, thinkingLevel=level)
        elif node.kind == CUSTOM:
            yield self.record("custom", key, parent, customType=body.namespace, data=body.data)
        elif node.kind == CONTEXT_EDIT:
            yield self._edit(event, key, parent)
        else:
            self.tell("foreign", event)
            yield self.custom("foreign", body.to_json(), key, parent)

    def _edit(self, event: Event, key: str, parent: str | None) -> Record:
        record = self.record("context_edit", key, parent, targetId=event.head.targets[0])
        record["replacement"] = None
        if not event.head.cleared and event.body.content is not None:
            record["replacement"] = {"content": write_blocks(event.body.content)}
        return record

    # -- summaries -------------------------------------------------------------------------

    def _anchor(
        self, node: AnyNode, event: Event, key: str, parent: str | None
    ) -> Iterator[Record]:
        body = event.body
        if node.kind == RESET:
            self.tell("summary_reset", event)
            yield self.custom("summary_reset", {"reason": body.reason}, key, parent)
            return
        if not self.summaries.rules(key):
            why = "reset_elsewhere" if key in self.summaries.elsewhere else "reset_summary"
            self.tell(why, event)
            yield self.custom("summary", body.to_json(), key, parent)
            return
        if body.kept:
            self.tell("carried_messages", event)
        anchor = self.state.anchors.get(key)
        assert anchor is not None
        details = body.details
        if node.kind == HANDOFF:
            self.tell("handoff", event)
            if details is None:
                details = {NAMESPACE: {"name": event.head.name, "state": body.state}}
        record = self.record(
            "compaction",
            key,
            parent,
            summary=self.summary_text(key, event),
            firstKeptEntryId=key,
            tokensBefore=body.tokens_before or 0,
            details=details,
            usage=body.usage,
        )
        self.rebound(record, node, anchor, event)
        yield record

    def rebound(self, record: Record, node: AnyNode, anchor: Anchor, event: Event) -> None:
        """The first kept entry as the file has it; the anchor itself: nothing is kept."""
        if (self.FORM.own(event.body) or {}).get("tail"):
            return
        if anchor.replaces is not None:
            first, stays = self.summaries.after_replaced(node, anchor)
            if stays:
                self.tell("replaced_one_by_one", event)
        else:
            first = anchor.first_kept
            if anchor.cumulative and self.summaries.older(node, anchor) is not None:
                self.tell("older_summary", event)
        if first is None:
            if anchor.first_kept is not None or not self._came_whole(event):
                record["firstKeptEntryId"] = node.entry_id
            return
        boundary, known = self.summaries.boundary(node, first, self.written)
        if not known:
            self.tell("boundary_lost", event)
        record["firstKeptEntryId"] = boundary or node.entry_id

    # -- messages --------------------------------------------------------------------------

    def _message(self, node: MessageNode, event: Event, key: str, parent: str | None) -> Record:
        message = self._base(node, event)
        role = message.get("role")
        if role == "system":
            if self.state.anchors:
                self.tell("system_message", event)
            message["content"] = plain_text(event.body.content)
        if role != "custom":
            return self.record("message", key, parent, message=message)
        record = self.record(
            "custom_message",
            key,
            parent,
            customType=message.get("customType") or "custom",
            content=message["content"],
            display=message.get("display", True),
        )
        if message.get("details") is not None:
            record["details"] = message["details"]
        return record

    def _base(self, node: MessageNode, event: Event) -> Record:
        content = self.content_of(node, event)
        theirs = own_record(event, TAU)
        row = tau_row(theirs, self.time) if isinstance(theirs, dict) else None
        if row is None:
            row = self.plain_message(event, content)
        elif content is not event.body.content and content != event.body.content:
            row = {**row, "content": write_blocks(content)}
        return self._converted(row, event)

    def _converted(self, message: Record, event: Event) -> Record:
        def told(reason: str, detail: str) -> None:
            self.tell(reason, event, detail)

        role = str(message.get("role"))
        if role in BLOCKS and isinstance(message.get("content"), list):
            message = {**message, "content": fitting_blocks(role, message["content"], told)}
        if role == "toolResult":
            message.setdefault("toolName", "unknown")
        if role == "bashExecution":
            message = {"command": "", "cancelled": False, "truncated": False, **message}
        if role == "assistant" and message.get("usage") is not None:
            usage = message["usage"]
            if not isinstance(usage, dict):
                told("usage", "")
        out: Record = converted(message)
        return out

    def fact_message(self, event: Event, body: MessageBody, call_id: str) -> Record:
        """The result message of a call whose result was recorded as a fact."""
        message = give("tool_result", body, (call_id,), {})
        message["timestamp"] = self.time
        return self._converted(message, event)

    # -- the end ---------------------------------------------------------------------------

    def trailing(self) -> Iterable[Record]:
        """Labels, the name, usage, the model."""
        for target, event in self.labels():
            self.time = milliseconds(event) or self.time
            key = self.new_id(f"label:{target}")
            record = self.record("label", key, None, targetId=target, label=event.body.label)
            yield self.strict(record, event)
        name = self.name()
        if name is not None and (name[0] is not None or self.scan.says_info):
            self.time = milliseconds(name[1]) or self.time
            record = self.record("session_info", self.new_id("name"), None, name=name[0] or "")
            yield self.strict(record, name[1])
        for seq in self.scan.usage:
            event = self.family.event(seq)
            self.time = milliseconds(event) or self.time
            body = event.body
            record = self.record(
                "usage",
                self.new_id(f"usage:{seq}"),
                None,
                kind=body.purpose or "",
                provider=body.provider or "unknown",
                model=body.model or "unknown",
                usage=body.usage,
                note=body.note,
            )
            yield self.strict(record, event)
        model, provider = (self.models.value(self.models.ours, n) for n in ("model", "provider"))
        theirs = self.models.last[1:]
        if model is None or (model, provider or "unknown") == theirs or self.leaf_is_own():
            return
        self.report.add("model", entry_id=self.plan.leaf, detail=model)
        yield self.record(
            "model_change",
            self.new_id("model"),
            None,
            provider=provider or "unknown",
            modelId=model,
        )


def _iso(milliseconds_: int) -> str:
    """ISO text as Pi writes it."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds_)
    except OverflowError:
        moment = _EPOCH
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
