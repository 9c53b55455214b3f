"""The session index: pages of sessions, sorted and filtered by plain SQL.

Where two sessions sort alike, the one whose last event was stored later comes first.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Final, NamedTuple

from tapefold.domain.errors import InvalidValue
from tapefold.domain.heads import Timestamp

from ..usage import Tokens

_NEWEST: Final = "moment DESC, last_id DESC"
_NAME: Final = "tapefold_name(title, first_words)"
SORTS: Final = {
    "newest": _NEWEST,
    "name": f"{_NAME} IS NULL, {_NAME}, {_NEWEST}",
    "created": f"began DESC, {_NEWEST}",
    "messages": f"messages DESC, {_NEWEST}",
    "size": f"bytes DESC, {_NEWEST}",
    "cost": f"cost DESC, {_NEWEST}",
}
"""How a page can be sorted, to SQL. Names rise, whatever their letter case, and sessions without
one come last; of all else the most comes first. NULL sorts last where it sinks."""

_COLUMNS: Final = (
    "session_id, position, last_id, title, first_words, directory, created, last_activity, moment, "
    "leaf, model, provider, entries, messages, user_messages, labels, forks, bytes, "
    "input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost, "
    "parent_session_id, parent_position, inherits"
)


class IndexedSession(NamedTuple):
    """One session of the index.

    `title` and `directory` are the newest, inherited ones included; `first_words` those of its
    first user message. `created` and `last_activity` are as they were written, `moment` is the
    latter in seconds since 1970 (None: it is no time). Counts, tokens and costs are those of its
    own tape: what a fork inherits counts in the parent. `size` is that of the stored events, in
    bytes; `model` the one that was used last. `last_id` is the id of its last event in the log.
    """

    session_id: str
    position: int
    last_id: int
    title: str | None
    first_words: str | None
    directory: str | None
    created: Timestamp
    last_activity: Timestamp
    moment: float | None
    leaf: str | None
    model: str | None
    provider: str | None
    entries: int
    messages: int
    user_messages: int
    labels: int
    forks: int
    size: int
    tokens: Tokens
    parent_session_id: str | None
    parent_position: int | None
    inherits: bool


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions: in one of these directories (as they are stored, see
    `SessionIndex.directories`), with activity since a moment (has a zone), with a text in their
    title, or in the first words where they have none (letter case does not count), forked from a
    session, and none of `without`. None: any."""

    directories: Collection[str] | None = None
    since: datetime | None = None
    name: str | None = None
    parent: str | None = None
    without: Collection[str] = ()


class SessionIndex:
    """Reads the session index in one file of the branch tree, in the caller's transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        connection.create_function("tapefold_name", 2, name_key, deterministic=True)

    def page(
        self,
        wanted: SessionFilter | None = None,
        *,
        sort: str = "newest",
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[IndexedSession]:
        """The sessions that fit, in the order of one of `SORTS`: `limit` of them, after the first
        `offset`. Read as they are asked for. Raises `InvalidValue` for an unknown order.
        """
        if sort not in SORTS:
            raise InvalidValue(f"{sort!r} is no order of sessions; there are {', '.join(SORTS)}")
        where, values = _where(wanted or SessionFilter())
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM bt_sessions{where} ORDER BY {SORTS[sort]} LIMIT ? OFFSET ?",
            (*values, -1 if limit is None else limit, offset),
        )
        return map(_session, rows)

    def count(self, wanted: SessionFilter | None = None) -> int:
        """How many sessions fit."""
        where, values = _where(wanted or SessionFilter())
        rows = self._connection.execute(f"SELECT count(*) FROM bt_sessions{where}", values)
        return int(rows.fetchone()[0])

    def get(self, session_id: str) -> IndexedSession | None:
        """One session; None where the index has none of this id."""
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM bt_sessions WHERE session_id = ?", (session_id,)
        ).fetchone()
        return None if row is None else _session(row)

    def directories(self) -> list[str]:
        """Every directory that a session belongs to, once."""
        rows = self._connection.execute(
            "SELECT DISTINCT directory FROM bt_sessions WHERE directory IS NOT NULL "
            "ORDER BY directory"
        )
        return [row[0] for row in rows]

    def without_time(self) -> list[str]:
        """The ids of the sessions whose last activity is no time."""
        rows = self._connection.execute(
            "SELECT session_id FROM bt_sessions WHERE moment IS NULL ORDER BY last_id DESC"
        )
        return [row[0] for row in rows]


def name_key(title: str | None, first_words: str | None) -> str | None:
    """What a session is sorted and searched by: its title, else its first words, without letter
    case; None where it has neither."""
    return (title or first_words or "").casefold() or None


def _where(wanted: SessionFilter) -> tuple[str, list[Any]]:
    terms: list[str] = []
    values: list[Any] = []
    if wanted.directories is not None:
        terms.append(_is_one_of("directory", wanted.directories, values))
    if wanted.since is not None:
        terms.append("moment >= ?")
        values.append(wanted.since.timestamp())
    if wanted.name is not None:
        terms.append(f"instr({_NAME}, ?) > 0")
        values.append(wanted.name.casefold())
    if wanted.parent is not None:
        terms.append("parent_session_id = ?")
        values.append(wanted.parent)
    if wanted.without:
        terms.append("NOT " + _is_one_of("session_id", wanted.without, values))
    return (f" WHERE {' AND '.join(terms)}" if terms else ""), values


def _is_one_of(column: str, wanted: Collection[str], values: list[Any]) -> str:
    """A term for any number of texts. SQLite's JSON ends a text at its first NUL, so those that
    have one are compared by their bytes."""
    values.append(json.dumps([text for text in wanted if "\0" not in text]))
    term = f"{column} IN (SELECT value FROM json_each(?))"
    odd = [text.encode().hex().upper() for text in wanted if "\0" in text]
    if not odd:
        return term
    values.append(json.dumps(odd))
    return f"({term} OR hex({column}) IN (SELECT value FROM json_each(?)))"


def _session(row: tuple[Any, ...]) -> IndexedSession:
    tokens = Tokens._make(row[18:23])
    return IndexedSession._make((*row[:18], tokens, row[23], row[24], bool(row[25])))
