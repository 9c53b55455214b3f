"""Checks of events, one row at a time: positions, decodability, heads against bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from eventsourcing.persistence import Mapper, StoredEvent

from tapefold.domain.bodies import AnchorBody, MessageBody, StartBody, ToolCallBody, ToolResultBody
from tapefold.domain.content import OtherBlock, call_ids
from tapefold.domain.digests import fact_digest, mark_digest, message_digest
from tapefold.domain.events import Event, Forked, SessionStarted, is_ours
from tapefold.domain.heads import Head, Origin

from .checkup_findings import Findings
from .errors import NewerEvent, UnknownTopic, UnreadableEvent

Row = tuple[Any, Any, Any, Any, Any]
"""(id, originator_id, originator_version, topic, state), of whatever type the file holds."""


class Receipt(NamedTuple):
    """What a parent's tape says of a fork. `receipt` is its position there."""

    parent: str
    receipt: int
    origin: Origin


class RowCheck:
    """Checks rows that come in order of session and position.

    Keeps of the present session the entry ids, of the others nothing but their forks.
    """

    def __init__(self, findings: Findings, mapper: Mapper[str]) -> None:
        self.findings = findings
        self._mapper = mapper
        self.sessions = 0
        self.events = 0
        self.foreign = 0
        """Events of other aggregates, which are left alone."""
        self.origins: dict[str, Origin] = {}
        self.receipts: dict[str, list[Receipt]] = {}
        self._session: str | None = None
        self._position = 0
        self._is_ours = False
        self._ids: set[str] = set()
        self._orders: dict[str | None, int | None] = {}

    def take(self, row: Row) -> None:
        """Check the next row."""
        row_id, session_id, position, topic, state = row
        typed = (
            isinstance(session_id, str)
            and type(position) is int
            and isinstance(topic, str)
            and isinstance(state, bytes)
        )
        if not typed:
            where = session_id if isinstance(session_id, str) else None
            self.findings.add("bad_row", f"the row {row_id} is none that tapefold writes", where)
            return
        if session_id != self._session:
            self._begin(session_id, position, topic)
        if not self._is_ours:
            self.foreign += 1
            return
        self._check_position(session_id, position)
        self.events += 1
        event = self._decoded(session_id, position, topic, state)
        if event is not None:
            self._check_event(event)

    def _begin(self, session_id: str, position: int, topic: str) -> None:
        self._session, self._position = session_id, 0
        self._ids, self._orders = set(), {}
        # As everywhere: whose a stream is, its first event says.
        self._is_ours = is_ours(topic)
        if self._is_ours:
            self.sessions += 1
            if position == 1 and topic != SessionStarted.TOPIC:
                self.findings.add("no_start", f"it begins with {topic}", session_id, position)

    def _check_position(self, session_id: str, position: int) -> None:
        wanted, self._position = self._position + 1, position
        if position == wanted:
            return
        if position > wanted:
            missing = f"{wanted:,}" if position == wanted + 1 else f"{wanted:,} to {position - 1:,}"
            text = f"position {missing} is missing"
        else:
            text = f"position {position} comes after position {wanted - 1}"
        self.findings.add("gap", text, session_id, position)

    def _decoded(self, session_id: str, position: int, topic: str, state: bytes) -> Event | None:
        """The event with its body, if both can be read."""
        if not is_ours(topic):
            self.findings.add("foreign_event", f"it holds {topic!r}", session_id, position)
            return None
        code = "unreadable_event"
        try:
            event = self._mapper.to_domain_event(StoredEvent(session_id, position, topic, state))
            if isinstance(event, Event):
                _ = event.body
                return event
            problem = "it is no event of ours"
        except NewerEvent as error:
            code, problem = "newer_event", error.problem
        except UnknownTopic as error:
            code, problem = "unknown_event", error.problem
        except UnreadableEvent as error:
            problem = error.problem
        self.findings.add(code, f"{topic}: {problem}", session_id, position)
        return None

    # -- what an event says ----------------------------------------------------------------

    def _check_event(self, event: Event) -> None:
        head, where = event.head, (event.session_id, event.position)
        if isinstance(event, SessionStarted):
            if event.position != 1:
                self.findings.add("no_start", "it starts a second time", *where)
            elif head.origin is not None:
                self.origins[event.session_id] = head.origin
        elif isinstance(event, Forked):
            self._take_receipt(event)
        if head.entry_id is not None:
            if head.entry_id in self._ids:
                self.findings.add("id_twice", f"the entry {head.entry_id} is there twice", *where)
            self._ids.add(head.entry_id)
        if head.digest is not None and head.digest not in self._digests(head, event.body):
            self.findings.add(
                "body_differs",
                f"the body of {event.TOPIC} is not the one it was written with",
                *where,
            )
        if (
            isinstance(event.body, MessageBody)
            and head.role == "assistant"
            and call_ids(event.body.content) != tuple(head.call_ids)
        ):
            self.findings.add("calls_differ", "head and body hold other tool calls", *where)

    def _take_receipt(self, event: Event) -> None:
        body = event.body
        origin = Origin(event.session_id, body.position, body.leaf, body.inherit)
        receipt = Receipt(event.session_id, event.position, origin)
        self.receipts.setdefault(body.child, []).append(receipt)

    def _digests(self, head: Head, body: Any) -> Iterable[str | None]:
        """The digests that the head of this body may have."""
        if isinstance(body, MessageBody):
            yield from self._message_digests(head, body)
        elif isinstance(body, ToolCallBody | ToolResultBody):
            yield fact_digest(head.kind, head.status, body)
        elif isinstance(body, StartBody):
            # Only the title is said again by later events.
            yield mark_digest(StartBody.model_construct(title=body.title))
            yield mark_digest(body)
        else:
            yield mark_digest(body)
            if isinstance(body, AnchorBody):
                # Written by a command: what it covers was found out, not said.
                yield mark_digest(body.model_copy(update={"covered": ()}))
        if any(isinstance(block, OtherBlock) for block in getattr(body, "content", None) or ()):
            yield head.digest  # a newer tapefold may have known the block, and said more of it

    def _message_digests(self, head: Head, body: MessageBody) -> Iterable[str | None]:
        """A version without an order number is written with the one of the version before it."""
        known = head.message_id in self._orders
        call_id = None
        if head.role == "tool_result" and head.call_ids:
            call_id = head.call_ids[0]
        before = self._orders.get(head.message_id)
        if head.order_seq is not None or not known:
            self._orders[head.message_id] = head.order_seq
        for order in dict.fromkeys((head.order_seq, None, before)):
            yield message_digest(
                head.role, head.status, body, order, call_id, head.owner, None, head.interruption
            )
            if head.interruption:
                yield message_digest(
                    head.role, head.status, body, order, call_id, head.owner, None, False
                )
        if not known and head.kind == "message_revised":
            yield head.digest  # of an inherited message: its order number stands on another tape
