"""One session in the branch tree: what its events change in the tables."""

from __future__ import annotations

from sqlite3 import Connection
from typing import Any, NamedTuple

from tapefold.domain.heads import FINAL_STATUSES, Timestamp
from tapefold.domain.instants import seconds
from tapefold.domain.kernel import State
from tapefold.domain.nodes import MARK, MESSAGE, NODE_KINDS, AnyNode, MessageNode, Version
from tapefold.domain.tree import born

from ..bodies import Bodies
from ..declaration import SessionFold
from ..log import Log, LogEvent
from ..usage import Spending, add_costs
from ..values import stamp, text_of
from .previews import preview_of
from .schema import CHANGES, NODES, SESSIONS
from .shape import Place, Shape

_SPENDING = frozenset(
    {"compaction_anchored", "handoff_anchored", "branch_summarized", "usage_recorded"}
)
_INFORMING = frozenset({"session_started", "session_info_changed", "model_changed"})
_NEW_NODE = f"INSERT INTO bt_nodes VALUES ({', '.join('?' * len(NODES.names))})"
_PUT_NODE = (
    f"INSERT INTO bt_nodes VALUES ({', '.join('?' * len(NODES.names))}) "
    "ON CONFLICT (session_id, entry_id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in NODES.names[2:])
)
_PUT_CHANGE = f"INSERT OR REPLACE INTO bt_inherited VALUES ({', '.join('?' * len(CHANGES.names))})"


class _Told(NamedTuple):
    """What the event that speaks for an entry says."""

    role: str | None
    status: str | None
    struck: bool
    preview: str
    calls: str | None
    timestamp: Timestamp


_NOTHING = _Told(None, None, False, "", None, None)


class TreeFold(SessionFold):
    """The fold of one session."""

    def __init__(self, log: Log, state: State, basis: State | None) -> None:
        self._state = state
        self._basis = basis
        self._bodies = Bodies(log, state)
        self._shape = Shape(state)
        self._is_new = state.position == 0
        self._new: dict[str, None] = {}
        self._changed: dict[str, None] = {}
        self._grown: dict[str, int] = {}
        self._labelled: dict[str, None] = {}
        self._moved: dict[str, Place] = {}
        self._set: dict[str, Any] = {}
        self._added: dict[str, float] = {}
        self._spent = Spending()
        self._bytes = 0
        self._last: LogEvent | None = None
        if not self._is_new:
            self._shape.look()

    @property
    def position(self) -> int:
        return self._state.position

    @property
    def size(self) -> int:
        return self._state.position + 1 + len(self._new)

    # -- events ----------------------------------------------------------------------------

    def apply(self, event: LogEvent) -> None:
        head, state = event.head, self._state
        kind = head.kind
        if kind == "session_started":
            self._begin(event)
        state.apply_head(event.position, head)
        self._bodies.keep(event)
        if head.entry_id is not None or NODE_KINDS.get(kind) == MESSAGE:
            self._node(event)
        if kind == "retracted":
            for mid in head.targets:
                self._change(mid)
        elif kind == "labelled":
            self._labelled.update(dict.fromkeys(head.targets))
        elif kind == "forked":
            self._add("forks", 1)
        elif kind in _SPENDING:
            self._spent.add(event.body.get("usage"))
        elif head.role == "assistant" and head.status in FINAL_STATUSES:
            said = self._bodies.said(event)
            if said.model and said.model != "unknown":
                self._set["model"] = text_of(said.model)
                self._provider(said.provider)
            if said.usage is not None:
                self._spent.add(said.usage)
        if kind in _INFORMING:
            self._inform(event)
        self._bytes += event.size
        if event.position == 1:
            began = head.timestamp
            self._set |= {"created": stamp(began), "began": seconds(began)}
        self._last = event

    def _begin(self, event: LogEvent) -> None:
        """The row of the session, with what a fork inherits."""
        state, origin = self._state, event.head.origin
        if origin is None:
            return
        self._set |= {
            "parent_session_id": origin.session_id,
            "parent_position": origin.position,
            "parent_leaf": origin.leaf,
            "inherits": int(origin.inherit),
        }
        if not origin.inherit or state.offset or state.position:
            return
        basis = self._bodies.basis(state.session_id, origin)
        state.inherit(basis)
        self._basis = basis
        self._shape.look()
        if basis.name is not None and not basis.name.cleared:
            self._set["title"] = text_of(self._bodies.of(basis.name.seq).get("title"))
        if basis.info is not None:
            self._set["directory"] = text_of(self._bodies.of(basis.info.seq).get("directory"))

    def _node(self, event: LogEvent) -> None:
        """A node that begins, or another version of a message."""
        head, state = event.head, self._state
        seq = state.seq
        node = self._made(head.entry_id or head.message_id or f"#{seq}", seq)
        if node is None:
            self._change(head.message_id or head.entry_id or f"#{seq}")
            return
        self._shape.note(node)
        if NODE_KINDS.get(head.kind) == MESSAGE and not isinstance(node, MessageNode):
            self._change(head.message_id or "")  # a later version with an id of its own: a mark
        self._new[node.entry_id] = None
        if node.kind == MARK:
            return
        self._add("entries", 1)
        if isinstance(node, MessageNode):
            self._add("messages", 1)
            if head.role == "user":
                self._add("user_messages", 1)

    def _made(self, entry_id: str, seq: int) -> AnyNode | None:
        """The node that the last event made, under whichever id it got."""
        entries = self._state.entries
        node = entries.get(entry_id)
        while node is not None and born(node) != seq:
            entry_id = f"{entry_id}~{seq}"
            node = entries.get(entry_id)
        return node

    def _change(self, message_id: str) -> None:
        node = self._state.message_node(message_id)
        if node is not None and node.entry_id not in self._new:
            self._changed[node.entry_id] = None

    def _inform(self, event: LogEvent) -> None:
        """Title, directory and model as the tape says them last."""
        head = event.head
        begins = head.kind == "session_started"
        if begins or head.kind == "session_info_changed":
            if head.digest is not None and not head.cleared:
                self._set["title"] = text_of(event.body.get("title"))
            elif head.cleared and not begins:
                self._set["title"] = None
            if (head.name == "directory" and (begins or head.digest is None)) or (
                begins and not self._state.offset
            ):
                self._set["directory"] = text_of(event.body.get("directory"))
        else:
            self._set["model"] = text_of(event.body.get("model"))
            self._provider(event.body.get("provider"))

    def _provider(self, said: Any) -> None:
        provider = text_of(said)
        if provider:
            self._set["provider"] = provider

    def _add(self, name: str, number: int) -> None:
        self._added[name] = self._added.get(name, 0) + number

    # -- rows ------------------------------------------------------------------------------

    def flush(self, connection: Connection) -> None:
        if self._last is None:
            return  # nothing came since the last one
        if self._shape.is_odd:
            self._all_nodes(connection)
        else:
            self._new_nodes(connection)
        self._words(connection)
        self._labels(connection)
        self._inherited(connection)
        self._session(connection)
        self._is_new = False
        self._new.clear()
        self._changed.clear()
        self._grown.clear()
        self._labelled.clear()
        self._set.clear()
        self._added.clear()
        self._spent = Spending()
        self._bytes = 0
        self._last = None
        self._bodies.forget()

    def _new_nodes(self, connection: Connection) -> None:
        state = self._state
        rows = []
        below: dict[str, int] = {}
        for entry_id in self._new:
            node = state.entries.get(entry_id)
            assert node is not None
            place = self._shape.place(node)
            if place.parent_id is not None and node.kind != MARK:
                below[place.parent_id] = below.get(place.parent_id, 0) + 1
            rows.append((node, place))
        connection.executemany(
            _NEW_NODE,
            [self._node_row(node, place, below.pop(node.entry_id, 0)) for node, place in rows],
        )
        for entry_id, number in below.items():
            node = state.entries.get(entry_id)
            if node is not None and born(node) <= state.offset:
                self._grown[entry_id] = number
        connection.executemany(
            "UPDATE bt_nodes SET children = children + ?, is_tip = 0 "
            "WHERE session_id = ? AND entry_id = ?",
            [(number, state.session_id, key) for key, number in below.items()],
        )
        connection.executemany(
            "UPDATE bt_nodes SET role = ?, status = ?, struck = ?, preview = ?, calls = ? "
            "WHERE session_id = ? AND entry_id = ?",
            [
                (*self._told(node)[:5], state.session_id, entry_id)
                for entry_id in self._changed
                if (node := state.entries.get(entry_id)) is not None and born(node) > state.offset
            ],
        )

    def _all_nodes(self, connection: Connection) -> None:
        """Every own node anew, where some came before their parents."""
        state = self._state
        places = list(self._shape.all_places())
        below: dict[str, int] = {}
        own: dict[str, int] = {}
        for node, (_, parent, _) in places:
            if parent is None or node.kind == MARK:
                continue
            below[parent] = below.get(parent, 0) + 1
            above = state.entries.get(parent)
            if born(node) > state.offset and above is not None and born(above) <= state.offset:
                own[parent] = own.get(parent, 0) + 1
        connection.executemany(
            _PUT_NODE,
            [
                self._node_row(node, place, below.get(node.entry_id, 0))
                for node, place in places
                if born(node) > state.offset
            ],
        )
        connection.execute(
            "UPDATE bt_inherited SET children = 0 WHERE session_id = ?", (state.session_id,)
        )
        self._grown = own
        if self._basis is not None:
            before = {node.entry_id: place for node, place in Shape(self._basis).all_places()}
            self._moved = {
                node.entry_id: place
                for node, place in places
                if born(node) <= state.offset and before.get(node.entry_id) != place
            }

    def _node_row(self, node: AnyNode, place: Place, children: int) -> tuple[Any, ...]:
        state = self._state
        told = _NOTHING if node.kind == MARK else self._told(node)
        message_id = node.message_id if isinstance(node, MessageNode) else None
        return (
            state.session_id,
            node.entry_id,
            place.parent_id,
            place.under_id,
            place.depth,
            born(node) - state.offset,
            node.kind,
            message_id,
            told.role,
            told.status,
            int(told.struck),
            self._label(node.entry_id),
            told.preview,
            told.calls,
            told.timestamp,
            children,
            int(children == 0),
        )

    def _told(self, node: AnyNode) -> _Told:
        """What the version that speaks for an entry says; its time is that of the entry."""
        state = self._state
        role = status = None
        struck, seq = False, born(node)
        if isinstance(node, MessageNode):
            message = state.messages.get(node.message_id)
            version: Version = node
            if message is not None:
                version = message.winner(True) or message.latest
                struck = message.struck
            role, status, seq = version.role, version.status, version.seq
        event = self._bodies.event(seq)
        line, calls = preview_of(event)
        if not isinstance(node, MessageNode):
            calls = None
        first = event if seq == born(node) else self._bodies.event(born(node))
        return _Told(role, status, struck, line, calls, stamp(first.head.timestamp))

    def _label(self, entry_id: str) -> str | None:
        fact = self._state.labels.get(entry_id)
        if fact is None or fact.cleared:
            return None
        return text_of(self._bodies.of(fact.seq).get("label"))

    def _labels(self, connection: Connection) -> None:
        """Labels of own entries, on whichever id the label names."""
        state = self._state
        if not self._labelled:
            return
        connection.executemany(
            "UPDATE bt_nodes SET label = ? WHERE session_id = ? AND entry_id = ?",
            [(self._label(key), state.session_id, key) for key in self._labelled],
        )
        self._set["labels"] = sum(
            1 for _, f in state.labels.items() if not f.cleared and f.seq > state.offset
        )

    def _inherited(self, connection: Connection) -> None:
        """Inherited entries that this tape speaks of."""
        state, basis = self._state, self._basis
        if basis is None:
            return
        told = dict.fromkeys([*self._changed, *self._labelled, *self._grown, *self._moved])
        for entry_id in told:
            node = state.entries.get(entry_id)
            if node is None or born(node) > state.offset:
                continue
            row = connection.execute(
                "SELECT children FROM bt_inherited WHERE session_id = ? AND entry_id = ?",
                (state.session_id, entry_id),
            ).fetchone()
            children = (0 if row is None else row[0]) + self._grown.get(entry_id, 0)
            fact = state.labels.get(entry_id)
            is_own = fact is not None and fact.seq > state.offset
            one = _NOTHING if node.kind == MARK else self._told(node)
            connection.execute(
                _PUT_CHANGE,
                (
                    state.session_id,
                    entry_id,
                    one.role,
                    one.status,
                    int(one.struck),
                    int(is_own),
                    self._label(entry_id) if is_own else None,
                    one.preview,
                    one.calls,
                    children,
                    int(entry_id in self._moved),
                    *self._moved.get(entry_id, (None, None, None)),
                ),
            )

    def _words(self, connection: Connection) -> None:
        """The first words of a user on this tape, which a list shows where there is no title."""
        state = self._state
        row = None
        if not self._is_new:
            row = connection.execute(
                "SELECT first_words FROM bt_sessions WHERE session_id = ?", (state.session_id,)
            ).fetchone()
        if row is not None and row[0] is not None:
            return
        for position in self._bodies.kept_positions():
            event = self._bodies.event(state.offset + position)
            if event.head.role == "user" and event.head.status in FINAL_STATUSES:
                self._set["first_words"] = preview_of(event)[0]
                return

    def _cost(self, connection: Connection) -> float:
        """What the session had cost before this batch."""
        row = connection.execute(
            "SELECT cost FROM bt_sessions WHERE session_id = ?", (self._state.session_id,)
        ).fetchone()
        return 0.0 if row is None else float(row[0])

    def _session(self, connection: Connection) -> None:
        state, spent = self._state, self._spent
        added = {
            **self._added,
            "bytes": self._bytes,
            "input_tokens": spent.input,
            "output_tokens": spent.output,
            "cache_read_tokens": spent.cache_read,
            "cache_write_tokens": spent.cache_write,
        }
        last = self._last
        assert last is not None
        values = {
            **self._set,
            "position": state.position,
            "leaf": state.leaf,
            "last_id": last.id,
            "last_activity": stamp(last.head.timestamp),
            "moment": seconds(last.head.timestamp),
        }
        if spent.costs:
            values["cost"] = add_costs(self._cost(connection), spent.costs)
        if self._is_new:
            row: dict[str, Any] = dict.fromkeys(SESSIONS.names)
            row |= {name: 0 for name, kind in SESSIONS.columns if "NOT NULL" in kind}
            row |= {**added, **values, "session_id": state.session_id}
            connection.execute(
                f"INSERT INTO bt_sessions ({', '.join(SESSIONS.names)}) "
                f"VALUES ({', '.join('?' * len(row))})",
                [row[name] for name in SESSIONS.names],
            )
            return
        sets = [f"{name} = ?" for name in values] + [f"{name} = {name} + ?" for name in added]
        connection.execute(
            f"UPDATE bt_sessions SET {', '.join(sets)} WHERE session_id = ?",
            (*values.values(), *added.values(), state.session_id),
        )
