"""One session in the full text: which texts its events bring, replace and take away."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection

from tapefold.domain.heads import Head
from tapefold.domain.kernel import State
from tapefold.domain.nodes import MESSAGE, NODE_KINDS
from tapefold.domain.tree import born

from ..bodies import Bodies
from ..declaration import SessionFold
from ..log import Log, LogEvent
from ..values import text_of
from .collecting import FACTS, SAID, Row, Texts
from .pieces import ENTRY_KINDS
from .writing import drop_texts, put_texts

_MESSAGES = frozenset(kind for kind, node in NODE_KINDS.items() if node == MESSAGE)
_FACTS = frozenset({"tool_call_recorded", "tool_result_recorded"})
_ITEM = "session_id = ? AND item = ? AND part = ?"


class TextFold(SessionFold):
    """The fold of one session."""

    def __init__(self, log: Log, session_id: str) -> None:
        self._state = State(session_id)
        self._bodies = Bodies(log, self._state)
        self._texts = Texts(self._state, self._bodies)
        self._naming: dict[str, dict[str, None]] = {}
        """Result messages of this tape by the message that they name as their owner."""
        self._said: dict[str, None] = {}
        self._facts: dict[str, None] = {}
        self._entries: list[tuple[LogEvent, str | None]] = []
        self._flushed = 0

    @property
    def position(self) -> int:
        return self._state.position

    @property
    def size(self) -> int:
        return self._state.position + 1 + len(self._naming)

    def replay(self, heads: Iterable[tuple[int, Head]]) -> None:
        """Become what the fold was after these events, whose rows are written already."""
        for position, head in heads:
            self._head(position, head)
        self._forget()

    def _head(self, position: int, head: Head) -> None:
        state = self._state
        if head.kind == "session_started" and not (state.offset or state.position):
            origin = head.origin
            if origin is not None and origin.inherit:
                state.inherit(self._bodies.basis(state.session_id, origin))
                self._flushed = state.seq
        state.apply_head(position, head)
        if head.kind in _MESSAGES:
            mid = head.message_id or head.entry_id or f"#{state.seq}"
            self._touch(mid)
            if head.owner is not None and head.role == "tool_result":
                self._naming.setdefault(head.owner, {})[mid] = None
        elif head.kind == "retracted":
            for mid in head.targets:
                self._touch(mid)
        elif head.kind in _FACTS and head.owner is not None:
            self._facts[head.owner] = None

    def _touch(self, mid: str) -> None:
        self._said[mid] = None
        if self._state.fact_chains.get(mid) is not None:
            self._facts[mid] = None
        naming = self._naming.get(mid)
        if naming:
            self._said.update(naming)

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: LogEvent) -> None:
        head = event.head
        self._head(event.position, head)
        if head.kind in _MESSAGES or head.kind in _FACTS:
            self._bodies.keep(event)
        elif head.kind in ENTRY_KINDS:
            self._entries.append((event, self._made(head.entry_id)))

    def _made(self, entry_id: str | None) -> str | None:
        """The id of the node that the last event made: its own may have been taken."""
        state = self._state
        while entry_id is not None:
            node = state.entries.get(entry_id)
            if node is None or born(node) == state.seq:
                return entry_id
            entry_id = f"{entry_id}~{state.seq}"
        return None

    # -- rows ------------------------------------------------------------------------------

    def flush(self, connection: Connection) -> None:
        texts = self._texts
        rows: list[Row] = []
        for event, entry_id in self._entries:
            rows += texts.entry(event, entry_id)
        for mid in self._said:
            if not self._is_fresh(mid):
                self._drop(connection, mid, SAID)
            rows += texts.said(mid)
        for mid in self._facts:
            self._drop(connection, mid, FACTS)
            rows += texts.facts(mid)
        put_texts(connection, rows)
        self._forget()

    def _drop(self, connection: Connection, mid: str, part: str) -> None:
        drop_texts(connection, _ITEM, (self._state.session_id, text_of(mid), part))

    def _is_fresh(self, mid: str) -> bool:
        """Whether a message began since the last flush: it has no rows yet."""
        node = self._state.message_node(mid)
        return node is None or node.born > self._flushed

    def _forget(self) -> None:
        self._said.clear()
        self._facts.clear()
        self._entries.clear()
        self._bodies.forget()
        self._flushed = self._state.seq
