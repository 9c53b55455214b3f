"""Writes a session as a file of another tool: what both formats have in common.

Each entry becomes a record of the same id. An entry that came from such a file, and was not
touched since, comes out as the record that it was; all else is made from what the event says.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Final

from ...domain.bodies import BodyBase, MessageBody
from ...domain.content import Content, TextBlock, ToolCallBlock, plain_text
from ...domain.events import Event
from ...domain.nodes import (
    ANCHORS,
    MARK,
    Anchor,
    AnyNode,
    MessageNode,
)
from ..messages import INTERRUPTED
from ..raw import raw_of
from ..replay import message_of, milliseconds
from .jsonline import record_line, strict_value
from .knowing import Knowing, spoken
from .plan import Added

Record = dict[str, Any]

NAMESPACE: Final = "tapefold"
"""Custom data that says what a file has no record for is named `tapefold.<what>`."""

_EVERY: Final = frozenset({"actor", "correlation_id", "causation_id", "trace_id", "span_id"})
"""Fields of any event that no file has a place for."""


class Writer(Knowing, ABC):
    """One export. `leaf`: where the tool is to open the file; `only`: the entries of one branch."""

    # -- the lines -------------------------------------------------------------------------

    def lines(self) -> Iterator[bytes]:
        """The lines of the file, without their ends."""
        loose = iter(self._loose())
        waiting = next(loose, None)
        yield from self._counted(self.preamble())
        for line in self.plan.order:
            if isinstance(line, Added):
                yield from self._counted([self._fact_result(line)])
                continue
            node = self.state.entries.get(line)
            assert node is not None
            seq = spoken(self.state, node)
            while waiting is not None and waiting[0] < seq:
                yield self._count(waiting[1])
                waiting = next(loose, None)
            event = self.family.event(seq)
            yield from self._counted(self._entry(node, event))
        while waiting is not None:
            yield self._count(waiting[1])
            waiting = next(loose, None)
        yield from self._counted(self._trailing())

    def _counted(self, records: Iterable[Record | bytes]) -> Iterator[bytes]:
        for record in records:
            name = self.FORM.NAME
            yield self._count(record if isinstance(record, bytes) else record_line(record, name))

    def _count(self, line: bytes) -> bytes:
        self.report.lines += 1
        self.report.size += len(line) + 1
        return line

    def _loose(self) -> Iterator[tuple[int, bytes]]:
        """Lines of the file that could not be read, with their order numbers."""
        for seq in self.scan.loose:
            event = self.family.event(seq)
            raw = raw_of(event.body, self.FORM.NAME)
            if raw is not None and self.keeps_raw(event):
                yield seq, raw
            else:
                self.tell("unreadable", event)

    def keeps_raw(self, event: Event) -> bool:
        """Whether the tool passes over a line that it cannot read."""
        return False

    # -- one entry -------------------------------------------------------------------------

    def _entry(self, node: AnyNode, event: Event) -> Iterable[Record | bytes]:
        key = node.entry_id
        parent = self.parent(key)
        time = milliseconds(event)
        self.time = time or self.time
        if not time:
            self.tell("time", event)
        self._note(node, event, parent)
        if self._came_whole(event) and self._untouched(node, event):
            made = self._own(node, event, parent)
            if made is not None:
                return [made]
        self._fields(event)
        records = list(self.make(node, event, key, parent))
        return [self.strict(record, event) for record in records]

    def strict(self, record: Record, event: Event) -> Record:
        """A record that the tool's JSON reader takes."""
        checked: Record = strict_value(record, self.SURROGATES, lambda why: self.tell(why, event))
        return checked

    def _untouched(self, node: AnyNode, event: Event) -> bool:
        """Whether an entry still says what its record said."""
        if isinstance(node, MessageNode):
            return self.seq(event) == node.born and node.message_id not in self.found.calls
        return node.kind not in ANCHORS or self.summaries.rules(node.entry_id)

    def _own(self, node: AnyNode, event: Event, parent: str | None) -> Record | bytes | None:
        """The record that an entry was read from, at its present place; None: it has to be made."""
        record = self.FORM.record_of(event.head, event.body)
        if not isinstance(record, dict):
            return None
        newest = self.newest(dict(record), event)
        if newest is None:
            return None
        raw = raw_of(event.body, self.FORM.NAME)
        if parent != event.head.parent_id:
            newest.pop(self.FORM.PARENT, None)
            if parent is not None or self.FORM.NULL_PARENT:
                newest[self.FORM.PARENT] = parent
        elif raw is not None and newest == record:
            return raw
        if raw is not None:
            self.tell("raw_text", event)
        anchor = self.state.anchors.get(node.entry_id)
        if anchor is not None:
            self.rebound(newest, node, anchor, event)
        return newest

    @abstractmethod
    def newest(self, record: Record, event: Event) -> Record | None:
        """A record of the tool's own as its newest release writes it; None: make it anew."""

    @abstractmethod
    def rebound(self, record: Record, node: AnyNode, anchor: Anchor, event: Event) -> None:
        """Give a compaction's own record the boundary that it has in this file."""

    def _note(self, node: AnyNode, event: Event, parent: str | None) -> None:
        """Keep what later lines need to know of this one."""
        key = node.entry_id
        head = event.head
        if node.kind == MARK and parent in self.turn:
            self.turn[key] = self.turn[str(parent)]
        elif head.role == "assistant" and (
            head.call_ids or (head.message_id or "") in self.found.calls
        ):
            self.turn[key] = head.message_id or key
        elif head.role == "tool_result":
            if head.owner is not None and self.turn.get(parent or "") == head.owner:
                self.turn[key] = head.owner
            elif head.owner is not None:
                self.tell("result_owner", event)
        depth = self.plan.on_leaf_path.get(key)
        if depth is not None:
            self.models.note(node, event, depth)

    def _fields(self, event: Event) -> None:
        """Report fields that the format has no place for."""
        given = set(event.body.to_json())
        held = self.HELD.get(event.head.kind, frozenset())
        lost = sorted((given - held - {"content", "source", "extra"}) | (given & _EVERY))
        other = sorted(self._other_fields(event.body))
        if lost or other:
            self.tell("field", event, ", ".join([*lost, *other]))

    def _other_fields(self, body: BodyBase) -> set[str]:
        """Extra fields that are no tool's own record."""
        return {key for key in body.extra if key not in ("pi", "tau")}

    @abstractmethod
    def make(self, node: AnyNode, event: Event, key: str, parent: str | None) -> Iterable[Record]:
        """The records of an entry, the one that has its id first."""

    @abstractmethod
    def record(self, kind: str, key: str, parent: str | None, /, **fields: Any) -> Record:
        """A record with the fields that all have, timed as the entry at hand."""

    @abstractmethod
    def custom(self, what: str, data: Any, key: str, parent: str | None) -> Record:
        """Custom data under a namespace of ours."""

    @abstractmethod
    def preamble(self) -> Iterable[Record]:
        """What stands before the entries."""

    @abstractmethod
    def trailing(self) -> Iterable[Record]:
        """What stands behind them: labels, the name, usage."""

    # -- summaries -------------------------------------------------------------------------

    def summary_text(self, key: str, event: Event) -> str:
        """The text of a summary, as the leaf's branch sends it."""
        edit = self.edits.get(key)
        if edit is None or edit.body.content is None:
            return event.body.summary or ""
        return plain_text(edit.body.content)

    # -- messages --------------------------------------------------------------------------

    def content_of(self, node: MessageNode, event: Event) -> Content:
        """What the winning version says, with the calls that are only facts."""
        content: Content = event.body.content
        if event.head.interruption and not self._came_whole(event):
            if plain_text(content) != INTERRUPTED:
                self.tell("interruption_text", event)
            return (TextBlock(text=INTERRUPTED),)
        beside = self.found.calls.get(node.message_id, ())
        made = []
        for call_id in beside:
            fact = self.state.facts.get((node.message_id, call_id))
            if fact is not None and fact.call_seq:
                said = self.family.event(fact.call_seq).body
                made.append(
                    ToolCallBlock(call_id=call_id, name=said.name, arguments=said.arguments)
                )
        return (*content, *made)

    def plain_message(self, event: Event, content: Content) -> Record:
        """A message of ours in the tools' shape."""
        message = message_of(event, content)
        if event.head.interruption:
            message["isError"] = True
        status = event.head.status
        if event.head.role == "assistant":
            if status == "error" and message.get("stopReason") not in ("error", "aborted"):
                message["stopReason"] = "error"
        elif status == "error" and event.head.role != "tool_result":
            self.tell("status", event)
        message["timestamp"] = self.time
        return message

    def _fact_result(self, added: Added) -> Record:
        event = self.family.event(added.seq)
        self.time = milliseconds(event) or self.time
        fact = self.state.facts.get((added.owner, added.call_id))
        node = self.state.entries.get(added.owner)
        if isinstance(node, MessageNode):
            fact = self.state.facts.get((node.message_id, added.call_id))
            self.turn[added.entry_id] = node.message_id
        name = event.body.name
        if name is None and fact is not None and fact.call_seq:
            name = self.family.event(fact.call_seq).body.name
        body = MessageBody(
            content=event.body.content,
            tool_name=name or "unknown",
            is_error=event.head.status == "error",
            details=event.body.details,
        )
        message = self.fact_message(event, body, added.call_id)
        record = self.record("message", added.entry_id, self.parent(added.entry_id))
        record["message"] = message
        return self.strict(record, event)

    @abstractmethod
    def fact_message(self, event: Event, body: MessageBody, call_id: str) -> Record:
        """The result message of a call whose result was recorded as a fact."""

    # -- the end ---------------------------------------------------------------------------

    def _trailing(self) -> Iterator[Record]:
        """Lines behind the entries, a chain under the leaf: the tool opens the file at the last
        one, so all of them stand for the leaf."""
        tip = self.plan.leaf or self.root
        for record in self.trailing():
            record.pop(self.FORM.PARENT, None)
            if tip is not None or self.FORM.NULL_PARENT:
                record[self.FORM.PARENT] = tip
            tip = record["id"]
            self.plan.marker = False
            yield record
        if self.plan.marker:
            yield self.custom("leaf", {}, self.new_id("leaf"), tip)

    def new_id(self, what: str) -> str:
        """An id for a line that stands for no entry."""
        return self.planner.extra_id(what, self.plan)

    def parent(self, key: str) -> str | None:
        """The parent of an entry's line."""
        return self.plan.parents[key] or self.root

    def leaf_is_own(self) -> bool:
        """Whether the leaf came from such a file: the tool then reads it as it always did."""
        node = self.state.entries.get(self.plan.leaf or "")
        return node is not None and self._came_whole(self.family.event(spoken(self.state, node)))
