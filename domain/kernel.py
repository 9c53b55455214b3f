"""The kernel: one pure fold of heads. The aggregate, the view and the context stand on it.

`apply` takes the event at the next position and only changes tables; it refuses nothing that a
tape may hold, since a tape is history. Whether something may be appended is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from .errors import BasisMissing, InvalidValue, OutOfOrder
from .heads import DIRECTORY, DROPPED_RANK, FINAL_RANK, Head, fact_rank, message_rank
from .nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    CONTEXT_EDIT,
    MARK,
    MESSAGE,
    NODE_KINDS,
    ROLES,
    STATUSES,
    Anchor,
    CallFact,
    Delivery,
    Fact,
    MessageNode,
    MessageState,
    Node,
    Version,
)
from .tables import Tables


class Headed(Protocol):
    """Anything that the fold can take: an event, or a thin row of a tape."""

    @property
    def position(self) -> int: ...
    @property
    def head(self) -> Head: ...


class State(Tables):
    """The tables, and how events change them."""

    __slots__ = ()

    def apply(self, event: Headed) -> None:
        """Apply the next event. Raises `OutOfOrder` for any other position."""
        self.apply_head(event.position, event.head)

    def apply_head(self, position: int, head: Head) -> None:
        """The same for a head whose position is known."""
        if position != self.position + 1:
            raise OutOfOrder(self.session_id, position, self.position + 1)
        if self.frozen:
            raise InvalidValue(f"state of {self.session_id!r} is frozen; copy() it to go on")
        handler = _HANDLERS.get(head.kind)
        if handler is None:
            raise InvalidValue(
                f"session {self.session_id!r}, position {position}: the kernel does not know "
                f"events of kind {head.kind!r}; they were written by a newer version, or by an "
                "application that has events of its own"
            )
        seq = self.offset + position
        handler(self, head, seq)
        self.position = position
        if head.key is not None and self.keys.get(head.key) is None:
            self.keys[head.key] = Delivery(seq, head.request, head.entry_id, head.message_id)


def fold(events: Iterable[Headed], basis: State | None = None, at: int | None = None) -> State:
    """The state after `events` (any order; up to position `at`), on a fork's `basis`.

    Raises `OutOfOrder` where a position is missing or doubled, `BasisMissing` for a fork's
    tape without its basis.
    """
    ordered = sorted(events, key=lambda event: event.position)
    session_id = ""
    if ordered:
        session_id = str(getattr(ordered[0], "session_id", ""))
        check_basis(session_id, ordered[0].head, basis)
    state = State(session_id)
    state.inherit(basis)
    for event in ordered:
        if at is not None and event.position > at:
            break
        state.apply_head(event.position, event.head)
    return state


def check_basis(session_id: str, first: Head, basis: State | None) -> None:
    """Raise `BasisMissing` if `first` begins a fork and `basis` is not the state that it names."""
    origin = first.origin
    if origin is None or not origin.inherit:
        return
    if basis is None or (basis.session_id, basis.position) != (origin.session_id, origin.position):
        raise BasisMissing(session_id, origin.session_id, origin.position)


# -- handlers: one for each kind of event ------------------------------------------------------


def _started(state: State, head: Head, seq: int) -> None:
    if head.origin is not None and state.origin is not head.origin:
        state.origin = head.origin
        if head.origin.inherit:
            state.leaf = head.origin.leaf
    elif state.offset == 0:
        state.origin = None
    if head.digest is not None and not head.cleared:
        state.name = Fact(seq, head.digest)
    if head.name == DIRECTORY or state.info is None:
        state.info = Fact(seq)


def _version(state: State, head: Head, seq: int) -> None:
    message_id = head.message_id
    if message_id is None:
        message_id = head.entry_id or f"#{seq}"
    node = state.message_node(message_id)
    old = None
    if node is not None:
        old = state.messages.get(message_id) or MessageState.of(node)
    version = Version(
        message_id,
        seq,
        ROLES.get(head.role or "", head.role),
        STATUSES.get(head.status or "", head.status),
        head.digest,
        head.call_ids,
        head.owner,
        _order_seq(state, head, old),
        head.interruption,
    )
    if node is None or old is None:
        _first_version(state, head, version)
        return
    if head.entry_id is not None and head.entry_id != node.entry_id:
        _mark_node(state, head, seq)
    _later_version(state, node, old, version, head.revives)


def _order_seq(state: State, head: Head, old: MessageState | None) -> int | None:
    """A version without an order number keeps the message's last."""
    number = head.order_seq
    if number is None:
        return None if old is None else old.latest.order_seq
    known = message_rank(head.status) != DROPPED_RANK
    if known and (state.max_order_seq is None or number > state.max_order_seq):
        state.max_order_seq = number
    return number


def _first_version(state: State, head: Head, version: Version) -> None:
    entry_id = _free_id(state, head.entry_id or version.message_id, version.seq)
    if entry_id == version.message_id:
        version.message_id = entry_id  # one string in memory, not two
    else:
        state.aliases[version.message_id] = entry_id
    parent_id = _shared_id(state, head.parent_id)
    seq = version.seq
    finalized = seq if version.rank == FINAL_RANK else 0
    state.entries[entry_id] = MessageNode(entry_id, parent_id, seq, finalized, version)
    if head.takes_leaf:
        state.leaf = entry_id
    else:
        state.aside[entry_id] = seq


def _later_version(
    state: State, node: MessageNode, old: MessageState, version: Version, revives: bool
) -> None:
    rank = version.rank
    if rank == DROPPED_RANK:
        return  # a status that nobody knows: recorded, without effect
    if rank == FINAL_RANK and not node.finalized:
        node = MessageNode(node.entry_id, node.parent_id, node.born, version.seq, node)
        state.entries[node.entry_id] = node
    calls = version.call_ids if rank == FINAL_RANK and version.role == "assistant" else ()
    held = tuple(dict.fromkeys((*old.held, *calls))) if calls else old.held
    if old.struck and not revives:
        new = MessageState(node.entry_id, None, None, version, True, version.seq, held)
    else:
        # A revival starts the competition anew: what was struck stays out of it.
        final = None if old.struck else old.final
        pending = None if old.struck else old.pending
        if rank == FINAL_RANK:
            final = version
        else:
            pending = version
        new = MessageState(node.entry_id, final, pending, version, False, version.seq, held)
    _keep(state, node, new)


def _keep(state: State, node: MessageNode, new: MessageState) -> None:
    """Store a message's state; where one final version says it all, in the node itself."""
    final = new.final
    if (
        final is not None
        and final is new.latest
        and not new.struck
        and set(new.held) <= set(final.call_ids)
        and state.messages.get(node.message_id) is None
    ):
        state.entries[node.entry_id] = MessageNode(
            node.entry_id, node.parent_id, node.born, node.finalized, final
        )
    else:
        state.messages[node.message_id] = new


def _retracted(state: State, head: Head, seq: int) -> None:
    for message_id in head.targets:
        node = state.message_node(message_id)
        old = state.message(message_id)
        if node is None or old is None:
            continue  # it strikes what lies before it; nothing does
        state.messages[message_id] = MessageState(
            node.entry_id, None, None, old.latest, True, seq, old.held
        )
    _mark_node(state, head, seq)


def _call_fact(state: State, head: Head, seq: int) -> None:
    if head.owner is not None and head.call_ids and fact_rank(head.status):
        fact = _fact(state, head.owner, head.call_ids[0])
        fact.changed = seq
        if fact_rank(head.status) >= fact.call_rank():
            fact.call_seq = seq
            fact.call_status = STATUSES.get(head.status or "", head.status)
            fact.call_digest = head.digest
        state.facts[(head.owner, head.call_ids[0])] = fact
    _mark_node(state, head, seq)


def _result_fact(state: State, head: Head, seq: int) -> None:
    if head.owner is not None and head.call_ids and fact_rank(head.status):
        fact = _fact(state, head.owner, head.call_ids[0])
        fact.changed = seq
        if fact_rank(head.status) >= fact.result_rank():
            fact.result_seq = seq
            fact.result_status = STATUSES.get(head.status or "", head.status)
            fact.result_digest = head.digest
        state.facts[(head.owner, head.call_ids[0])] = fact
    _mark_node(state, head, seq)


def _fact(state: State, owner: str, call_id: str) -> CallFact:
    old = state.facts.get((owner, call_id))
    if old is not None:
        return old.copy()
    fact = CallFact(state.fact_chains.get(owner))
    state.fact_chains[owner] = call_id
    return fact


def _entry(state: State, head: Head, seq: int) -> None:
    if head.entry_id is None:
        return  # a foreign record without an id is a mark
    kind = NODE_KINDS[head.kind]
    target = head.targets[0] if head.targets else None
    entry_id = _free_id(state, head.entry_id, seq)
    state.entries[entry_id] = Node(entry_id, _shared_id(state, head.parent_id), seq, kind, target)
    if kind in ANCHORS:
        state.anchors[entry_id] = Anchor(
            entry_id, seq, kind, head.name, head.first_kept, head.replaces, head.cumulative
        )
    if kind == BRANCH_SUMMARY:
        state.branch_summaries[entry_id] = seq
    if kind == CONTEXT_EDIT and target is not None:
        state.edits[target] = Fact(seq, head.digest, head.cleared)
    if head.takes_leaf:
        state.leaf = entry_id


def _mark_node(state: State, head: Head, seq: int) -> None:
    """An imported mark that has an id is a node to walk through; it has no effect as a node."""
    if head.entry_id is not None and state.entries.get(head.entry_id) is None:
        parent_id = _shared_id(state, head.parent_id)
        state.entries[head.entry_id] = Node(head.entry_id, parent_id, seq, MARK, head.stands_for)


def _labelled(state: State, head: Head, seq: int) -> None:
    for entry_id in head.targets:
        state.labels[entry_id] = Fact(seq, head.digest, head.cleared)
    _mark_node(state, head, seq)


def _info(state: State, head: Head, seq: int) -> None:
    if head.digest is not None or head.cleared:
        state.name = Fact(seq, head.digest, head.cleared)
    elif head.name == DIRECTORY:
        state.info = Fact(seq)
    _mark_node(state, head, seq)


def _leaf_moved(state: State, head: Head, seq: int) -> None:
    if head.takes_leaf:
        state.leaf = head.targets[0] if head.targets else None
        state.leaf_moved = seq
    _mark_node(state, head, seq)


def _free_id(state: State, entry_id: str, seq: int) -> str:
    """An id belongs to the first that took it. Decisions refuse a second use; a tape written
    by others may hold one all the same, and its node must not push the first aside."""
    while state.entries.get(entry_id) is not None:
        entry_id = f"{entry_id}~{seq}"
    return entry_id


def _shared_id(state: State, parent_id: str | None) -> str | None:
    """The parent's own string where it is known, so that an id is kept once in memory."""
    if parent_id is None:
        return None
    node = state.entries.get(parent_id)
    return parent_id if node is None else node.entry_id


_HANDLERS: dict[str, Callable[[State, Head, int], None]] = {
    "session_started": _started,
    "retracted": _retracted,
    "tool_call_recorded": _call_fact,
    "tool_result_recorded": _result_fact,
    "labelled": _labelled,
    "session_info_changed": _info,
    "leaf_moved": _leaf_moved,
    **{
        kind: _version if node_kind == MESSAGE else _entry for kind, node_kind in NODE_KINDS.items()
    },
    **dict.fromkeys(
        (
            "forked",
            "fork_merged",
            "fork_discarded",
            "subagent_linked",
            "usage_recorded",
            "backfill_recorded",
            "context_assembled",
            "model_call_completed",
        ),
        _mark_node,
    ),
}
