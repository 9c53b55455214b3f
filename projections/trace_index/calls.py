"""Which result belongs to which call, on all branches: what the call table is made of.

The view pairs calls and results along one path (`domain/calls.py`). Here every call of a tape has
a row, so the rule is one that needs no path: a result that names its owner belongs there; one
that names none belongs to the message that was the last, on the tape, to make a call of its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tapefold.domain.calls import FACT_RESULT, MESSAGE_RESULT, Owned
from tapefold.domain.heads import DROPPED_RANK, FINAL_RANK, PENDING_RANK, Head, message_rank
from tapefold.domain.kernel import State
from tapefold.domain.nodes import NODE_KINDS, MessageNode, MessageState, Version

_RESULT = "tool_result"
_FACTS = frozenset({"tool_call_recorded", "tool_result_recorded"})


class Answer(NamedTuple):
    """Where the result of a call stands: in a message (its id), or in a fact."""

    kind: str
    seq: int
    status: str | None
    message_id: str | None = None


class TracedCall(NamedTuple):
    """One call. `seq`: the event that holds it."""

    entry_id: str
    seq: int
    in_content: bool
    draft: bool
    struck: bool
    dropped: bool
    answer: Answer | None


class _Memory:
    """What the versions of a tape said of calls, beside what the kernel's state keeps."""

    def __init__(self) -> None:
        self.callers: dict[str, str] = {}
        self.calls_of: dict[str, dict[str, None]] = {}
        self.held_at: dict[Owned, int] = {}
        self.said: dict[int, Owned] = {}
        self.answers: dict[Owned, dict[str, None]] = {}
        self.answered: dict[str, dict[Owned, None]] = {}

    def call(self, owner: str, call_ids: Iterable[str], seq: int, is_final: bool) -> None:
        calls = self.calls_of.setdefault(owner, {})
        for call_id in call_ids:
            calls[call_id] = None
            self.callers[call_id] = owner
            if is_final:
                self.held_at[(owner, call_id)] = seq

    def answer(self, message_id: str, owned: Owned, seq: int) -> None:
        self.said[seq] = owned
        self.answers.setdefault(owned, {})[message_id] = None
        self.answered.setdefault(message_id, {})[owned] = None


class Calls:
    """The calls of one session. `note` takes each event after the state did.

    `touched`: the calls whose rows may have changed; the caller empties it.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._own = _Memory()
        self._basis: State | None = None
        self._inherited: _Memory | None = None
        self.touched: dict[Owned, None] = {}

    @property
    def size(self) -> int:
        """How many calls and results are remembered."""
        return len(self._own.held_at) + len(self._own.said)

    def inherit(self, basis: State) -> None:
        """Know the calls of the parent, where they are asked for."""
        self._basis = basis

    def note(self, head: Head, seq: int) -> None:
        """Take over what an event says of calls."""
        kind = head.kind
        if NODE_KINDS.get(kind) == "message":
            mid = head.message_id or head.entry_id or f"#{seq}"
            if head.call_ids and message_rank(head.status) != DROPPED_RANK:
                self._version(mid, head, seq)
            self._touch(mid)
        elif kind == "retracted":
            for mid in head.targets:
                self._touch(mid)
        elif kind in _FACTS and head.owner is not None and head.call_ids:
            if kind == "tool_call_recorded":
                self._own.call(head.owner, head.call_ids[:1], seq, False)
            else:
                self._own.calls_of.setdefault(head.owner, {})[head.call_ids[0]] = None
            self.touched[(head.owner, head.call_ids[0])] = None

    def _version(self, mid: str, head: Head, seq: int) -> None:
        if head.role == "assistant":
            self._own.call(mid, head.call_ids, seq, message_rank(head.status) == FINAL_RANK)
        elif head.role == _RESULT:
            call_id = head.call_ids[0]
            owner = head.owner or self._caller(call_id)
            if owner is not None:
                self._own.answer(mid, (owner, call_id), seq)

    def _caller(self, call_id: str) -> str | None:
        own = self._own.callers.get(call_id)
        return self._before().callers.get(call_id) if own is None else own

    def _touch(self, mid: str) -> None:
        """Everything that a message has to do with calls."""
        memories = [self._own]
        if self._basis is not None and self._basis.message_node(mid) is not None:
            memories.append(self._before())
        for memory in memories:
            for call_id in memory.calls_of.get(mid, ()):
                self.touched[(mid, call_id)] = None
            self.touched.update(memory.answered.get(mid, {}))

    def _before(self) -> _Memory:
        """What is inherited: all of it follows from the parent's state at the fork."""
        if self._inherited is None:
            self._inherited = _Memory() if self._basis is None else _remember(self._basis)
        return self._inherited

    # -- rows ------------------------------------------------------------------------------

    def traced(self, owned: Owned) -> TracedCall | None:
        """A call as it stands now; None where none was made, or only by a draft that is past."""
        state = self._state
        node = state.message_node(owned[0])
        message = state.message(owned[0])
        if node is None or message is None:
            return None
        winner = message.winner(True) or (message.latest if message.struck else None)
        if winner is None or winner.role != "assistant":
            return None
        fact = state.facts.get(owned)
        dropped = draft = False
        in_content = owned[1] in winner.call_ids
        if in_content:
            seq, draft = winner.seq, winner.rank == PENDING_RANK
        elif fact is not None and fact.call_rank():
            seq, draft = fact.call_seq, fact.call_rank() == PENDING_RANK
            dropped = owned[1] in message.held
        elif owned[1] in message.held:
            found = self._own.held_at.get(owned) or self._before().held_at.get(owned)
            if found is None:
                return None  # it was dropped in the parent already
            seq, dropped = found, True
        else:
            return None
        answer = self._answer(owned)
        return TracedCall(node.entry_id, seq, in_content, draft, message.struck, dropped, answer)

    def _answer(self, owned: Owned) -> Answer | None:
        """As the view has it: the first result message, else the newest fact, else the
        interruption; none where the result message was struck out."""
        state = self._state
        real: list[tuple[bool, int, Version]] = []
        interruption: Version | None = None
        closed = False
        for mid in self._answering(owned):
            message, node = state.message(mid), state.message_node(mid)
            if message is None or node is None:
                continue
            winner = message.winner(True)
            if winner is None:
                closed |= message.struck and self._said(message.latest.seq) == owned
            elif self._said(winner.seq) != owned:
                continue
            elif winner.interruption:
                interruption = interruption or winner
            else:
                real.append((winner.owner is None, node.born, winner))
        if real:
            _, _, winner = min(real, key=lambda one: one[:2])
            return Answer(MESSAGE_RESULT, winner.seq, None, winner.message_id)
        fact = state.facts.get(owned)
        if fact is not None and fact.result_rank() and not closed:
            return Answer(FACT_RESULT, fact.result_seq, fact.result_status)
        if interruption is not None:
            return Answer(MESSAGE_RESULT, interruption.seq, "interrupted", interruption.message_id)
        return None

    def _answering(self, owned: Owned) -> dict[str, None]:
        own = self._own.answers.get(owned, {})
        basis = self._basis
        if basis is None or basis.message_node(owned[0]) is None:
            return own
        return {**self._before().answers.get(owned, {}), **own}

    def _said(self, seq: int) -> Owned | None:
        if seq > self._state.offset:
            return self._own.said.get(seq)
        return self._before().said.get(seq)


def _remember(basis: State) -> _Memory:
    """What the versions that count in a state say of calls, in the order of the messages."""
    memory = _Memory()
    nodes = [node for node in basis.entries.values() if isinstance(node, MessageNode)]
    for node in sorted(nodes, key=lambda node: node.born):
        message = basis.message(node.message_id) or MessageState.of(node)
        version = message.winner(True) or message.latest
        mid = node.message_id
        if version.role == _RESULT and version.call_ids:
            owner = version.owner or memory.callers.get(version.call_ids[0])
            if owner is not None:
                memory.answer(mid, (owner, version.call_ids[0]), version.seq)
        elif version.role == "assistant":
            facts = basis.fact_call_ids(mid)
            if version.call_ids or facts or message.held:
                memory.call(mid, (*message.held, *facts), version.seq, False)
                memory.call(mid, version.call_ids, version.seq, version.rank == FINAL_RANK)
    return memory
