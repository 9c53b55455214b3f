"""Writes the rows of one session's effective view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any, Final, NamedTuple

from tapefold.domain.calls import MESSAGE_RESULT
from tapefold.domain.heads import PENDING
from tapefold.domain.kernel import State
from tapefold.domain.nodes import CUSTOM, FOREIGN, MARK, MODEL, MessageNode, Node, Version

from ..bodies import Bodies, model_of
from ..log import LogEvent
from ..values import column, json_column, key_of, stamp, text_of
from .presenting import FIRST, CallRow, Shown, SortKey
from .schema import CALLS, ENTRIES, MESSAGES, SESSIONS
from .straight import Answered


class Row(NamedTuple):
    """One message: where it stands, and how it shows. Positions are of its own tape."""

    message_id: str
    entry_id: str
    parent_id: str | None
    inherited: bool
    place: int | None
    final: Shown | None
    pending: Shown | None
    struck: bool
    aside: bool
    began: int | None
    finalized: int | None
    winner: Version | None

    @property
    def shown(self) -> bool:
        """Whether it shows, unfinished versions aside."""
        return self.final is not None and self.final.is_shown


_BODILESS = frozenset({CUSTOM, FOREIGN, MARK})
"""Kinds whose bodies nothing of the view shows; they may be large, and stay on the tape."""

_KEPT = ("timestamp", "model", "provider", "body")
"""Columns that belong to the version: they stay as long as the same one shows."""

_SAME = (
    "excluded.version_position IS ev_messages.version_position "
    "AND excluded.version_session_id IS ev_messages.version_session_id"
)
_PUT_MESSAGE = (
    f"INSERT INTO ev_messages ({', '.join(MESSAGES.names)}) "
    f"VALUES ({', '.join('?' * len(MESSAGES.names))}) "
    "ON CONFLICT (session_id, message_id) DO UPDATE SET "
    + ", ".join(
        f"{name} = CASE WHEN {_SAME} THEN ev_messages.{name} ELSE excluded.{name} END"
        if name in _KEPT
        else f"{name} = excluded.{name}"
        for name in MESSAGES.names[2:]
    )
)
_NEW_MESSAGE = f"INSERT INTO ev_messages VALUES ({', '.join('?' * len(MESSAGES.names))})"
_PUT_CALL = f"INSERT INTO ev_calls VALUES ({', '.join('?' * len(CALLS.names))})"
_PUT_ENTRY = f"INSERT INTO ev_entries VALUES ({', '.join('?' * len(ENTRIES.names))})"
_DROP_CALLS = "DELETE FROM ev_calls WHERE session_id = ? AND message_id = ?"
_LEAVE = (
    "UPDATE ev_messages SET on_path = 0, place = NULL, shown = 0, sort_number = NULL, "
    "sort_id = NULL, shown_pending = 0, pending_sort_number = NULL, pending_sort_id = NULL, "
    "pending_calls = 0 WHERE session_id = ? AND message_id = ?"
)
_LAST_MODEL = (
    "SELECT place, {0} FROM ("
    "SELECT * FROM (SELECT place, {0} FROM ev_messages WHERE session_id = ?1 AND on_path = 1 "
    "AND model IS NOT NULL AND shown = 1 {1} ORDER BY place DESC LIMIT 1) UNION ALL "
    "SELECT * FROM (SELECT place, {0} FROM ev_entries WHERE session_id = ?1 AND kind = 'model' "
    "AND on_path = 1 {1} ORDER BY place DESC LIMIT 1)) ORDER BY place DESC LIMIT 1"
)
_MODEL = _LAST_MODEL.format("model", "")
_PROVIDER = _LAST_MODEL.format("provider", "AND provider IS NOT NULL")
_THINKING = (
    "SELECT place, body FROM ev_entries WHERE session_id = ? AND kind = 'thinking' "
    "AND on_path = 1 ORDER BY place DESC LIMIT 1"
)


class Writer:
    """Writes into the caller's transaction."""

    def __init__(self, connection: Connection, session_id: str, *, is_new: bool) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._session_id = session_id
        self._is_new = is_new

    # -- messages --------------------------------------------------------------------------

    def shown_from(self, begin: int) -> int:
        """How many own messages showed from a place on."""
        if self._is_new:
            return 0
        found = self._execute(
            "SELECT count(*) FROM ev_messages WHERE session_id = ? AND on_path = 1 "
            "AND place >= ? AND shown = 1 AND inherited = 0",
            (self._session_id, begin),
        ).fetchone()
        return int(found[0])

    def behind(self, begin: int) -> tuple[SortKey, SortKey]:
        """The sort keys of the last rows that show before a place, final and pending."""
        found = []
        for prefix, shown in (("", "shown"), ("pending_", "shown_pending")):
            row = self._execute(
                f"SELECT {prefix}sort_number, {prefix}sort_id FROM ev_messages "
                f"WHERE session_id = ? AND on_path = 1 AND place < ? AND {shown} = 1 "
                "ORDER BY place DESC LIMIT 1",
                (self._session_id, begin),
            ).fetchone()
            found.append(FIRST if row is None else (row[0], row[1]))
        return found[0], found[1]

    def leave(self, message_ids: Iterable[str]) -> None:
        """Messages that are on the path no more."""
        keys = [(self._session_id, mid) for mid in message_ids]
        if not keys:
            return
        self._connection.executemany(_LEAVE, keys)
        self._connection.executemany(_DROP_CALLS, keys)

    def drop(self, message_ids: Iterable[str]) -> None:
        """Inherited messages that show as they do in the basis."""
        keys = [(self._session_id, mid) for mid in message_ids]
        if not keys:
            return
        self._connection.executemany(
            "DELETE FROM ev_messages WHERE session_id = ? AND message_id = ?", keys
        )
        self._connection.executemany(_DROP_CALLS, keys)

    def messages(self, rows: Sequence[Row], known: set[str], bodies: Bodies) -> None:
        """Put messages, with their calls. `known`: those that may have rows already."""
        if not rows:
            return
        if known and not self._is_new:
            self._connection.executemany(_DROP_CALLS, [(self._session_id, mid) for mid in known])
        self._connection.executemany(_PUT_MESSAGE, [self._message(row, bodies) for row in rows])
        calls = [
            call
            for row in rows
            if _calls_of(row.final) or _calls_of(row.pending)
            for call in self._calls(row, bodies)
        ]
        self._connection.executemany(_PUT_CALL, calls)

    def straight(
        self, found: Sequence[tuple[int, MessageNode, Answered]], state: State, bodies: Bodies
    ) -> None:
        """Put new messages that are straight, with their calls."""
        session_id, offset, aside = self._session_id, state.offset, state.aside.get
        rows: list[tuple[Any, ...]] = []
        calls: list[tuple[Any, ...]] = []
        kept = bodies.kept
        for place, node, answered in found:
            seq, role, message_id, entry_id = node.seq, node.role, node.message_id, node.entry_id
            event = kept[seq]  # it came since the last flush
            model = provider = None
            if role == "assistant":
                model, provider = model_of(bodies.said(event))
            rows.append(
                (
                    session_id,
                    message_id,
                    entry_id,
                    node.parent_id,
                    0,  # inherited
                    1,  # on_path
                    place,
                    1,  # shown
                    None,
                    None,
                    1,  # shown_pending
                    None,
                    None,
                    0,  # pending_calls
                    0,  # struck
                    int(aside(entry_id) is not None),
                    node.born - offset,
                    node.finalized - offset,
                    role,
                    node.status,
                    None,
                    session_id,
                    seq - offset,
                    stamp(event.head.timestamp),
                    model,
                    provider,
                    column(event.body_text),
                )
            )
            if answered:
                calls += self._straight_calls(node, answered, state, bodies)
        self._connection.executemany(_NEW_MESSAGE, rows)
        self._connection.executemany(_PUT_CALL, calls)

    def _straight_calls(
        self, node: MessageNode, answered: Answered, state: State, bodies: Bodies
    ) -> Iterable[tuple[Any, ...]]:
        session_id, made = self._session_id, bodies.calls(node.seq)
        for number, (call_id, result) in enumerate(answered):
            name, arguments = made.get(call_id, (None, None))
            end = _UNANSWERED
            if result is not None:
                is_error = bodies.is_error(result.seq)
                end = (
                    "error" if is_error else "success",
                    MESSAGE_RESULT,
                    session_id,
                    result.seq - state.offset,
                    result.message_id,
                    result.entry_id,
                    int(is_error),
                    0,
                    None,
                )
            yield (
                session_id,
                node.message_id,
                0,
                number,
                key_of(call_id),
                name,
                arguments,
                int(call_id in made),
                *end,
            )

    def _message(self, row: Row, bodies: Bodies) -> tuple[Any, ...]:
        final, pending, winner = row.final, row.pending, row.winner
        differ = final is not pending and _calls_of(final) != _calls_of(pending)
        session_id = position = role = status = number = None
        version: tuple[Any, ...] = (None, None, None, None)
        if winner is not None:
            role, status, number = winner.role, winner.status, winner.order_seq
            session_id, position = bodies.locate(winner.seq)
            # A version of this tape's comes with its event; later its row has it. An inherited
            # one may get a row at any time.
            is_own = session_id == self._session_id
            event = bodies.at_hand(winner.seq) if is_own else bodies.event(winner.seq)
            if event is not None:
                version = _version(role, status, event, bodies)
        return (
            self._session_id,
            row.message_id,
            row.entry_id,
            row.parent_id,
            int(row.inherited),
            int(row.place is not None),
            row.place,
            int(final is not None and final.is_shown),
            *(FIRST if final is None else final.sort),
            int(pending is not None and pending.is_shown),
            *(FIRST if pending is None else pending.sort),
            int(differ),
            int(row.struck),
            int(row.aside),
            row.began,
            row.finalized,
            role,
            status,
            number,
            session_id,
            position,
            *version,
        )

    def _calls(self, row: Row, bodies: Bodies) -> Iterable[tuple[Any, ...]]:
        final, pending = row.final, row.pending
        for mode, shown in ((0, final), (1, pending)):
            if shown is None or (mode == 1 and _calls_of(final) == _calls_of(pending)):
                continue
            for number, call in enumerate(shown.calls):
                yield (
                    self._session_id,
                    row.message_id,
                    mode,
                    number,
                    key_of(call.call_id),
                    *_made(call, shown.winner_seq or 0, bodies),
                    *_answered(call, bodies),
                )

    # -- other rows ------------------------------------------------------------------------

    def drop_entries(self, entry_ids: Iterable[str]) -> None:
        """Take away the rows of inherited entries."""
        self._connection.executemany(
            "DELETE FROM ev_entries WHERE session_id = ? AND entry_id = ?",
            [(self._session_id, entry_id) for entry_id in entry_ids],
        )

    def entries(self, entries: Sequence[tuple[LogEvent, Node, int]]) -> None:
        """Put new entries and marks, with their positions; 0 for inherited ones."""
        rows = []
        for event, node, position in entries:
            kind = node.kind
            model = provider = None
            if kind == MODEL:
                body = event.body
                model, provider = text_of(body.get("model")), text_of(body.get("provider"))
            rows.append(
                (
                    self._session_id,
                    node.entry_id,
                    position,
                    kind,
                    0,
                    None,
                    node.target if kind == MARK else None,
                    model,
                    provider,
                    None if kind in _BODILESS else column(event.body_text),
                )
            )
        if rows:
            self._connection.executemany(_PUT_ENTRY, rows)

    def places(self, places: Iterable[tuple[int | None, str]]) -> None:
        """Say where entries that have a row stand on the path; None: they do not."""
        self._connection.executemany(
            "UPDATE ev_entries SET place = ?1, on_path = ?1 IS NOT NULL "
            "WHERE session_id = ?3 AND entry_id = ?2",
            [(place, entry_id, self._session_id) for place, entry_id in places],
        )

    def labels(self, rows: Sequence[tuple[str, str | None, int | None]]) -> None:
        """Put labels; a row without a position is taken away."""
        for entry_id, label, position in rows:
            key = (self._session_id, entry_id)
            if position is None:
                self._execute("DELETE FROM ev_labels WHERE session_id = ? AND entry_id = ?", key)
            else:
                self._execute(
                    "INSERT OR REPLACE INTO ev_labels VALUES (?, ?, ?, ?)", (*key, label, position)
                )

    def session(self, values: Mapping[str, Any]) -> None:
        """Put the session's row. A name that begins with `+` is added to what stands there."""
        if self._is_new:
            fresh = dict.fromkeys(SESSIONS.names)
            zero = {name: 0 for name, kind in SESSIONS.columns if "NOT NULL" in kind}
            fresh |= zero | {name.removeprefix("+"): value for name, value in values.items()}
            fresh["session_id"] = self._session_id
            self._execute(
                f"INSERT INTO ev_sessions VALUES ({', '.join('?' * len(fresh))})",
                [fresh[name] for name in SESSIONS.names],
            )
            return
        sets = ", ".join(
            f"{name[1:]} = {name[1:]} + ?" if name.startswith("+") else f"{name} = ?"
            for name in values
        )
        self._execute(
            f"UPDATE ev_sessions SET {sets} WHERE session_id = ?",
            (*values.values(), self._session_id),
        )

    def cost(self) -> float:
        """What the session had cost so far."""
        if self._is_new:
            return 0.0
        found = self._execute(
            "SELECT cost FROM ev_sessions WHERE session_id = ?", (self._session_id,)
        ).fetchone()
        return float(found[0])

    def label_count(self) -> int:
        """How many labels stand, those that a fork inherits aside."""
        found = self._execute(
            "SELECT count(*) FROM ev_labels WHERE session_id = ? AND label IS NOT NULL",
            (self._session_id,),
        ).fetchone()
        return int(found[0])

    def settings(self) -> dict[str, Any]:
        """Model, provider and thinking level as the own part of the path says, with the places
        that say so (None: it does not)."""
        key = (self._session_id,)
        model = self._execute(_MODEL, key).fetchone() or (None, None)
        provider = self._execute(_PROVIDER, key).fetchone() or (None, None)
        thinking = self._execute(_THINKING, key).fetchone()
        level = None if thinking is None else _level(thinking[1])
        return {
            "model": model[1],
            "model_place": model[0],
            "provider": provider[1],
            "provider_place": provider[0],
            "thinking_level": level,
            "thinking_place": None if thinking is None else thinking[0],
        }


def _level(body: str | bytes) -> str | None:
    from tapefold.persistence.jsontext import load

    text = body.encode() if isinstance(body, str) else body
    return text_of(load(text).get("level"))


def _calls_of(shown: Shown | None) -> tuple[CallRow, ...]:
    return () if shown is None else shown.calls


def _version(
    role: str | None, status: str | None, event: LogEvent, bodies: Bodies
) -> tuple[Any, ...]:
    """Timestamp, model, provider and body of the version that shows."""
    model = provider = None
    if role == "assistant" and status != PENDING:
        model, provider = model_of(bodies.said(event))
    return stamp(event.head.timestamp), model, provider, column(event.body_text)


def _made(call: CallRow, seq: int, bodies: Bodies) -> tuple[Any, ...]:
    """Name, arguments, and whether the message's content holds the call."""
    name, arguments, is_held = bodies.call(seq, call.call_id)
    if not is_held and call.fact_seq:
        body = bodies.of(call.fact_seq)
        name, arguments = text_of(body.get("name")), json_column(body.get("arguments"))
    return name, arguments, int(is_held)


_UNANSWERED: Final[tuple[Any, ...]] = ("pending", None, None, None, None, None, 0, 0, None)


def _answered(call: CallRow, bodies: Bodies) -> tuple[Any, ...]:
    """Status of a call, and where its result stands."""
    if call.result is None:
        return _UNANSWERED
    session_id, position = bodies.locate(call.result_seq)
    where = (call.result, session_id, position)
    if call.result_id is None:
        content = json_column(bodies.of(call.result_seq).get("content", []))
        status = call.status or "success"
        return status, *where, None, None, int(status == "error"), 0, content
    failed = bodies.is_error(call.result_seq)
    status = call.status or ("error" if failed else "success")
    entry_id = bodies.entry_of(call.result_id)
    return status, *where, call.result_id, entry_id, int(failed), int(call.interruption), None
