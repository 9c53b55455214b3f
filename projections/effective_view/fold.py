"""One session in the effective view: what its events change in the tables."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any

from tapefold.domain.calls import MESSAGE_RESULT
from tapefold.domain.heads import DROPPED_RANK, FINAL_STATUSES, Head
from tapefold.domain.kernel import State
from tapefold.domain.nodes import (
    ANCHORS,
    BRANCH_SUMMARY,
    MESSAGE,
    NODE_KINDS,
    RESET,
    MessageNode,
    Node,
    Version,
)

from ..bodies import Bodies
from ..declaration import SessionFold
from ..log import Log, LogEvent
from ..usage import Spending, add_costs
from ..values import text_of
from .presenting import FIRST, CallRow, Shown, present_both
from .straight import Answered, Split, split
from .tracker import FACTS, Change, Tracker
from .writing import Row, Writer

_SPENDING = ANCHORS | {BRANCH_SUMMARY}


class EffectiveFold(SessionFold):
    """The fold of one session. `state` is at `position`, and nothing after it was flushed."""

    def __init__(self, log: Log, state: State, basis: State | None) -> None:
        self._tracker = Tracker(state, basis)
        self._bodies = Bodies(log, state)
        self._entries: list[tuple[LogEvent, Node, int]] = []
        self._labels: dict[str, None] = {}
        self._spent = Spending()
        self._length = len(self._tracker.path.ids)
        self._is_new = state.position == 0
        self._flushed_position = state.position
        self._directory: LogEvent | None = None
        self._title: LogEvent | None = None

    @property
    def position(self) -> int:
        return self._tracker.state.position

    @property
    def size(self) -> int:
        state = self._tracker.state
        return 2 * (state.position + 1) + len(self._tracker.path.ids)

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: LogEvent) -> None:
        head = event.head
        kind = head.kind
        if kind == "session_started":
            self._begin(head)
        tracker = self._tracker
        node = tracker.apply(event.position, head)
        made = NODE_KINDS.get(kind)
        if made == MESSAGE:
            self._bodies.keep(event)
            if head.role == "assistant" and head.status in FINAL_STATUSES:
                usage = self._bodies.said(event).usage
                if usage is not None:
                    self._spent.add(usage)
        elif kind in FACTS:
            self._bodies.keep(event)
        elif made in _SPENDING or kind == "usage_recorded":
            self._spent.add(event.body.get("usage"))
        elif kind == "labelled":
            self._bodies.keep(event)
            self._labels.update(dict.fromkeys(head.targets))
        elif kind in ("session_started", "session_info_changed"):
            self._inform(event)
        if head.entry_id is not None and isinstance(node, Node):
            self._entries.append((event, node, event.position))

    def _begin(self, head: Head) -> None:
        """Inherit, where a fork begins."""
        origin = head.origin
        state = self._tracker.state
        if origin is None or not origin.inherit or state.offset or state.position:
            return
        basis = self._bodies.basis(state.session_id, origin)
        state.inherit(basis)
        self._tracker = Tracker(state, basis)

    def _inform(self, event: LogEvent) -> None:
        head = event.head
        if (head.digest is not None) or (head.cleared and head.kind != "session_started"):
            self._title = event
        if head.name == "directory" or head.kind == "session_started":
            self._directory = event

    # -- rows ------------------------------------------------------------------------------

    def flush(self, connection: Connection) -> None:
        tracker, state = self._tracker, self._tracker.state
        change = tracker.settle()
        if state.max_order_seq is not None and tracker.basis is not None:
            change.begin = 0  # what a row stands behind may be inherited, and in no table
        writer = Writer(connection, state.session_id, is_new=self._is_new)
        shown = -writer.shown_from(change.begin) if change.begin < self._length else 0
        beside = self._leave(change, writer)
        parts = split(tracker, change.begin)
        rows = [*self._rows(change, parts, writer), *beside]
        shown += self._straight(parts, rows, writer)
        known = {row.message_id for row in rows if not self._is_fresh(row)}
        writer.messages(rows, known, self._bodies)
        writer.entries(self._entries)
        self._place(change, parts, writer)
        writer.labels(self._label_rows())
        shown += sum(row.shown and not row.inherited for row in rows)
        session = self._session(shown)
        if self._labels:
            session["labels"] = writer.label_count()
        if self._spent.costs:
            session["cost"] = add_costs(writer.cost(), self._spent.costs)
        writer.session({**session, **writer.settings()})
        self._flushed()

    def _flushed(self) -> None:
        self._length = len(self._tracker.path.ids)
        self._is_new = False
        self._flushed_position = self.position
        self._entries.clear()
        self._labels.clear()
        self._spent = Spending()
        self._title = self._directory = None
        self._bodies.forget()

    def _is_fresh(self, row: Row) -> bool:
        """Whether a message began since the last flush: it has no rows yet."""
        return row.began is not None and row.began > self._flushed_position

    def _place(self, change: Change, parts: Split, writer: Writer) -> None:
        """Where entries with a row stand: those that are new on the path, or left it."""
        tracker, entries = self._tracker, self._tracker.state.entries
        places: list[tuple[int | None, str]] = [
            (None, entry_id)
            for entry_id in change.left
            if isinstance(entries.get(entry_id), Node) and entry_id not in tracker.path.places
        ]
        found = [(place, node) for place, node in parts.entries if place >= change.stay]
        if tracker.basis is not None:
            self._beyond(change, found, writer)
        places += [(place, node.entry_id) for place, node in found]
        writer.places(places)

    def _beyond(self, change: Change, found: list[tuple[int, Node]], writer: Writer) -> None:
        """Give rows to inherited entries that stand on the fork's own part of the path: where a
        parent that was unknown has come. All others are read from the basis."""
        tracker, offset = self._tracker, self._tracker.state.offset
        entries = tracker.state.entries
        gone = [
            entry_id
            for entry_id in (*change.left, *(node.entry_id for _, node in found))
            if isinstance(node := entries.get(entry_id), Node) and node.seq <= offset
        ]
        if gone:
            writer.drop_entries(gone)
            writer.entries(
                [
                    (self._bodies.event(node.seq), node, 0)
                    for place, node in found
                    if node.seq <= offset and place >= tracker.joins
                ]
            )

    def _leave(self, change: Change, writer: Writer) -> list[Row]:
        """Take messages off the path. Answers the rows of those beside it that changed."""
        tracker, state = self._tracker, self._tracker.state
        left: list[str] = []
        dropped: list[str] = []
        for entry_id in change.left:
            node = state.entries.get(entry_id)
            if isinstance(node, MessageNode) and entry_id not in tracker.path.places:
                is_ours = node.born > state.offset or self._changed(node) > state.offset
                (left if is_ours else dropped).append(node.message_id)
        writer.leave(left)
        writer.drop(dropped)
        rows = []
        for mid in change.touched:
            node = state.message_node(mid)
            if node is None or node.entry_id in tracker.path.places:
                continue
            if node.born > state.offset or self._changed(node) > state.offset:
                rows.append(self._row(node, None, None, None))
        return rows

    def _straight(self, parts: Split, rows: list[Row], writer: Writer) -> int:
        """Put what is straight and new; what had a row already is added to `rows`. Answers how
        many messages show among those that are new."""
        fresh = self._tracker.state.offset + self._flushed_position
        new = []
        for one in parts.straight:
            place, node, calls = one
            if node.born > fresh:
                new.append(one)
            else:
                shown = Shown(node.message_id, node.seq, True, FIRST, _call_rows(calls))
                rows.append(self._row(node, place, shown, shown))
        writer.straight(new, self._tracker.state, self._bodies)
        return len(new)

    def _rows(self, change: Change, parts: Split, writer: Writer) -> list[Row]:
        """The rows of the end of the path that may have changed, the straight ones aside."""
        tracker, state = self._tracker, self._tracker.state
        found = parts.others
        if not found:
            return []
        behind = (FIRST, FIRST)
        if state.max_order_seq is not None and change.begin:
            behind = writer.behind(change.begin)
        if parts.straight and any(map(self._is_unowned, found)):
            # Such a result is looked for by its place among all that show.
            nodes = [node for _, node in tracker.messages(change.begin)]
        else:
            nodes = [node for _, node in found]
        final, pending = present_both(state, nodes, behind)
        if len(nodes) > len(found):
            wanted = {node.message_id for _, node in found}
            final = [one for one in final if one.message_id in wanted]
            pending = [one for one in pending if one.message_id in wanted]
        base = self._base(change.begin)
        rows, dropped = [], []
        for (place, node), one, other in zip(found, final, pending, strict=True):
            if self._stands_in_basis(place, node, base, (one, other)):
                dropped.append(node.message_id)
            else:
                rows.append(self._row(node, place, one, other))
        if dropped:
            writer.drop(dropped)
        return rows

    def _is_unowned(self, placed: tuple[int, MessageNode]) -> bool:
        keys = self._tracker.groups.at(placed[0])
        return keys is not None and bool(keys.unowned)

    def _base(self, begin: int) -> dict[str, tuple[Shown, Shown]]:
        """How the inherited messages on the path show in the basis."""
        tracker = self._tracker
        basis = tracker.basis
        if basis is None or begin >= tracker.joins:
            return {}
        ids = tracker.path.ids[begin : tracker.joins]
        nodes = [n for i in ids if isinstance(n := basis.entries.get(i), MessageNode)]
        both = present_both(basis, nodes, (FIRST, FIRST))
        return {one.message_id: (one, other) for one, other in zip(*both, strict=True)}

    def _stands_in_basis(
        self,
        place: int,
        node: MessageNode,
        base: dict[str, tuple[Shown, Shown]],
        shown: tuple[Shown, Shown],
    ) -> bool:
        """Whether an inherited message shows as in the basis, so that no row says so."""
        state = self._tracker.state
        if node.born > state.offset or self._changed(node) > state.offset:
            return False
        return place < self._tracker.joins and base.get(node.message_id) == shown

    def _changed(self, node: MessageNode) -> int:
        message = self._tracker.state.messages.get(node.message_id)
        return node.seq if message is None else message.changed

    def _row(
        self, node: MessageNode, place: int | None, one: Shown | None, other: Shown | None
    ) -> Row:
        state = self._tracker.state
        offset = state.offset
        message = state.messages.get(node.message_id)
        winner: Version | None = node
        if message is not None:
            winner = message.winner(True)
        elif node.rank == DROPPED_RANK:
            winner = None
        return Row(
            node.message_id,
            node.entry_id,
            node.parent_id,
            node.born <= offset,
            place,
            one,
            other,
            message is not None and message.struck,
            state.aside.get(node.entry_id) is not None,
            node.born - offset if node.born > offset else None,
            node.finalized - offset if node.finalized > offset else None,
            winner,
        )

    def _label_rows(self) -> list[tuple[str, str | None, int | None]]:
        """(entry, label, position) of what changed; no position where none stands any more."""
        state = self._tracker.state
        rows: list[tuple[str, str | None, int | None]] = []
        for entry_id in self._labels:
            fact = state.labels.get(entry_id)
            if fact is None:
                continue
            position = fact.seq - state.offset
            if not fact.cleared:
                label = text_of(self._bodies.of(fact.seq).get("label"))
                rows.append((entry_id, label, position))
            elif self._is_inherited_label(entry_id):
                rows.append((entry_id, None, position))
            else:
                rows.append((entry_id, None, None))
        return rows

    def _is_inherited_label(self, entry_id: str) -> bool:
        basis = self._tracker.basis
        fact = None if basis is None else basis.labels.get(entry_id)
        return fact is not None and not fact.cleared

    def _session(self, shown: int) -> dict[str, Any]:
        """The session's row: what is set anew, and what is added to what stands there."""
        tracker, state = self._tracker, self._tracker.state
        anchor = self._ruling()
        origin = state.origin
        inherits = origin is not None and origin.inherit
        named: dict[str, Any] = {}
        if self._title is not None:
            named = {"name": text_of(self._title.body.get("title")), "own_name": 1}
            if self._title.head.cleared:
                named["name"] = None
        if self._directory is not None and "directory" in self._directory.body:
            named["directory"] = text_of(self._directory.body["directory"])
        joins = tracker.joins
        return {
            "position": state.position,
            "leaf": state.leaf,
            **named,
            "ruling_anchor": None if anchor is None else anchor[0],
            "ruling_kind": None if anchor is None else anchor[1],
            "+messages": shown,
            **_added(self._spent),
            "leaf_moved": max(state.leaf_moved - state.offset, 0),
            "basis_session_id": origin.session_id if origin is not None and inherits else None,
            "basis_position": origin.position if origin is not None and inherits else None,
            "joins_at": tracker.path.ids[joins - 1] if joins else None,
            "joins_place": joins,
        }

    def _ruling(self) -> tuple[str, str] | None:
        """The newest anchor on the path, unless it is a reset."""
        anchors = self._tracker.anchors
        if not anchors or anchors[-1][2] == RESET:
            return None
        return anchors[-1][1:]


def _call_rows(calls: Answered) -> tuple[CallRow, ...]:
    return tuple(
        CallRow(call_id, 0, None, 0, None, "pending", False)
        if result is None
        else CallRow(call_id, 0, MESSAGE_RESULT, result.seq, result.message_id, None, False)
        for call_id, result in calls
    )


def _added(spent: Spending) -> dict[str, Any]:
    return {
        "+input_tokens": spent.input,
        "+output_tokens": spent.output,
        "+cache_read_tokens": spent.cache_read,
        "+cache_write_tokens": spent.cache_write,
    }
