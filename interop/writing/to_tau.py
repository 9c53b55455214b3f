"""A session as a file that the newest release of Tau opens (0.4.2 and later)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    MESSAGE,
    MODEL,
    RESET,
    THINKING,
    Anchor,
    AnyNode,
    MessageNode,
)
from ...domain.tree import path
from ..blocks import write_blocks
from ..messages import give
from ..pi import PI
from ..records import RecordFormat
from ..replay import milliseconds, own_record
from ..rows import pi_row
from ..tau import TAU
from ..tau_replay import converted
from ..tau_shape import usage_shape
from .fitting import STOP_REASONS, fitting_blocks, fitting_fields, fitting_usage
from .held import held_fields
from .knowing import spoken
from .summaries import ROWS
from .tau_newest import is_old, newest_record
from .writer import NAMESPACE, Record, Writer

_USAGE: Final = ("input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost")
_SUMMARY: Final = frozenset({"summary", "usage", "model", "provider"})


class TauWriter(Writer):
    """Tau checks every field of every line, and refuses a file for one that it does not know."""

    FORM: ClassVar[RecordFormat] = TAU
    SURROGATES: ClassVar[bool] = False
    MARK_KINDS: ClassVar[frozenset[str]] = frozenset({"labelled", "session_info_changed"})
    HELD: ClassVar[dict[str, frozenset[str]]] = held_fields(_SUMMARY)

    def is_written(self, node: AnyNode) -> bool:
        """Edits are applied; what the leaf's branch leaves out is left out."""
        if node.kind == CONTEXT_EDIT:
            return False
        edit = self.edits.get(node.entry_id)
        if edit is not None and _leaves_out(edit) and node.kind in ROWS:
            return False
        return super().is_written(node)

    def is_row(self, node: AnyNode) -> bool:
        """System messages and summaries without text are custom data here."""
        if isinstance(node, MessageNode):
            message = self.state.message(node.message_id)
            return message is None or message.final is None or message.final.role != "system"
        if node.kind == BRANCH_SUMMARY:
            return bool(self.summary_text(node.entry_id, self.family.event(node.seq)).strip())
        return super().is_row(node)

    def _note_edits(self) -> None:
        depth = 0.0
        for node in path(self.state, self.leaf):
            depth = self.plan.on_leaf_path.get(node.entry_id, depth)
            left_out = node.entry_id in self.edits and node.entry_id not in self.written
            if node.kind == MESSAGE and left_out and super().is_written(node):
                self.models.note_left_out(self.family.event(spoken(self.state, node)), depth + 0.5)
        for node in self.state.entries.values():
            if node.kind != CONTEXT_EDIT or (
                self.only is not None and node.entry_id not in self.only
            ):
                continue
            event = self.family.event(node.seq)
            held = any(self.edits.get(target) == event for target in event.head.targets)
            self.tell("edit_applied" if held else "edit_left_out", event)

    # -- records ---------------------------------------------------------------------------

    def record(self, kind: str, key: str, parent: str | None, /, **fields: Any) -> Record:
        """A record of Tau's; fields that are None are left out."""
        link = {} if parent is None else {"parent_id": parent}
        rest = {name: value for name, value in fields.items() if value is not None}
        return {"id": key, **link, "timestamp": self.time / 1000, "type": kind, **rest}

    def custom(self, what: str, data: Any, key: str, parent: str | None) -> Record:
        """Custom data under a namespace of ours."""
        return self.record("custom", key, parent, namespace=f"{NAMESPACE}.{what}", data=data)

    def preamble(self) -> Iterable[Record]:
        """The session's information: Tau's first line."""
        self._note_edits()
        self.report.add("session_id", detail=self.state.session_id)
        if self._came_from_tau():
            return
        first = self.family.event(self.state.offset + 1)
        self.time = milliseconds(first)
        name = self.name()
        title = None if name is None else name[0]
        self.root = self.new_id("session_info")
        record = self.record(
            "session_info",
            self.root,
            None,
            created_at=self.time / 1000,
            cwd=self.directory(),
            title=title,
        )
        yield self.strict(record, first)

    def _came_from_tau(self) -> bool:
        """Whether the file has its own first line, or never had one."""
        return self.scan.says_info or self.FORM.NAME in self.family.formats.values()

    def newest(self, record: Record, event: Event) -> Record | None:
        """The record as the newest release writes it."""
        if event.head.kind == "foreign_recorded":
            return None  # a line that it does not know makes Tau refuse the file
        if event.head.entry_id in self.edits:
            return None
        return newest_record(record, event.head) if is_old(record) else record

    def make(self, node: AnyNode, event: Event, key: str, parent: str | None) -> Iterable[Record]:
        """The record of an entry."""
        body = event.body
        if isinstance(node, MessageNode):
            yield self._message(node, event, key, parent)
        elif node.kind in ANCHORS:
            yield from self._anchor(node, event, key, parent)
        elif node.kind == BRANCH_SUMMARY:
            text = self.summary_text(key, event)
            if not text.strip():
                self.tell("empty_summary", event)
                yield self.custom("branch_summary", {"left": body.left}, key, parent)
                return
            yield self.record(
                "branch_summary",
                key,
                parent,
                summary=text,
                branch_root_id=parent,
                **self._spent(event),
            )
        elif node.kind == MODEL and body.model is not None:
            yield self.record("model_change", key, parent, model=body.model, provider=body.provider)
        elif node.kind == THINKING:
            yield self.record("thinking_level_change", key, parent, thinking_level=body.level)
        elif node.kind == CUSTOM:
            data = body.data
            if not isinstance(data, dict):
                if data is not None:
                    self.tell("custom_data", event)
                data = {} if data is None else {"value": data}
            yield self.record("custom", key, parent, namespace=body.namespace, data=data)
        else:
            self.tell("foreign", event)
            yield self.custom("foreign", body.to_json(), key, parent)

    def _spent(self, event: Event) -> Record:
        body = event.body
        usage = None if body.usage is None else self._usage(body.usage, event)
        return {"usage": usage, "provider": body.provider, "model": body.model}

    def _usage(self, usage: Any, event: Event) -> Record:
        known = {*_USAGE, "reasoning", "cacheWrite1H", "cacheWrite1h"}
        if not isinstance(usage, dict) or set(usage) - known:
            self.tell("usage", event)
        return fitting_usage(usage_shape(usage), lambda: self.tell("usage", event))

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
        if node.kind == HANDOFF:
            self.tell("handoff", event, "its state is not written" if body.state else "")
        anchor = self.state.anchors.get(key)
        assert anchor is not None
        text = self.summary_text(key, event)
        record = self.record(
            "compaction",
            key,
            parent,
            summary=text,
            tokens_before=body.tokens_before,
            **self._spent(event),
        )
        self.rebound(record, node, anchor, event)
        yield record

    def rebound(self, record: Record, node: AnyNode, anchor: Anchor, event: Event) -> None:
        """Tau lets older summaries stand that lie behind a boundary: these are listed."""
        if anchor.replaces is not None:
            record["replaces_entry_ids"] = [i for i in anchor.replaces if i in self.written]
            return
        if anchor.first_kept is None:
            return
        older = None if anchor.cumulative else self.summaries.older(node, anchor)
        if older is not None:
            record.pop("first_kept_entry_id", None)
            record["replaces_entry_ids"] = [i for i in older[0] if i in self.written]
            self.tell("cumulative", event, f"{len(record['replaces_entry_ids'])} entries")
            if older[1]:
                self.tell("dropped_stays_dropped", event)
            return
        boundary, known = self.summaries.boundary(node, anchor.first_kept, self.written)
        if not known:
            self.tell("boundary_lost", event)
        record.pop("first_kept_entry_id", None)
        if boundary is not None and boundary != node.entry_id:
            record["first_kept_entry_id"] = boundary

    # -- messages --------------------------------------------------------------------------

    def _message(self, node: MessageNode, event: Event, key: str, parent: str | None) -> Record:
        role = event.head.role
        if role == "system":
            self.tell("system_message", event)
            text = plain_text(event.body.content)
            return self.custom("system", {"content": text}, key, parent)
        message = self._converted(self._base(node, event), event)
        if message.get("role") != "custom":
            return self.record("message", key, parent, message=message)
        return self.record(
            "custom_message",
            key,
            parent,
            custom_type=message.get("customType") or "custom",
            content=message["content"],
            display=message.get("display", True),
            details=message.get("details"),
        )

    def _base(self, node: MessageNode, event: Event) -> Record:
        content = self.content_of(node, event)
        edit = self.edits.get(node.entry_id)
        if edit is not None:
            content = edit.body.content or ()
        theirs = own_record(event, PI)
        row = pi_row(theirs) if isinstance(theirs, dict) else None
        if row is None:
            return self.plain_message(event, content)
        if content is not event.body.content and content != event.body.content:
            row = {**row, "content": write_blocks(content)}
        return row

    def _converted(self, message: Record, event: Event) -> Record:
        def told(reason: str, detail: str) -> None:
            self.tell(reason, event, detail)

        role = str(message.get("role"))
        before = set(message)
        if isinstance(message.get("content"), list):
            message = {**message, "content": fitting_blocks(role, message["content"], told)}
        if role == "assistant":
            stop = message.get("stopReason")
            if stop is not None and stop not in STOP_REASONS:
                told("stop_reason", str(stop))
            if message.get("usage") is not None:
                message = {**message, "usage": self._usage(message["usage"], event)}
        if type(message.get("timestamp")) is not int:
            message = {**message, "timestamp": self.time}
        row = converted(message)
        if row is None:  # a role of Pi's that Tau has not
            text = plain_text(event.body.content)
            row = {"role": "custom", "customType": role, "content": text, "display": True}
        lost = sorted(before - set(row) - {"timestamp"})
        if lost:
            told("field", ", ".join(lost))
        return fitting_fields(row, told)

    def fact_message(self, event: Event, body: MessageBody, call_id: str) -> Record:
        """The result message of a call whose result was recorded as a fact."""
        message = give("tool_result", body, (call_id,), {})
        message["timestamp"] = self.time
        return self._converted(message, event)

    # -- the end ---------------------------------------------------------------------------

    def trailing(self) -> Iterable[Record]:
        """Labels, a later name, the model."""
        for target, event in self.labels():
            self.time = milliseconds(event) or self.time
            text = event.body.label
            if text is not None and not text.strip():
                self.tell("label", event)
                continue
            record = self.record(
                "label", self.new_id(f"label:{target}"), None, target_id=target, label=text
            )
            yield self.strict(record, event)
        name = self.name() if self._came_from_tau() else None
        if name is not None:
            title, event = name
            self.time = milliseconds(event) or self.time
            record = self.record(
                "session_info",
                self.new_id("name"),
                None,
                created_at=self.time / 1000,
                cwd=self.directory(),
                title=title,
            )
            yield self.strict(record, event)
        for seq in self.scan.usage:
            self.tell("usage_record", self.family.event(seq))
        model, provider = (self.models.value(self.models.ours, n) for n in ("model", "provider"))
        theirs = tuple(self.models.value(self.models.changes, n) for n in ("model", "provider"))
        if model is not None and (model, provider) != theirs and not self.leaf_is_own():
            self.report.add("model", entry_id=self.plan.leaf, detail=model)
            yield self.record(
                "model_change", self.new_id("model"), None, model=model, provider=provider
            )


def _leaves_out(edit: Event) -> bool:
    return edit.head.cleared or edit.body.content is None
