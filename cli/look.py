"""What a view shows, without bodies: its path, its messages, its calls. Kept up to date cheaply.

`Look` is built whole from a state (as the view is), or told of a single change. A replay holds
one and asks at each event what changed; only an event that can change more than its own row is
worth building it anew. The counters say when a change stays in its row: call ids are unique
only inside their owner, and results without a named owner go to the calls by rules that look
at the whole path (domain/calls.py).

Its tables are layers, as the kernel's are (domain/layers.py): a copy shares what is there, so
that a replay that steps back can keep one every few hundred events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tapefold.domain.calls import FACT_RESULT, Owned, PairRow, Result, pair, pair_row
from tapefold.domain.heads import FINAL_RANK
from tapefold.domain.kernel import State
from tapefold.domain.layers import Layers
from tapefold.domain.nodes import ANCHORS, BRANCH_SUMMARY, MESSAGE, AnyNode, MessageNode
from tapefold.domain.selection import select
from tapefold.domain.tree import path, upwards
from tapefold.domain.view import Item

OPEN = Result("open")
"""Stands for the result of a call that has none: a table of layers cannot hold None."""
GONE = 0
"""Stands for the order number of the version of a message that does not show any more."""


class Look:
    """The path with what shows on it.

    Attributes:
        length: number of nodes on the path, marks included.
        nodes, index: the path, root first: place to node, entry id to place.
        rows: the messages on the path, by entry id.
        hidden: entry ids of result messages that are hidden, because their call is gone.
        answers: result message id to the call that it answers.
        outside: entry ids on the path that an anchor leaves out of the context.
        kept, selected: the places that anchors leave for the context, in the order of its rows,
            of the first `selected` places; all that follow are in the context. None: no anchors.
    """

    def __init__(self, state: State) -> None:
        found = path(state, state.leaf)
        rows = {n.entry_id: pair_row(state, n, False) for n in found if isinstance(n, MessageNode)}
        pairing = pair(state, list(rows.values()))
        self.length = len(found)
        self.nodes: Layers[int, AnyNode] = Layers()
        self.nodes.top.update(enumerate(found))
        self.index: Layers[str, int] = Layers()
        self.index.top.update((node.entry_id, n) for n, node in enumerate(found))
        self.rows: Layers[str, PairRow] = Layers()
        self.rows.top.update(rows)
        self.hidden = frozenset(
            key for key, row in rows.items() if row.node.message_id in pairing.hidden
        )
        self._shown: Layers[str, int] = Layers()
        self._shown.top.update(
            (key, row.winner.seq)
            for key, row in rows.items()
            if row.winner is not None and key not in self.hidden
        )
        self.messages = len(self._shown.top)
        """How many messages show."""
        self._results: Layers[Owned, Result] = Layers()
        for row in rows.values():
            for call_id in row.live:
                owned = (row.node.message_id, call_id)
                self._results.top[owned] = pairing.results.get(owned, OPEN)
        self.answers: Layers[str, Owned] = Layers()
        self.answers.top.update(pairing.owner_of)
        self._owners: Layers[str, tuple[str, ...]] = Layers()
        """Call id to the messages that make, or made, a call with it."""
        self._unnamed: Layers[str, int] = Layers()
        """Call id to the number of result messages for it that name no owner."""
        self._named: Layers[Owned, bool] = Layers()
        """The calls that a result message names."""
        self._named_owners: Layers[str, bool] = Layers()
        for row in rows.values():
            self._count(row)
        self.outside: frozenset[str] = frozenset()
        self.kept: tuple[int, ...] | None = None
        self.selected = 0
        self.select(state)

    def copy(self) -> Look:
        """A copy that goes on by itself; both share what is there now."""
        other = Look.__new__(Look)
        for name, value in vars(self).items():
            setattr(other, name, value.freeze() if isinstance(value, Layers) else value)
        return other

    def _count(self, row: PairRow) -> None:
        for call_id in (*row.live, *row.dead):
            self._owned_by(call_id, row.node.message_id)
        version = row.winner or row.state.latest
        if version.role == "tool_result" and version.call_ids:
            call_id = version.call_ids[0]
            if version.owner is None:
                self._unnamed[call_id] = (self._unnamed.get(call_id) or 0) + 1
            else:
                self._named[(version.owner, call_id)] = True
                self._named_owners[version.owner] = True

    def _owned_by(self, call_id: str, message_id: str) -> None:
        self._owners[call_id] = (*(self._owners.get(call_id) or ()), message_id)

    # -- reading ---------------------------------------------------------------------------

    @property
    def shown(self) -> dict[str, int]:
        """Entry id of each message that shows, to the order number of its version."""
        return {key: seq for key, seq in self._shown.items() if seq != GONE}

    @property
    def calls(self) -> dict[Owned, Result | None]:
        """The calls that show, each with its result, or None."""
        return {o: None if found is OPEN else found for o, found in self._results.items()}

    def shows(self, entry_id: str) -> bool:
        """Whether a message shows."""
        return bool(self._shown.get(entry_id))

    def has_call(self, owned: Owned) -> bool:
        """Whether a call shows."""
        return owned in self._results

    def result(self, owned: Owned) -> Result | None:
        """The result of a call that shows."""
        found = self._results.get(owned)
        return None if found is OPEN else found

    def path(self) -> Iterator[AnyNode]:
        """The nodes, root first."""
        for place in range(self.length):
            node = self.nodes.get(place)
            assert node is not None
            yield node

    def end(self, place: int) -> AnyNode | None:
        """The first node (0) or the last (-1) of the path."""
        return self.nodes.get(place % self.length) if self.length else None

    def left_out(self) -> set[str]:
        """Messages that show and are not in the context: a summary stands for them."""
        return {entry_id for entry_id in self.outside if self.shows(entry_id)}

    # -- small changes ---------------------------------------------------------------------

    def select(self, state: State) -> None:
        """Find again what the anchors on the path leave out of the context."""
        self.outside, self.kept, self.selected = frozenset(), None, self.length
        if not state.anchors:
            return
        items = [Item(n, node) for n, node in enumerate(self.path())]
        if any(item.kind in ANCHORS for item in items):
            found = select(state, items, True)
            kept = {item.entry_id for item in found.kept}
            self.outside = frozenset(
                item.entry_id
                for item in items
                if item.kind in (MESSAGE, BRANCH_SUMMARY) and item.entry_id not in kept
            )
            self.kept = tuple(item.index for item in found.kept)

    def extends(self, state: State) -> list[AnyNode] | None:
        """The nodes that the leaf's path has beyond this one; None where it leaves this one."""
        last = self.end(-1)
        new: list[AnyNode] = []
        for node in upwards(state, state.leaf):
            if node.entry_id in self.index:
                if last is None or node.entry_id != last.entry_id:
                    return None
                break
            new.append(node)
        else:
            if self.length:
                return None
        new.reverse()
        return new

    def extend(self, nodes: Iterable[AnyNode]) -> None:
        """Put nodes behind the path; a message among them does not show yet."""
        for node in nodes:
            self.index[node.entry_id] = self.length
            self.nodes[self.length] = node
            self.length += 1

    def set_row(self, row: PairRow) -> None:
        """A message is on the path, or has another version; its calls are those of before."""
        key = row.node.entry_id
        self.rows[key] = row
        showed = self.shows(key)
        if row.winner is not None:
            self._shown[key] = row.winner.seq
        elif showed:
            self._shown[key] = GONE
        self.messages += (row.winner is not None) - showed

    def set_result(self, owned: Owned, result: Result | None) -> None:
        """A call has another result, a fact."""
        self._results[owned] = OPEN if result is None else result

    def gains_alone(self, row: PairRow, gained: Iterable[str]) -> bool:
        """Whether new calls of a message can have no result message on the path."""
        mid = row.node.message_id
        return all(c not in self._unnamed and (mid, c) not in self._named for c in gained)

    def gain(self, state: State, row: PairRow, gained: Iterable[str]) -> None:
        """Add calls that `gains_alone`."""
        for call_id in gained:
            owned = (row.node.message_id, call_id)
            self._owned_by(call_id, owned[0])
            self.set_result(owned, fact_result(state, owned))

    def answers_alone(self, row: PairRow) -> tuple[bool, Owned | None]:
        """The call that a result message at the end of the path answers, whatever else is there
        (None: there is none). The first value is false where only the whole path can tell.
        """
        version = row.winner
        if version is None or version.interruption or not version.call_ids:
            return False, None
        call_id = version.call_ids[0]
        owners = self._owners.get(call_id) or ()
        if call_id in self._unnamed or (version.owner is None and len(owners) > 1):
            return False, None
        if version.owner is None and not owners:
            return True, None
        owned = (owners[0] if version.owner is None else version.owner, call_id)
        return self.has_call(owned) and owned not in self._named, owned

    def names(self, message_id: str) -> bool:
        """Whether a result message on the path names this message as its owner."""
        return message_id in self._named_owners

    def answer(self, row: PairRow, owned: Owned | None) -> None:
        """Add the result message that `answers_alone`."""
        self.set_row(row)
        self._count(row)
        if owned is not None:
            self.set_result(owned, Result("message", row.node.message_id))
            self.answers[row.node.message_id] = owned

    def fact_alone(self, owned: Owned) -> bool:
        """Whether a result fact of a call cannot meet a result message of it."""
        return owned[1] not in self._unnamed and owned not in self._named


def fact_result(state: State, owned: Owned) -> Result | None:
    """The result of a call by its facts alone."""
    fact = state.facts.get(owned)
    if fact is None or not fact.result_seq or fact.result_rank() < FINAL_RANK:
        return None
    return Result(FACT_RESULT, None, fact.result_seq)
