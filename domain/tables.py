"""The tables of the kernel: what a session's state is made of, and how it is shared."""

from __future__ import annotations

from typing import Any, Self

from .errors import InvalidValue
from .heads import Origin
from .layers import Layers
from .nodes import Anchor, AnyNode, CallFact, Delivery, Fact, MessageNode, MessageState


class Tables:
    """The thin state of a session at a position. About 400 bytes an entry at most.

    `seq` orders everything: the inherited events first, then the own (`offset` + position).
    `lineage` says whose event a seq is: (session_id, first seq - 1) from the oldest ancestor to
    this session.
    """

    __slots__ = (
        "aliases",
        "anchors",
        "aside",
        "branch_summaries",
        "edits",
        "entries",
        "fact_chains",
        "facts",
        "frozen",
        "info",
        "keys",
        "labels",
        "leaf",
        "leaf_moved",
        "lineage",
        "max_order_seq",
        "messages",
        "name",
        "offset",
        "origin",
        "position",
        "session_id",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.position = 0
        self.offset = 0
        self.lineage: tuple[tuple[str, int], ...] = ((session_id, 0),)
        self.origin: Origin | None = None
        self.leaf: str | None = None
        self.leaf_moved = 0
        self.max_order_seq: int | None = None
        self.name: Fact | None = None
        self.info: Fact | None = None
        self.frozen = False
        self.entries: Layers[str, AnyNode] = Layers()
        self.aliases: Layers[str, str] = Layers()
        self.messages: Layers[str, MessageState] = Layers()
        self.facts: Layers[tuple[str, str], CallFact] = Layers()
        self.fact_chains: Layers[str, str] = Layers()
        self.labels: Layers[str, Fact] = Layers()
        self.edits: Layers[str, Fact] = Layers()
        self.keys: Layers[str, Delivery] = Layers()
        self.anchors: Layers[str, Anchor] = Layers()
        self.branch_summaries: Layers[str, int] = Layers()
        self.aside: Layers[str, int] = Layers()
        """Messages that did not take the leaf when they began: entry id to order number."""

    @property
    def seq(self) -> int:
        """The order number of the last event."""
        return self.offset + self.position

    # -- reading ---------------------------------------------------------------------------

    def locate(self, seq: int) -> tuple[str, int]:
        """The (session_id, position) of the event with this order number."""
        for session_id, before in reversed(self.lineage):
            if seq > before:
                return session_id, seq - before
        raise InvalidValue(f"{seq} is no order number; they begin at 1")

    def entry(self, entry_id: str) -> AnyNode | None:
        """The node with this id: an entry, or a mark that has one."""
        return self.entries.get(entry_id)

    def message_node(self, message_id: str) -> MessageNode | None:
        """The node at which a message shows."""
        node = self.entries.get(self.aliases.get(message_id) or message_id)
        if isinstance(node, MessageNode) and node.message_id == message_id:
            return node
        return None

    def message(self, message_id: str) -> MessageState | None:
        """What a message's versions and retractions amount to."""
        state = self.messages.get(message_id)
        if state is None:
            node = self.message_node(message_id)
            return None if node is None else MessageState.of(node)
        return state

    def fact_call_ids(self, message_id: str) -> list[str]:
        """The calls of a message that were recorded as facts, in the order of recording."""
        ids: list[str] = []
        call_id = self.fact_chains.get(message_id)
        while call_id is not None:
            ids.append(call_id)
            fact = self.facts.get((message_id, call_id))
            call_id = fact.before if fact is not None else None
        ids.reverse()
        return ids

    def changed(self, message_id: str) -> int:
        """Order number of a message's last change: version, retraction, call or result fact."""
        state = self.message(message_id)
        last = 0 if state is None else state.changed
        for call_id in self.fact_call_ids(message_id):
            fact = self.facts.get((message_id, call_id))
            if fact is not None:
                last = max(last, fact.changed)
        return last

    def own_messages(self) -> int:
        """How many messages began on this tape, struck ones included."""
        return sum(
            1
            for _, node in self.entries.items()
            if isinstance(node, MessageNode) and node.born > self.offset
        )

    # -- sharing ---------------------------------------------------------------------------

    def freeze(self) -> Self:
        """An immutable copy of this state that shares its tables; costs nothing per entry."""
        copy = self.copy()
        copy.frozen = True
        return copy

    def copy(self) -> Self:
        """A copy that goes on by itself; both share what is there now."""
        other = type(self).__new__(type(self))
        for name in Tables.__slots__:
            value = getattr(self, name)
            setattr(other, name, value.freeze() if isinstance(value, Layers) else value)
        other.frozen = False
        return other

    def inherit(self, basis: Tables | None) -> None:
        """Take over what the parent's state at the fork holds. Before the first event only."""
        if self.position or self.offset:
            raise InvalidValue(f"session {self.session_id!r} has begun; a basis comes first")
        if basis is None:
            return
        mine = self.session_id
        for name in Tables.__slots__:
            value = getattr(basis, name)
            setattr(self, name, value.freeze() if isinstance(value, Layers) else value)
        self.session_id = mine
        self.frozen = False
        self.position = 0
        self.offset = basis.seq
        self.lineage = (*basis.lineage, (mine, basis.seq))
        self.leaf_moved = 0

    def describe(self) -> dict[str, Any]:
        """All of the state as plain values, whatever its layers: for comparing two states."""
        out: dict[str, Any] = {}
        for name in Tables.__slots__:
            if name == "frozen":
                continue
            value = getattr(self, name)
            if isinstance(value, Layers):
                out[name] = {key: _plain(row) for key, row in value.items()}
            else:
                out[name] = _plain(value)
        return out


def _plain(row: Any) -> Any:
    slots = [s for cls in type(row).__mro__ for s in getattr(cls, "__slots__", ())]
    if not slots or isinstance(row, str | tuple):
        return row
    return (type(row).__name__, *((s, _plain(getattr(row, s))) for s in slots))
