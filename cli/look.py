"""What a view shows, without bodies: its path, its messages, its calls. Kept up to date cheaply.

`Look` is built whole from a state (as the view is), or told of a single change. A replay holds
one and asks at each event what changed; only an event that can change more than its own row is
worth building it anew. The counters say when a change stays in its row: call ids are unique
only inside their owner, and results without a named owner go to the calls by rules that look
at the whole path (domain/calls.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from tapefold.domain.calls import FACT_RESULT, Owned, PairRow, Result, pair, pair_row
from tapefold.domain.heads import FINAL_RANK
from tapefold.domain.kernel import State
from tapefold.domain.nodes import AnyNode, MessageNode
from tapefold.domain.tree import path, upwards


class Look:
    """The path with what shows on it.

    Attributes:
        nodes, index: the path, root first, marks included; entry id to place on it.
        rows: the messages on the path, by entry id, in path order.
        shown: entry id of each message that shows, to the order number of its version.
        hidden: entry ids of result messages that are hidden, because their call is gone.
        calls: the calls that show, each with its result, or None.
    """

    def __init__(self, state: State) -> None:
        self.nodes: list[AnyNode] = path(state, state.leaf)
        self.index = {node.entry_id: n for n, node in enumerate(self.nodes)}
        self.rows: dict[str, PairRow] = {
            node.entry_id: pair_row(state, node, False)
            for node in self.nodes
            if isinstance(node, MessageNode)
        }
        pairing = pair(state, list(self.rows.values()))
        self.hidden = {
            key for key, row in self.rows.items() if row.node.message_id in pairing.hidden
        }
        self.shown = {
            key: row.winner.seq
            for key, row in self.rows.items()
            if row.winner is not None and key not in self.hidden
        }
        self.calls: dict[Owned, Result | None] = {
            (row.node.message_id, call_id): pairing.results.get((row.node.message_id, call_id))
            for row in self.rows.values()
            for call_id in row.live
        }
        self.owners: dict[str, list[str]] = {}
        """Call id to the messages that make, or made, a call with it."""
        self.unnamed: dict[str, int] = {}
        """Call id to the number of result messages for it that name no owner."""
        self.named: set[Owned] = set()
        """The calls that a result message names."""
        self.named_owners: set[str] = set()
        for row in self.rows.values():
            self._count(row)

    def _count(self, row: PairRow) -> None:
        for call_id in (*row.live, *row.dead):
            self.owners.setdefault(call_id, []).append(row.node.message_id)
        version = row.winner or row.state.latest
        if version.role == "tool_result" and version.call_ids:
            call_id = version.call_ids[0]
            if version.owner is None:
                self.unnamed[call_id] = self.unnamed.get(call_id, 0) + 1
            else:
                self.named.add((version.owner, call_id))
                self.named_owners.add(version.owner)

    # -- small changes ---------------------------------------------------------------------

    def extends(self, state: State) -> list[AnyNode] | None:
        """The nodes that the leaf's path has beyond this one; None where it leaves this one."""
        tip = self.nodes[-1].entry_id if self.nodes else None
        new: list[AnyNode] = []
        for node in upwards(state, state.leaf):
            if node.entry_id in self.index:
                if node.entry_id != tip:
                    return None
                break
            new.append(node)
        else:
            if self.nodes:
                return None
        new.reverse()
        return new

    def extend(self, nodes: Iterable[AnyNode]) -> None:
        """Put nodes behind the path; a message among them does not show yet."""
        for node in nodes:
            self.index[node.entry_id] = len(self.nodes)
            self.nodes.append(node)

    def set_row(self, row: PairRow) -> None:
        """A message is on the path, or has another version; its calls are those of before."""
        key = row.node.entry_id
        self.rows[key] = row
        if row.winner is not None:
            self.shown[key] = row.winner.seq
        else:
            self.shown.pop(key, None)

    def gains_alone(self, row: PairRow, gained: Iterable[str]) -> bool:
        """Whether new calls of a message can have no result message on the path."""
        mid = row.node.message_id
        return all(c not in self.unnamed and (mid, c) not in self.named for c in gained)

    def gain(self, state: State, row: PairRow, gained: Iterable[str]) -> None:
        """Add calls that `gains_alone`."""
        for call_id in gained:
            owned = (row.node.message_id, call_id)
            self.owners.setdefault(call_id, []).append(owned[0])
            self.calls[owned] = fact_result(state, owned)

    def answers_alone(self, row: PairRow) -> tuple[bool, Owned | None]:
        """The call that a result message at the end of the path answers, whatever else is there
        (None: there is none). The first value is false where only the whole path can tell.
        """
        version = row.winner
        if version is None or version.interruption or not version.call_ids:
            return False, None
        call_id = version.call_ids[0]
        owners = self.owners.get(call_id, [])
        if call_id in self.unnamed or (version.owner is None and len(owners) > 1):
            return False, None
        if version.owner is None and not owners:
            return True, None
        owned = (owners[0] if version.owner is None else version.owner, call_id)
        return owned in self.calls and owned not in self.named, owned

    def names(self, message_id: str) -> bool:
        """Whether a result message on the path names this message as its owner."""
        return message_id in self.named_owners

    def answer(self, row: PairRow, owned: Owned | None) -> None:
        """Add the result message that `answers_alone`."""
        self.set_row(row)
        self._count(row)
        if owned is not None:
            self.calls[owned] = Result("message", row.node.message_id)

    def fact_alone(self, owned: Owned) -> bool:
        """Whether a result fact of a call cannot meet a result message of it."""
        return owned[1] not in self.unnamed and owned not in self.named


def fact_result(state: State, owned: Owned) -> Result | None:
    """The result of a call by its facts alone."""
    fact = state.facts.get(owned)
    if fact is None or not fact.result_seq or fact.result_rank() < FINAL_RANK:
        return None
    return Result(FACT_RESULT, None, fact.result_seq)
