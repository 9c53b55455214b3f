"""Follows a tape event by event, and says what each does to the view.

Only what can change is looked at: a message at the end of the path is one row, whatever the
length of the path. What can change more (another branch, results of calls whose ids repeat, a
retraction of calls, an anchor) is found by comparing what showed before and after.
"""

from __future__ import annotations

from collections.abc import Iterable

from tapefold.domain.calls import PairRow, pair_row
from tapefold.domain.events import Event
from tapefold.domain.kernel import State
from tapefold.domain.nodes import (
    ANCHORS,
    CONTEXT_EDIT,
    MESSAGE,
    NODE_KINDS,
    AnyNode,
    MessageNode,
)
from tapefold.domain.tree import born

from .effects import (
    Effect,
    call_effect,
    differences,
    entry_effect,
    in_path_order,
    mark_effect,
    role_of,
    row_effect,
    unseen,
)
from .look import Look, fact_result

_COME = {"added", "finished", "restored", "unhidden"}
"""Effects on a message that shows, and did not before."""
_WEIGHTY = ANCHORS | {MESSAGE}
"""Kinds of nodes that change more than the path where they come onto it."""


class Follower:
    """The state and the look at a position; `step` goes on to the next.

    `thorough` compares everything at each event: slow, and the same answer.
    """

    def __init__(self, state: State, *, thorough: bool = False) -> None:
        self.state = state
        self.look = Look(state)
        self._always = thorough
        self._thorough = thorough
        self._is_fresh = True
        self._left_out: set[str] = set()
        """Messages that showed and were not in the context, before what was found out anew."""

    def copy(self) -> Follower:
        """A copy that goes on by itself; both share what is there now."""
        other = Follower.__new__(Follower)
        other.__dict__.update(vars(self))
        other.state, other.look = self.state.copy(), self.look.copy()
        return other

    def step(self, event: Event) -> list[Effect]:
        """Apply the next event of the tape and answer what it did."""
        first = self.look.end(0)
        top = None if first is None else first.parent_id
        # The path may hang in the air until the parent of its first node comes, as whatever.
        self._thorough = self._always or (top is not None and top == event.head.entry_id)
        self._is_fresh = False
        effects = self._step(event)
        if self._thorough and not self._is_fresh:
            effects.extend(self._compare(None))
        effects.extend(self._superseded(effects))
        effects.extend(self._in_context(effects))
        return effects

    def _step(self, event: Event) -> list[Effect]:
        kind = event.head.kind
        if NODE_KINDS.get(kind) == MESSAGE:
            return self._version(event)
        if kind in NODE_KINDS and event.head.entry_id is not None:
            return self._entry(event)
        if kind == "retracted":
            return self._retracted(event)
        if kind in ("tool_call_recorded", "tool_result_recorded"):
            return self._fact(event)
        if kind == "leaf_moved":
            return self._leaf_moved(event)
        self.state.apply(event)
        return [mark_effect(event)]

    # -- messages --------------------------------------------------------------------------

    def _version(self, event: Event) -> list[Effect]:
        head, state = event.head, self.state
        message_id = head.message_id or head.entry_id or f"#{state.seq + 1}"
        known = state.message_node(message_id)
        before = None if known is None else self._row(known)
        state.apply(event)
        node = state.message_node(message_id)
        assert node is not None
        row = pair_row(state, node, False)
        return self._first(row) if before is None else self._later(before, row)

    def _first(self, row: PairRow) -> list[Effect]:
        """A message begins: at the end of the path, on another branch, or moving to one."""
        look = self.look
        new = look.extends(self.state)
        if not self._longer_by(row.node, new):
            effects = self._moved(row.node, new)
            return [*effects, *self._own(row, effects)]
        look.extend(new or ())
        if row.winner is None:
            look.set_row(row)
            return [unseen(row)]
        added = row_effect("added", row)
        if row.winner.role != "tool_result":
            if not look.gains_alone(row, row.live):
                return self._compared(row)
            look.set_row(row)
            return [added, *self._gain(row, row.live)]
        alone, owned = look.answers_alone(row)
        if not alone:
            return self._compared(row)
        look.answer(row, owned)
        if owned is None:
            return [added]
        caller = self.state.message_node(owned[0])
        assert caller is not None
        return [added, call_effect("answered", caller.entry_id, owned)]

    def _compared(self, row: PairRow) -> list[Effect]:
        effects = self._compare(row.node.entry_id)
        return [*effects, *self._own(row, effects)]

    def _own(self, row: PairRow, effects: list[Effect]) -> list[Effect]:
        """What is to be said of a new message that does not show."""
        entry_id = row.node.entry_id
        if entry_id not in self.look.index:
            return [row_effect("beside", row)]
        if entry_id in self.look.hidden:
            return [row_effect("hidden", row)]
        return [] if self.look.shows(entry_id) else [unseen(row)]

    def _later(self, before: PairRow, row: PairRow) -> list[Effect]:
        """A further version of a message."""
        look, mid = self.look, row.node.message_id
        entry_id = row.node.entry_id
        if entry_id not in look.index:
            effects = self._compare(None) if look.names(mid) else []
            return effects or [row_effect("beside", row)]
        gained = [call_id for call_id in row.live if call_id not in before.live]
        simple = (
            len(gained) + len(before.live) == len(row.live)
            and before.dead == row.dead
            and "tool_result" not in (role_of(before), role_of(row))
            and look.gains_alone(row, gained)
            and not look.names(mid)
        )
        if self._thorough or not simple:
            effects = self._compare(entry_id, _comes(before))
            return effects or [unseen(row)]
        look.set_row(row)
        if row.winner is None:
            return [unseen(row)]
        if before.winner is None:
            code = _comes(before)
        elif before.winner.seq == row.winner.seq:
            return [unseen(row)]
        else:
            code = "revised"
        return [row_effect(code, row), *self._gain(row, gained, before.winner is not None)]

    def _gain(self, row: PairRow, gained: Iterable[str], shown: bool = False) -> list[Effect]:
        """Calls that a message has now. They are news where the message showed before."""
        ids = list(gained)
        self.look.gain(self.state, row, ids)
        effects = []
        for call_id in ids:
            owned = (row.node.message_id, call_id)
            if shown:
                effects.append(call_effect("called", row.node.entry_id, owned))
            if self.look.result(owned) is not None:
                effects.append(call_effect("answered", row.node.entry_id, owned))
        return effects

    def _retracted(self, event: Event) -> list[Effect]:
        state, look = self.state, self.look
        named = [n for t in event.head.targets if (n := state.message_node(t)) is not None]
        nodes = list({node.entry_id: node for node in named}.values())
        before = {node.entry_id: self._row(node) for node in nodes}
        state.apply(event)
        on_path = sorted(
            (node for node in nodes if node.entry_id in look.index),
            key=lambda node: look.index.get(node.entry_id) or 0,
        )
        beside = tuple(node.entry_id for node in nodes if node.entry_id not in look.index)
        rows = [before[node.entry_id] for node in on_path]
        owners = any(look.names(node.message_id) for node in nodes)
        plain = not owners and all(self._is_plain(row) for row in rows)
        if self._thorough or not plain:
            effects = self._compare(None)
        else:
            effects = [row_effect("struck", row) for row in rows if row.winner is not None]
            for node in on_path:
                now = state.message_node(node.message_id) or node
                look.set_row(pair_row(state, now, False))
        if beside:
            effects.append(Effect("beside", entries=beside))
        return effects or [Effect("recorded")]

    def _is_plain(self, row: PairRow) -> bool:
        """Whether a message has nothing to do with calls."""
        return not (
            row.live
            or row.dead
            or row.state.latest.call_ids
            or self.state.fact_call_ids(row.node.message_id)
        )

    def _fact(self, event: Event) -> list[Effect]:
        head, state, look = event.head, self.state, self.look
        node = None if head.owner is None else state.message_node(head.owner)
        before = None if node is None else self._row(node)
        state.apply(event)
        if node is None or before is None or not head.call_ids:
            return [Effect("recorded")]
        owned = (node.message_id, head.call_ids[0])
        if node.entry_id not in look.index:
            return [Effect("beside", node.entry_id, owned[0], owned[1])]
        nothing = [Effect("recorded", node.entry_id, owned[0], owned[1])]
        row = pair_row(state, node, False)
        gained = [call_id for call_id in row.live if call_id not in before.live]
        simple = before.dead == row.dead and look.fact_alone(owned)
        if self._thorough or not (simple and look.gains_alone(row, gained)):
            return self._compare(None) or nothing
        look.set_row(row)
        effects = self._gain(row, gained, shown=True)
        if not gained and look.has_call(owned):
            result = fact_result(state, owned)
            if result != look.result(owned):
                look.set_result(owned, result)
                effects.append(call_effect("answered", node.entry_id, owned))
        return effects or nothing

    def _row(self, node: MessageNode) -> PairRow:
        return self.look.rows.get(node.entry_id) or pair_row(self.state, node, False)

    # -- other entries, the leaf -------------------------------------------------------------

    def _entry(self, event: Event) -> list[Effect]:
        self.state.apply(event)
        node = self._made(event)
        new = self.look.extends(self.state)
        effects: list[Effect] = []
        if self._longer_by(node, new):
            self.look.extend(new or ())
            if NODE_KINDS[event.head.kind] in ANCHORS:
                self._left_out = self.look.left_out()
                self.look.select(self.state)
                self._is_fresh = True
        else:
            effects = self._moved(node, new)
        effect = entry_effect(event, event.head.entry_id if node is None else node.entry_id)
        if node is None or node.entry_id not in self.look.index:
            return [*effects, Effect("beside", effect.entry_id, text=effect.text)]
        return [*effects, effect]

    def _leaf_moved(self, event: Event) -> list[Effect]:
        before = self.state.leaf
        self.state.apply(event)
        if self.state.leaf == before:
            return [Effect("recorded")]
        moved = Effect("leaf_moved", self.state.leaf, text=event.body.reason)
        return [moved, *self._compare(None)]

    # -- how ---------------------------------------------------------------------------------

    def _made(self, event: Event) -> AnyNode | None:
        """The node that the event made, under whichever id it got."""
        state, entry_id = self.state, event.head.entry_id
        while entry_id is not None:
            node = state.entry(entry_id)
            if node is None or born(node) == state.seq:
                return node
            entry_id = f"{entry_id}~{state.seq}"
        return None

    def _longer_by(self, node: AnyNode | None, new: list[AnyNode] | None) -> bool:
        """Whether the path is the old one and `node` (marks in between), and nothing else."""
        if self._thorough or new is None or node is None or not new or new[-1] is not node:
            return False
        return all(n.kind not in _WEIGHTY for n in new[:-1])

    def _moved(self, node: AnyNode | None, new: list[AnyNode] | None) -> list[Effect]:
        """The differences of a path that did not just grow by a node."""
        if new == [] and not self._thorough:
            return []  # the leaf is where it was
        return self._compare(node.entry_id if isinstance(node, MessageNode) else None)

    def _compare(self, own: str | None, comes: str = "added") -> list[Effect]:
        old, self.look = self.look, Look(self.state)
        self._is_fresh = True
        self._left_out = old.left_out()
        return list(differences(old, self.look, own, comes))

    # -- the context -------------------------------------------------------------------------

    def _superseded(self, effects: Iterable[Effect]) -> list[Effect]:
        """Edits on the path whose target has a later version now."""
        found = []
        for effect in effects:
            edit = None if effect.entry_id is None else self.state.edits.get(effect.entry_id)
            if edit is None or edit.cleared or effect.code not in ("revised", "restored"):
                continue
            if any(node.seq == edit.seq for node in self.look.path() if node.kind == CONTEXT_EDIT):
                found.append(Effect("edit_superseded", effect.entry_id))
        return found

    def _in_context(self, effects: Iterable[Effect]) -> list[Effect]:
        """What left the context of what shows, and what is in it again."""
        look = self.look
        if self._is_fresh:
            old, new = self._left_out, look.left_out()
            gone = in_path_order(look, new - old)
            back = in_path_order(look, (i for i in old - new if look.shows(i)))
        else:
            # What is left out of the path is as it was; something of it may show again.
            came = [e.entry_id for e in effects if e.code in _COME and e.entry_id is not None]
            gone, back = [i for i in came if i in look.outside], []
        found = [Effect("context_hidden", entries=tuple(gone))] if gone else []
        return [*found, Effect("context_shown", entries=tuple(back))] if back else found


def _comes(before: PairRow) -> str:
    """The code of a message that shows now, and did not before."""
    if before.state.struck:
        return "restored"
    return "added" if before.state.pending is None else "finished"
