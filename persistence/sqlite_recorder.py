"""The recorder of events in a SQLite store: append, read, follow."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from eventsourcing.persistence import (
    ApplicationRecorder,
    Notification,
    StoredEvent,
    Subscription,
)
from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteCursor, SQLiteDatastore

from tapefold.domain.events import is_ours
from tapefold.persistence.errors import PositionSkipped, PositionTaken
from tapefold.persistence.runs import Run
from tapefold.persistence.sqlite_connection import Row, StoreCursor
from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_errors import DriverError, is_missing, is_taken, translate
from tapefold.persistence.sqlite_schema import (
    META_INSERT,
    META_STATEMENT,
    Ask,
    LogSchema,
    are_made,
    check_identifier,
    events_statement,
)
from tapefold.persistence.sqlite_streams import StreamReading, as_text
from tapefold.persistence.sqlite_transactions import ReadTransaction, WriteTransaction
from tapefold.persistence.subscription import PollingSubscription

LEAST_RUN = 16
"""So many events of one session are inserted at once."""


class TapeRecorder(StreamReading, SQLiteApplicationRecorder):
    """Records events of many streams in one table, in one global order.

    An append is one transaction that takes the write lock first, and is on the disk when it
    returns. Ids rise in the order of commits: who has read up to an id has missed nothing below
    it. Safe for threads and for processes.
    """

    datastore: TapeDatastore

    def __init__(self, datastore: SQLiteDatastore, events_table_name: str | None = None) -> None:
        if not isinstance(datastore, TapeDatastore):
            raise TypeError(f"TapeRecorder needs a TapeDatastore, not {type(datastore).__name__}")
        table = check_identifier(events_table_name or datastore.events_table)
        super().__init__(datastore, events_table_name=table)
        self.schema = LogSchema(datastore.address.shown, table)
        self.insert_events_statement = (
            f"INSERT INTO {table} (originator_id, originator_version, topic, state) "
            "VALUES (?,?,?,?)"
        )
        # As well, but a position above 1 must follow one that is there. If it does not, CASE gives
        # NULL, which the column refuses: one statement, since two are slower.
        self._insert_next_statement = (
            f"INSERT INTO {table} (originator_id, originator_version, topic, state) "
            "VALUES (?1, ?2, ?3, CASE WHEN ?2 = 1 OR EXISTS "
            f"(SELECT 1 FROM {table} WHERE originator_id = ?1 AND originator_version = ?2 - 1) "
            "THEN ?4 END)"
        )
        self.select_max_notification_id_statement = f"SELECT MAX(id) FROM {table}"
        self._log_uuid: str | None = None

    # ---------------------------------------------------------------------------- tables

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements that make the tables; a subclass may add its own."""
        return [META_STATEMENT, events_statement(self.events_table_name)]

    def create_table(self) -> None:
        """Make the tables that are missing, and check those that are there.

        Takes no lock if nothing is missing, so that a start never waits for a long import.
        Several processes may do this at once on a new file. Raises StoreTooNew, TableClash, or
        what opening a store raises.
        """
        with self.datastore.transaction(commit=False) as cursor:
            ask = _ask(cursor)
            self.schema.check(ask)
            if are_made(self.create_table_statements, ask) and self.schema.is_noted(ask):
                return
        super().create_table()

    def check_table(self) -> None:
        """Check the tables without making any; raises as `create_table` does."""
        with self.datastore.transaction(commit=False) as cursor:
            self.schema.check(_ask(cursor))

    def _create_table(self, c: SQLiteCursor) -> None:
        # Again, under the write lock: another process may have been faster.
        self.schema.check(_ask(c))
        for statement in self.create_table_statements:
            c.execute(statement)
        c.executemany(META_INSERT, self.schema.meta_rows())

    @property
    def log_uuid(self) -> str:
        """The random uuid that this log got when it began; a copy of the file keeps it."""
        if self._log_uuid is None:
            self._log_uuid = self.read_log_uuid()
        return self._log_uuid

    def read_log_uuid(self) -> str:
        """The same, asked of the file anew: another log may have been put in its place."""
        return self.schema.log_uuid(self._rows)

    def reopen(self) -> None:
        """Let go of the file, so that the one that stands at the path now is opened next.

        For who reads on for days: a store that was moved away or replaced stays open otherwise.
        """
        self._log_uuid = None
        self.datastore.pool.let_go()

    # ------------------------------------------------------------------------- appending

    def _insert_events(
        self, c: SQLiteCursor, stored_events: Sequence[StoredEvent], **_: Any
    ) -> Sequence[int] | None:
        """Append; return the ids. Raises PositionTaken, PositionSkipped, both IntegrityErrors.

        The keyword arguments of `Application.save()` arrive here: the place where a subclass
        writes more rows in the same transaction.
        """
        ids: list[int] = []
        insert = c.sqlite_cursor.execute
        for index, event in enumerate(stored_events):
            if index == 1 and (rows := _rows_of_run(stored_events)) is not None:
                return [*ids, *self._insert_run(c.sqlite_cursor, ids[0], rows[1:])]
            originator_id, topic = as_text(event.originator_id), event.topic
            follows = isinstance(topic, str) and is_ours(topic)
            try:
                insert(
                    self._insert_next_statement if follows else self.insert_events_statement,
                    (originator_id, event.originator_version, topic, event.state),
                )
            except DriverError as error:
                raise self._refusal(error, event, follows) from error
            ids.append(c.lastrowid)
        return ids

    def _insert_run(self, cursor: sqlite3.Cursor, before: int, rows: Sequence[Row]) -> range:
        """Append the rows of events that follow one that was just inserted with the id `before`.

        Each one follows the one before it, so that need not be looked up; and ids rise by one,
        since this transaction is the only one that writes.
        """
        connection = cursor.connection
        already = connection.total_changes
        try:
            cursor.executemany(self.insert_events_statement, rows)
        except DriverError as error:
            refused = StoredEvent(*rows[connection.total_changes - already])
            raise self._refusal(error, refused, follows=True) from error
        return range(before + 1, before + 1 + len(rows))

    def _refusal(self, error: BaseException, event: StoredEvent, follows: bool) -> Exception:
        if isinstance(error, sqlite3.Error):
            if is_taken(error):
                return PositionTaken(event.originator_id, event.originator_version)
            if follows and is_missing(error) and event.state is not None:
                return PositionSkipped(event.originator_id, event.originator_version)
        return translate(error, self.datastore.address)

    def insert_events(
        self, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        """Append events, all or none; return their ids. They are on the disk then.

        Raises PositionTaken and PositionSkipped (IntegrityErrors of the library), StoreBusy,
        StoreNotWritable.
        """
        with self.writing() as transaction:
            return transaction.insert_events(stored_events, **kwargs)

    def writing(self) -> AbstractContextManager[WriteTransaction]:
        """Take the write lock, then decide and append; commit at the normal end of the block.

        Any exception rolls everything back and comes out as it is. Waits in turn up to the busy
        timeout, then raises StoreBusy; inside another write of the same thread raises NestedWrite.
        """
        return WriteTransaction(self)

    def reading(self) -> AbstractContextManager[ReadTransaction]:
        """Read several streams at one moment: the first read fixes it, later ones see no more.

        Keep it short: the write-ahead log cannot be cut while it lasts, and a store in memory
        lets nobody write meanwhile.
        """
        return ReadTransaction(self)

    # --------------------------------------------------------------------------- reading

    def select_notifications(
        self,
        start: int | None,
        limit: int,
        stop: int | None = None,
        topics: Sequence[str] = (),
        *,
        inclusive_of_start: bool = True,
    ) -> Sequence[Notification]:
        """Return events of all streams in order of their ids, `limit` at most.

        From `start` (or after it, if not `inclusive_of_start`) to `stop`, both may be None; only
        those with one of `topics`, if any are given.
        """
        statement = (
            "SELECT originator_id, originator_version, topic, state, id "
            f"FROM {self.events_table_name} WHERE 1"
        )
        params: list[object] = []
        if start is not None:
            statement += " AND id>=?" if inclusive_of_start else " AND id>?"
            params.append(start)
        if stop is not None:
            statement += " AND id<=?"
            params.append(stop)
        if topics:
            statement += f" AND topic IN ({','.join('?' * len(topics))})"
            params += topics
        params.append(limit)
        found = self._rows(statement + " ORDER BY id LIMIT ?", params)
        return [Notification(*row) for row in found]

    def log_page(self, after: int, limit: int, upto: int | None = None) -> list[Row]:
        """Return (id, originator id, version, topic, state) of the rows after an id, in order.

        Whoever's they are; `limit` at most, and none after the id `upto`.
        """
        bound = "" if upto is None else " AND id<=?"
        return self._rows(
            "SELECT id, originator_id, originator_version, topic, state "
            f"FROM {self.events_table_name} WHERE id>?{bound} ORDER BY id LIMIT ?",
            (after, *(() if upto is None else (upto,)), limit),
        )

    def log_count(self, after: int, upto: int | None = None) -> int:
        """Return how many rows of the log come after an id, up to another one."""
        bound = "" if upto is None else " AND id<=?"
        params = (after,) if upto is None else (after, upto)
        found = self._rows(
            f"SELECT COUNT(*) FROM {self.events_table_name} WHERE id>?{bound}", params
        )
        return int(found[0][0])

    def log_places(self, after: int, upto: int, limit: int) -> list[Row]:
        """Return (id, originator id, version) of the rows after an id up to another one, the
        newest first; `limit` at most. No state is read."""
        return self._rows(
            f"SELECT id, originator_id, originator_version FROM {self.events_table_name} "
            "WHERE id>? AND id<=? ORDER BY id DESC LIMIT ?",
            (after, upto, limit),
        )

    def log_tape(self, originator_id: str, gt: int, limit: int) -> list[Row]:
        """Return the same of one stream's rows after a position, in order of position."""
        return self._rows(
            "SELECT id, originator_id, originator_version, topic, state "
            f"FROM {self.events_table_name} WHERE originator_id=? AND originator_version>? "
            "ORDER BY originator_version LIMIT ?",
            (originator_id, gt, limit),
        )

    def max_notification_id(self) -> int | None:  # type: ignore[override]  # theirs says int
        """Return the newest id, None if nothing was ever recorded."""
        found: int | None = self._rows(self.select_max_notification_id_statement)[0][0]
        return found

    def subscribe(
        self, gt: int | None = None, topics: Sequence[str] = ()
    ) -> Subscription[ApplicationRecorder]:
        """Follow the log: yield what is recorded after the id `gt`, then wait for more."""
        return PollingSubscription(self, gt=gt, topics=topics, pool=self.datastore.pool)

    def _rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]:
        # One SELECT is a snapshot by itself, so no transaction is begun.
        pool = self.datastore.pool
        connection = pool.get_connection(is_writer=False)
        try:
            return connection.rows(statement, params)
        finally:
            pool.put_connection(connection)


def _rows_of_run(events: Sequence[StoredEvent]) -> Sequence[Row] | None:
    """The rows of many events of one session of ours, each at the position after the last; None
    for any others."""
    if isinstance(events, Run):
        return events.rows
    if len(events) < LEAST_RUN:
        return None
    first = events[0]
    session_id = first.originator_id
    if not isinstance(session_id, str):
        return None
    if any(not isinstance(topic, str) or not is_ours(topic) for topic in {e.topic for e in events}):
        return None
    if any(
        event.originator_version != position or event.originator_id != session_id
        for position, event in enumerate(events, first.originator_version)
    ):
        return None
    return [(e.originator_id, e.originator_version, e.topic, e.state) for e in events]


def _ask(cursor: SQLiteCursor) -> Ask:
    assert isinstance(cursor, StoreCursor)
    return cursor.rows
