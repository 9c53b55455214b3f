"""Reading the effective view: pages of a conversation, and whole views."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

from tapefold.domain.errors import SessionNotFound
from tapefold.domain.heads import Timestamp
from tapefold.domain.view import Settings
from tapefold.persistence.jsontext import load

from ..errors import SessionParked
from ..log import Log
from ..parking import Parked, parked_at
from .inherited import Inherited, inherited_rows

_CALLS = (
    "SELECT json_group_array(json_array(c.call_id, c.name, CAST(c.arguments AS TEXT), "
    "c.in_content, c.status, c.result_kind, c.result_session_id, c.result_position, "
    "c.result_message_id, c.result_entry_id, c.is_error, c.interruption, "
    "CAST(c.result_content AS TEXT))) FROM (SELECT * FROM ev_calls c "
    "WHERE c.session_id = m.session_id AND c.message_id = m.message_id AND c.pending = {} "
    "ORDER BY c.number) c"
)
_COLUMNS = (
    "m.message_id, m.entry_id, m.role, m.status, m.order_seq, m.version_session_id, "
    "m.version_position, m.timestamp, m.body, m.place, m.inherited"
)
_FINAL = (
    f"SELECT {_COLUMNS}, m.sort_number, m.sort_id, ({_CALLS.format(0)}) FROM ev_messages m "
    "WHERE m.session_id = ? AND m.shown = 1"
)
_PENDING = (
    f"SELECT {_COLUMNS}, m.pending_sort_number, m.pending_sort_id, "
    f"({_CALLS.format('m.pending_calls')}) FROM ev_messages m "
    "WHERE m.session_id = ? AND m.shown_pending = 1"
)
LAST_PAGE = f"{_FINAL} ORDER BY m.sort_number DESC, m.sort_id DESC, m.place DESC LIMIT ?"
"""The newest messages of a session: one statement, as many rows as messages."""


_ON_PATH = (
    "SELECT 1 FROM ev_messages WHERE session_id = ? AND message_id = ? AND on_path = 1 "
    "AND entry_id = message_id",
    "SELECT 1 FROM ev_entries WHERE session_id = ? AND entry_id = ? AND on_path = 1",
    "SELECT 1 FROM ev_messages WHERE session_id = ? AND entry_id = ? AND on_path = 1",
)


@dataclass(frozen=True)
class ReadCall:
    """A call that shows, as `tapefold.Call`; `content` is JSON, and only a fact's is given:
    what a result message says stands in its own row."""

    call_id: str
    name: str | None
    arguments: Any
    in_content: bool
    status: str
    result: str | None = None
    session_id: str | None = None
    position: int | None = None
    message_id: str | None = None
    entry_id: str | None = None
    is_error: bool = False
    interruption: bool = False
    content: Any = None


@dataclass(frozen=True)
class ReadMessage:
    """A message that shows, as `tapefold.Message`, with its body as it is stored."""

    message_id: str
    entry_id: str
    role: str
    status: str
    order_seq: int | None
    session_id: str
    position: int
    timestamp: Timestamp
    body: dict[str, Any]
    calls: tuple[ReadCall, ...]


@dataclass(frozen=True)
class ReadView:
    """What a session says at its leaf, at the position that the projection has reached.

    `parked`: the event at which it stands still, since it cannot be applied; what follows it on
    the tape is not in here.
    """

    session_id: str
    position: int
    leaf: str | None
    name: str | None
    directory: str | None
    settings: Settings
    ruling_anchor: str | None
    messages: tuple[ReadMessage, ...]
    labels: dict[str, str]
    answers_off_path: tuple[str, ...]
    parked: Parked | None = None


@dataclass(frozen=True)
class _Placed:
    sort: tuple[bool, int, bytes, int]
    message: ReadMessage


class EffectiveReader:
    """Reads one file of the effective view, in the caller's transaction.

    `log`: the tapes, for what forks inherit. Rows of a session alone need none.
    """

    def __init__(self, connection: Connection, log: Log) -> None:
        self._connection = connection
        self._log = log

    def view(self, session_id: str, *, include_pending: bool = False) -> ReadView:
        """The whole view of a session. Raises `SessionNotFound`, and `SessionParked` where its
        first event cannot be applied."""
        row = self._session(session_id)
        base = self._inherited(row, include_pending)
        rows = self._connection.execute(
            _PENDING if include_pending else _FINAL, (session_id,)
        ).fetchall()
        own = [self._placed(session_id, one, base) for one in rows]
        replaced = self._replaced(session_id)
        own += [
            _placed(one.sort, one.place, one.message)
            for one in base.rows
            if one.message.message_id not in replaced
        ]
        own.sort(key=lambda one: one.sort)
        return ReadView(
            session_id=session_id,
            position=row["position"],
            leaf=row["leaf"],
            name=row["name"] if row["own_name"] else base.name,
            directory=row["directory"] or base.directory,
            settings=_settings(row, base, replaced),
            ruling_anchor=row["ruling_anchor"],
            messages=tuple(one.message for one in own),
            labels=self._labels(session_id, base.labels),
            answers_off_path=tuple(self._off_path(row, base)),
            parked=parked_at(self._connection, session_id),
        )

    def last(self, session_id: str, limit: int) -> list[ReadMessage]:
        """The newest messages of a session, oldest first; a fork's own, with those that are
        shown otherwise than in its parent."""
        rows = self._connection.execute(LAST_PAGE, (session_id, limit)).fetchall()
        none = Inherited()
        return [self._placed(session_id, one, none).message for one in reversed(rows)]

    # -- parts -----------------------------------------------------------------------------

    def _session(self, session_id: str) -> dict[str, Any]:
        cursor = self._connection.execute(
            "SELECT * FROM ev_sessions WHERE session_id = ?", (session_id,)
        )
        row = cursor.fetchone()
        if row is None:
            parked = parked_at(self._connection, session_id)
            if parked is not None:
                raise SessionParked("effective_view", session_id, parked.position, parked.error)
            raise SessionNotFound(session_id)
        return dict(zip((name for name, *_ in cursor.description), row, strict=True))

    def _inherited(self, row: dict[str, Any], include_pending: bool) -> Inherited:
        if row["basis_session_id"] is None:
            return Inherited()
        return inherited_rows(
            self._log,
            row["session_id"],
            row["basis_session_id"],
            row["basis_position"],
            row["joins_at"],
            include_pending,
        )

    def _placed(self, session_id: str, row: Sequence[Any], base: Inherited) -> _Placed:
        (mid, entry_id, role, status, order_seq, where, position, stamp, body, place, _) = row[:11]
        number, sort_id, calls = row[11:]
        value = load(body.encode() if isinstance(body, str) else body)
        message = ReadMessage(
            mid,
            entry_id,
            role or "user",
            status or "",
            order_seq,
            where,
            position,
            stamp,
            value,
            tuple(_call(one) for one in json.loads(calls)),
        )
        return _placed((number, sort_id), place, message)

    def _replaced(self, session_id: str) -> set[str]:
        """Inherited messages on the path that have a row here."""
        found = self._connection.execute(
            "SELECT message_id FROM ev_messages WHERE session_id = ? AND on_path = 1 "
            "AND inherited = 1",
            (session_id,),
        )
        return {row[0] for row in found}

    def _labels(self, session_id: str, inherited: dict[str, str]) -> dict[str, str]:
        labels = dict(inherited)
        for entry_id, label in self._connection.execute(
            "SELECT entry_id, label FROM ev_labels WHERE session_id = ? "
            "ORDER BY position, entry_id",
            (session_id,),
        ):
            labels.pop(entry_id, None)
            if label is not None:
                labels[entry_id] = label
        return labels

    def _off_path(self, row: dict[str, Any], base: Inherited) -> Iterable[str]:
        """Answers that became final beside the path, right below an entry of it, after the leaf
        was last moved: a user would say that they are gone."""
        since = row["leaf_moved"]
        is_fork = row["basis_session_id"] is not None
        moved = bool(since or is_fork)
        for entry_id, parent_id, aside, began in self._connection.execute(
            "SELECT entry_id, parent_id, aside, began FROM ev_messages WHERE session_id = ? "
            "AND on_path = 0 AND role = 'assistant' AND finalized > ? AND status <> 'pending' "
            "ORDER BY finalized, entry_id",
            (row["session_id"], since),
        ).fetchall():
            began_before = moved and (began is None or began <= since)
            if (aside or began_before) and self._is_on_path(row["session_id"], parent_id, base):
                yield entry_id

    def _is_on_path(self, session_id: str, entry_id: str | None, base: Inherited) -> bool:
        """Whether an entry, or the entry that a mark stands for, is on the path."""
        entry_id = base.entry_of(entry_id)
        found = self._connection.execute(
            "SELECT stands_for FROM ev_entries WHERE session_id = ? AND entry_id = ? "
            "AND kind = 'mark'",
            (session_id, entry_id),
        ).fetchone()
        if found is not None:
            entry_id = found[0]
        if entry_id is None or entry_id in base.path:
            return entry_id is not None
        return any(
            self._connection.execute(sql, (session_id, entry_id)).fetchone() for sql in _ON_PATH
        )


def _placed(sort: tuple[int | None, str | None], place: int, message: ReadMessage) -> _Placed:
    number, sort_id = sort
    id_bytes = (sort_id or "").encode("utf-8", "surrogatepass")
    return _Placed((number is not None, number or 0, id_bytes, place), message)


def _call(values: Sequence[Any]) -> ReadCall:
    call_id, name, arguments, in_content, status, result, session_id, position = values[:8]
    message_id, entry_id, is_error, interruption, content = values[8:]
    return ReadCall(
        call_id,
        name,
        None if arguments is None else load(arguments.encode()),
        bool(in_content),
        status,
        result,
        session_id,
        position,
        message_id,
        entry_id,
        bool(is_error),
        bool(interruption),
        None if content is None else load(content.encode()),
    )


def _settings(row: dict[str, Any], base: Inherited, replaced: set[str]) -> Settings:
    """What the last place on the path says; inherited messages with a row here are not asked."""
    known = [one for one in base.models if one.message_id not in replaced]
    models = [(one.place, one.model) for one in known]
    providers = [(one.place, one.provider) for one in known if one.provider]
    thinking = [] if base.thinking is None else [base.thinking]
    for said, name, value in (
        (models, "model_place", "model"),
        (providers, "provider_place", "provider"),
        (thinking, "thinking_place", "thinking_level"),
    ):
        if row[name] is not None:
            said.append((row[name], row[value]))
    return Settings(*(max(said)[1] if said else None for said in (models, providers, thinking)))
