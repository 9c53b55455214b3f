"""The view: what a session says at a leaf. The kernel, plus bodies fetched by position.

Compactions, hand-offs and context edits hide nothing here; they shape the context.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .calls import FACT_RESULT, Pairing, PairRow, pair, pair_row
from .content import Content, ToolCallBlock
from .errors import TapefoldError
from .events import Event
from .kernel import State
from .nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MODEL,
    THINKING,
    AnyNode,
    MessageNode,
)
from .order import sort_rows
from .tree import LEAF, LeafRef, entry_of, path, require_node, resolve_leaf


class Tapes(Protocol):
    """Where bodies come from: the events of a tape at given positions, in any order."""

    def events_at(self, session_id: str, positions: Sequence[int]) -> Iterable[Event]: ...


@dataclass(frozen=True)
class CallResult:
    """What a call gave back: from a result message, or (`message_id` None) from a fact."""

    content: Content
    is_error: bool
    interruption: bool
    session_id: str
    position: int
    message_id: str | None
    entry_id: str | None


@dataclass(frozen=True)
class Call:
    """A tool call that shows. `status`: success, error, interrupted, or pending: no result yet.

    `result` is None then.
    """

    call_id: str
    name: str | None
    arguments: Any
    status: str
    result: CallResult | None
    in_content: bool


@dataclass(frozen=True)
class Message:
    """A message that shows. (session_id, position) is the event of its winning version."""

    session_id: str
    message_id: str
    entry_id: str
    position: int
    role: str
    status: str
    order_seq: int | None
    body: Any
    calls: tuple[Call, ...]
    timestamp: Any
    seq: int

    @property
    def content(self) -> Content:
        """The blocks of the winning version."""
        content: Content = self.body.content
        return content


@dataclass(frozen=True)
class Item:
    """A node on the path. `message` is set where it is a message that shows.

    `event` is set for anchors, branch summaries, edits and settings.
    """

    index: int
    node: AnyNode
    message: Message | None = None
    event: Event | None = None

    @property
    def kind(self) -> str:
        return self.node.kind

    @property
    def entry_id(self) -> str:
        return self.node.entry_id


@dataclass(frozen=True)
class Settings:
    """What the next message would be asked with."""

    model: str | None = None
    provider: str | None = None
    thinking_level: str | None = None


@dataclass(frozen=True)
class Warning:
    """Something that a reader should know. `code` is stable, `text` says it in words."""

    code: str
    text: str
    entry_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """What a session says at a leaf.

    `messages` are sorted as they are read; `items` is the whole path, root first, marks
    included, in path order.
    """

    session_id: str
    position: int
    leaf: str | None
    name: str | None
    messages: tuple[Message, ...]
    settings: Settings
    labels: dict[str, str]
    anchors: tuple[Item, ...]
    warnings: tuple[Warning, ...]
    items: tuple[Item, ...] = ()
    pairing: Pairing = field(default_factory=Pairing)
    state: State | None = None


class Bodies:
    """Fetches events by order number, from whichever ancestor's tape holds them."""

    def __init__(self, state: State, tapes: Tapes) -> None:
        self._state = state
        self._tapes = tapes
        self._events: dict[int, Event] = {}

    def fetch(self, seqs: Iterable[int]) -> None:
        """Read what is not read yet, one request a tape."""
        wanted: dict[str, dict[int, int]] = {}
        for seq in seqs:
            if seq not in self._events:
                session_id, position = self._state.locate(seq)
                wanted.setdefault(session_id, {})[position] = seq
        for session_id, positions in wanted.items():
            for event in self._tapes.events_at(session_id, sorted(positions)):
                self._events[positions[event.position]] = event

    def __getitem__(self, seq: int) -> Event:
        if seq not in self._events:
            self.fetch([seq])
            if seq not in self._events:
                session_id, position = self._state.locate(seq)
                raise TapefoldError(
                    f"session {session_id!r}: the event at position {position} is not in the "
                    "store; check the store, and the tape that was attached"
                )
        return self._events[seq]


WITH_BODY = ANCHORS | {BRANCH_SUMMARY, CONTEXT_EDIT, MODEL, THINKING}
"""Kinds of nodes whose event stands in the view."""


def build_view(
    state: State, tapes: Tapes, leaf: LeafRef = LEAF, include_pending: bool = False
) -> View:
    """The view of `state` at `leaf`. Raises `UnknownEntry` for a leaf that does not exist."""
    at = resolve_leaf(state, leaf)
    start = at if not isinstance(leaf, str) else require_node(state, leaf).entry_id
    nodes = path(state, start)
    rows = [pair_row(state, n, include_pending) for n in nodes if isinstance(n, MessageNode)]
    pairing = pair(state, rows, include_pending)
    bodies = Bodies(state, tapes)
    bodies.fetch(_needed(state, nodes, rows, pairing))
    builder = _Builder(state, bodies, pairing, rows)
    messages = builder.messages()
    items = tuple(
        Item(
            i,
            node,
            messages.get(node.entry_id),
            bodies[node.seq] if node.kind in WITH_BODY else None,
        )
        for i, node in enumerate(nodes)
    )
    shown = sort_rows([item for item in items if item.message is not None], order_key)
    return View(
        session_id=state.session_id,
        position=state.position,
        leaf=at,
        name=_name(state, bodies),
        messages=tuple(item.message for item in shown if item.message is not None),
        settings=settings_of(items),
        labels=labels_of(state, bodies),
        anchors=tuple(item for item in items if item.kind in ANCHORS),
        warnings=tuple(_off_path(state, nodes)),
        items=items,
        pairing=pairing,
        state=state,
    )


def order_key(item: Item) -> tuple[int, str] | None:
    """What an item sorts by, see `sort_rows`."""
    message = item.message
    if message is None or message.order_seq is None:
        return None
    return message.order_seq, message.message_id


def _needed(
    state: State, nodes: Sequence[AnyNode], rows: Sequence[PairRow], pairing: Pairing
) -> Iterable[int]:
    for row in rows:
        if row.winner is not None:
            yield row.winner.seq
            for call_id in row.live:
                if call_id not in row.winner.call_ids:
                    fact = state.facts.get((row.node.message_id, call_id))
                    if fact is not None:
                        yield fact.call_seq
    for result in pairing.results.values():
        if result.kind == FACT_RESULT:
            yield result.seq
    for node in nodes:
        if node.kind in WITH_BODY:
            yield node.seq
    for label in state.labels.values():
        if not label.cleared:
            yield label.seq
    if state.name is not None and not state.name.cleared:
        yield state.name.seq


def build_messages(
    state: State, bodies: Bodies, pairing: Pairing, rows: Sequence[PairRow]
) -> dict[str, Message]:
    """Some messages of a view alone, by entry id. `rows`: they, and their results' messages."""
    return _Builder(state, bodies, pairing, rows).messages()


class _Builder:
    def __init__(
        self, state: State, bodies: Bodies, pairing: Pairing, rows: Sequence[PairRow]
    ) -> None:
        self.state = state
        self.bodies = bodies
        self.pairing = pairing
        self.rows = {row.node.message_id: row for row in rows}

    def messages(self) -> dict[str, Message]:
        """Entry id to message, for those that show."""
        return {
            row.node.entry_id: self._message(row)
            for message_id, row in self.rows.items()
            if row.winner is not None and message_id not in self.pairing.hidden
        }

    def _message(self, row: PairRow) -> Message:
        winner = row.winner
        assert winner is not None
        event = self.bodies[winner.seq]
        session_id, position = self.state.locate(winner.seq)
        return Message(
            session_id=session_id,
            message_id=row.node.message_id,
            entry_id=row.node.entry_id,
            position=position,
            role=winner.role or "user",
            status=winner.status or "",
            order_seq=winner.order_seq,
            body=event.body,
            calls=self._calls(row, event) if row.live else (),
            timestamp=event.timestamp,
            seq=winner.seq,
        )

    def _calls(self, row: PairRow, event: Event) -> tuple[Call, ...]:
        held: dict[str, ToolCallBlock] = {}
        for block in event.body.content:
            if isinstance(block, ToolCallBlock):
                held.setdefault(block.call_id, block)
        calls = []
        for call_id in row.live:
            name, arguments = None, None
            block_or_none = held.get(call_id)
            if block_or_none is not None:
                name, arguments = block_or_none.name, block_or_none.arguments
            else:
                fact = self.state.facts.get((row.node.message_id, call_id))
                if fact is not None and fact.call_seq:
                    body = self.bodies[fact.call_seq].body
                    name, arguments = body.name, body.arguments
            status, result = self._result(row.node.message_id, call_id)
            calls.append(Call(call_id, name, arguments, status, result, block_or_none is not None))
        return tuple(calls)

    def _result(self, message_id: str, call_id: str) -> tuple[str, CallResult | None]:
        found = self.pairing.results.get((message_id, call_id))
        if found is None:
            return "pending", None
        if found.kind == FACT_RESULT:
            event = self.bodies[found.seq]
            session_id, position = self.state.locate(found.seq)
            status = event.head.status or "success"
            result = CallResult(
                event.body.content, status == "error", False, session_id, position, None, None
            )
            return status, result
        row = self.rows[found.message_id or ""]
        winner = row.winner
        assert winner is not None
        event = self.bodies[winner.seq]
        session_id, position = self.state.locate(winner.seq)
        is_error = bool(event.body.is_error)
        status = "error" if is_error else "success"
        return "interrupted" if winner.interruption else status, CallResult(
            event.body.content,
            is_error,
            winner.interruption,
            session_id,
            position,
            row.node.message_id,
            row.node.entry_id,
        )


def settings_of(items: Iterable[Item]) -> Settings:
    """Model: the last of model change and shown final assistant message with a known model.

    An absent provider leaves the one before. Thinking level: the last change.
    """
    model: str | None = None
    provider: str | None = None
    thinking: str | None = None
    for item in items:
        if item.kind == THINKING and item.event is not None:
            thinking = item.event.body.level
        elif item.kind == MODEL and item.event is not None:
            model = item.event.body.model
            provider = item.event.body.provider or provider
        elif item.message is not None and item.message.role == "assistant":
            known = item.message.body.model
            if known and known != "unknown" and item.message.status != "pending":
                model = known
                provider = item.message.body.provider or provider
    return Settings(model, provider, thinking)


def labels_of(state: State, bodies: Bodies) -> dict[str, str]:
    """Entry id to label: the newest on the whole tape, in the order in which they were set."""
    newest = sorted((fact.seq, key) for key, fact in state.labels.items() if not fact.cleared)
    return {key: bodies[seq].body.label for seq, key in newest}


def _name(state: State, bodies: Bodies) -> str | None:
    if state.name is None or state.name.cleared:
        return None
    name: str | None = bodies[state.name.seq].body.title
    return name


def _off_path(state: State, nodes: Sequence[AnyNode]) -> Iterable[Warning]:
    """Answers that a user would miss: they became final beside the path, right below an entry
    of it, after the last time that the leaf was moved (or since the fork)."""
    on_path = {node.entry_id for node in nodes}
    since = max(state.leaf_moved, state.offset)
    missed = []
    for entry_id in _began_beside(state, since):
        node = state.entries.get(entry_id)
        if not isinstance(node, MessageNode) or entry_id in on_path or node.finalized <= since:
            continue
        message = state.message(node.message_id)
        final = None if message is None else message.final
        parent = None if node.parent_id is None else state.entries.get(node.parent_id)
        if final is None or final.role != "assistant" or parent is None:
            continue
        if entry_of(parent) in on_path:
            missed.append((node.finalized, entry_id))
    if missed:
        ids = tuple(entry_id for _, entry_id in sorted(missed))
        yield Warning(
            "answer_off_path",
            f"{len(ids)} answer(s) became final beside the path; use their entry id as leaf "
            "to read on there",
            ids,
        )


def _began_beside(state: State, since: int) -> Iterable[str]:
    """Messages that did not take the leaf, or that the leaf has left since they began."""
    yield from state.aside
    if since:
        for entry_id, node in state.entries.items():
            left = isinstance(node, MessageNode) and node.born <= since
            if left and state.aside.get(entry_id) is None:
                yield entry_id
