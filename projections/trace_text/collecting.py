"""The texts of a session's entries, as its state says that they stand now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tapefold.domain.heads import DROPPED_RANK, message_rank
from tapefold.domain.instants import seconds
from tapefold.domain.kernel import State
from tapefold.domain.nodes import MessageNode, Version

from ..bodies import Bodies
from ..log import LogEvent
from ..values import stamp, text_of
from .folding import is_plain
from .pieces import Piece, call_piece, entry_piece, message_pieces, result_piece, spoken_in

Row = tuple[Any, ...]
"""The columns of `tt_texts`."""

Place = tuple[str, str, str | None, str | None, str | None]
"""Item and part, entry id, role and status of some texts."""

SAID, FACTS, ENTRY = "said", "facts", "entry"


class Texts:
    """Texts by what they belong to. `inherited`: of what stands on ancestors' tapes instead of
    the session's own."""

    def __init__(self, state: State, bodies: Bodies, *, inherited: bool = False) -> None:
        self._state = state
        self._bodies = bodies
        self._inherited = inherited

    def _is_here(self, seq: int) -> bool:
        return bool(seq) and (seq <= self._state.offset) == self._inherited

    def said(self, message_id: str) -> list[Row]:
        """What a message's winning version says; nothing while it is hidden."""
        state = self._state
        node = state.message_node(message_id)
        if node is None:
            return []
        kept = state.messages.get(message_id)
        winner: Version | None = node
        if kept is not None:
            winner = kept.winner(True)
        elif message_rank(node.status) == DROPPED_RANK:
            return []
        if winner is None or not self._is_here(winner.seq):
            return []
        role, call_id = winner.role, None
        if role == "tool_result" and winner.call_ids:
            if self._is_hidden(winner):
                return []
            call_id = text_of(winner.call_ids[0])
        event = self._bodies.event(winner.seq)
        pieces = message_pieces(spoken_in(event), role)
        place = (message_id, SAID, node.entry_id, role, winner.status)
        return _rows(event, place, pieces, call_id)

    def _is_hidden(self, winner: Version) -> bool:
        """A result does not show while its call's message is struck, or revised without it."""
        if winner.owner is None:
            return False
        owner = self._state.message(winner.owner)
        if owner is None:
            return False
        if owner.struck or owner.final is None:
            return owner.struck
        call_id = winner.call_ids[0]
        return call_id in owner.held and call_id not in owner.final.call_ids

    def facts(self, message_id: str) -> Iterator[Row]:
        """The facts of a message's calls that show: calls that its content does not hold, and
        results."""
        state, bodies = self._state, self._bodies
        call_ids = state.fact_call_ids(message_id)
        if not call_ids:
            return
        node, message = state.message_node(message_id), state.message(message_id)
        winner = None if message is None else message.winner(True)
        if node is None or message is None or winner is None or winner.role != "assistant":
            return
        number = 0
        for call_id in call_ids:
            fact = state.facts.get((message_id, call_id))
            is_held = call_id in winner.call_ids
            if fact is None or not (is_held or (fact.call_rank() and call_id not in message.held)):
                continue
            found: list[tuple[LogEvent, Piece, str | None]] = []
            if not is_held and self._is_here(fact.call_seq):
                event = bodies.event(fact.call_seq)
                name, arguments = text_of(event.body.get("name")), event.body.get("arguments")
                piece = call_piece(name, arguments, text_of(call_id))
                found.append((event, piece, fact.call_status))
            if fact.result_rank() and self._is_here(fact.result_seq):
                event = bodies.event(fact.result_seq)
                answer = result_piece(spoken_in(event), call_id)
                if answer is not None:
                    found.append((event, answer, fact.result_status))
            for event, piece, status in found:
                place = (message_id, FACTS, node.entry_id, winner.role, status)
                yield from _rows(event, place, (piece,), first=number)
                number += 1

    def entry(self, event: LogEvent, entry_id: str | None) -> Iterator[Row]:
        """The text of an event that is no message. `entry_id`: the node that it made."""
        piece = entry_piece(event.head.kind, event.body)
        if piece is not None:
            item = entry_id or f"#{event.position}"
            yield from _rows(event, (item, ENTRY, entry_id, None, None), (piece,))

    def everything(self) -> Iterator[Row]:
        """All of it, marks aside: what a fork inherits."""
        state = self._state
        for node in state.entries.values():
            if isinstance(node, MessageNode):
                yield from self.said(node.message_id)
                yield from self.facts(node.message_id)
            elif self._is_here(node.seq) and node.kind in _KINDS:
                yield from self.entry(self._bodies.event(node.seq), node.entry_id)


def _rows(
    event: LogEvent,
    place: Place,
    pieces: Iterable[Piece],
    call_id: str | None = None,
    *,
    first: int = 0,
) -> list[Row]:
    """The rows of an event's texts. `call_id`: of those that name none; `first`: their number."""
    item, part, entry_id, role, status = place
    item, entry_id = text_of(item) or "", text_of(entry_id)
    at = event.head.timestamp
    written, moment = stamp(at), seconds(at)
    session_id, position = event.session_id, event.position
    return [
        (
            session_id,
            item,
            part,
            number,
            position,
            kind,
            entry_id,
            own_call_id or call_id,
            name,
            role,
            status,
            written,
            moment,
            int(is_plain(text)),
            text,
        )
        for number, (kind, text, own_call_id, name) in enumerate(pieces, first)
    ]


_KINDS = frozenset({"compaction", "handoff", "branch_summary", "custom", "foreign"})
