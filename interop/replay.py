"""What `as tau` and `as pi` have in common: the path as those tools see it, and its records.

A tool's replay of a session that it wrote itself is reproduced exactly, from the records. A
session of another origin is converted into the same shape from what its events say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain.content import Content, ToolCallBlock
from ..domain.events import Event
from ..domain.kernel import State
from ..domain.nodes import CONTEXT_EDIT, MessageNode
from ..domain.order import sort_rows
from ..domain.selection import Selection, select
from ..domain.tree import LeafRef
from ..domain.view import Bodies, Call, Item, Message, Tapes, View, build_view
from .messages import give
from .pi import PI
from .records import RecordFormat
from .tau import TAU
from .times import token_milliseconds

FORMATS: tuple[RecordFormat, ...] = (PI, TAU)


@dataclass(frozen=True)
class Path:
    """The way from the root to the leaf as the tools see it: it begins below an unknown parent.

    `events` maps an entry id to the event that speaks for it: of a message that shows, that of
    its winning version.
    """

    view: View
    items: tuple[Item, ...]
    events: dict[str, Event]
    bodies: Bodies
    state: State

    def event(self, item: Item) -> Event:
        """The event that speaks for an item."""
        return self.events[item.entry_id]


def read_path(state: State, tapes: Tapes, leaf: LeafRef) -> Path:
    """The path to a leaf: an entry, a mark, None, or (left out) the session's own."""
    view = build_view(state, tapes, leaf)
    bodies = Bodies(state, tapes)
    bodies.fetch(seq for item in view.items for seq in _seqs(item))
    begin = 0
    for item in view.items:
        node = item.node
        born = bodies[node.born if isinstance(node, MessageNode) else node.seq]
        if any((form.own(born.body) or {}).get("unknown_parent") for form in FORMATS):
            begin = item.index
    items = tuple(replace(item, index=i) for i, item in enumerate(view.items[begin:]))
    events = {
        item.entry_id: bodies[item.node.seq if item.message is None else item.message.seq]
        for item in items
    }
    return Path(view, items, events, bodies, state)


def _seqs(item: Item) -> Iterable[int]:
    node = item.node
    if isinstance(node, MessageNode):
        yield node.born
    yield node.seq if item.message is None else item.message.seq


def selected(path: Path) -> Selection:
    """What the anchors on the path leave, sorted as it is read."""
    selection = select(path.state, path.items, anchored=True)
    selection.kept = sort_rows(selection.kept, _order_key)
    return selection


def _order_key(item: Item) -> tuple[int, str] | None:
    message = item.message
    if message is None or message.order_seq is None:
        return None
    return message.order_seq, message.message_id


@dataclass(frozen=True)
class Edit:
    """The last edit of an entry. `content` None leaves it out."""

    event: Event
    seq: int

    @property
    def leaves_out(self) -> bool:
        """Whether the entry is left out."""
        return self.event.head.cleared or self.event.body.content is None

    def holds(self, item: Item) -> bool:
        """Whether it still counts: a version that came after it wins over a replacement."""
        if self.leaves_out or item.message is None or not isinstance(item.node, MessageNode):
            return True
        return item.message.seq == item.node.born or item.message.seq < self.seq


def edits_in(path: Path, items: Iterable[Item]) -> dict[str, Edit]:
    """The last edit of each entry among `items`."""
    edits: dict[str, Edit] = {}
    for item in items:
        if item.kind == CONTEXT_EDIT:
            event = path.event(item)
            for target in event.head.targets:
                edits[target] = Edit(event, item.node.seq)
    return edits


def own_record(event: Event, form: RecordFormat) -> Any:
    """The record that an event was made of, if it came from a file of this tool."""
    return form.record_of(event.head, event.body)


def milliseconds(event: Event) -> int:
    """The event's time in milliseconds; 0 where it has none that can be read."""
    seconds = TAU.own(event.body) is not None
    return token_milliseconds(event.head.timestamp, seconds) or 0


def message_of(event: Event, content: Content | None = None) -> dict[str, Any]:
    """A message of an event of ours, in the tools' shape, with `content` in its stead if given."""
    body = event.body if content is None else event.body.model_copy(update={"content": content})
    message = give(event.head.role, body, event.head.call_ids, {})
    message["timestamp"] = milliseconds(event)
    return message


def with_fact_calls(message: Message) -> Content | None:
    """The content with the calls that are known only as facts; None: there are no such calls."""
    facts = [call for call in message.calls if not call.in_content]
    if not facts:
        return None
    blocks = [
        ToolCallBlock(call_id=c.call_id, name=c.name or "unknown", arguments=c.arguments)
        for c in facts
    ]
    return (*message.content, *blocks)


def fact_results(message: Message) -> Sequence[Call]:
    """The calls whose result is a fact beside the messages: it has no row of its own."""
    return [c for c in message.calls if c.result is not None and c.result.message_id is None]
