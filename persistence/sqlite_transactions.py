"""A snapshot to read, and the write lock to decide and append under, as blocks of `with`.

Written as classes: five nested generator context managers, as the library has them, cost a
quarter of a durable append.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from eventsourcing.persistence import StoredEvent

from tapefold.persistence.sqlite_connection import Row, StoreConnection, StoreCursor
from tapefold.persistence.sqlite_errors import translate
from tapefold.persistence.sqlite_streams import StreamReading

if TYPE_CHECKING:
    from tapefold.persistence.sqlite_recorder import TapeRecorder


class ReadTransaction(StreamReading):
    """One snapshot of the log. See `TapeRecorder.reading`."""

    def __init__(self, recorder: TapeRecorder, cursor: StoreCursor) -> None:
        self.events_table_name = recorder.events_table_name
        self._recorder = recorder
        self._cursor = cursor

    def _rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]:
        return self._cursor.rows(statement, params)

    def max_notification_id(self) -> int | None:
        """Return the newest id of the snapshot, None if nothing was ever recorded."""
        found: int | None = self._rows(self._recorder.select_max_notification_id_statement)[0][0]
        return found

    def end(self) -> None:
        """Make every later use raise ProgrammingError."""
        self._cursor.end()


class WriteTransaction(ReadTransaction):
    """The log while nobody else can write to it. See `TapeRecorder.writing`."""

    failure: Exception | None = None
    """Why an append failed. Raised again at the end of a block that has swallowed it, since a
    part of the batch would otherwise be committed."""

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append events; return their ids. They are durable when the block has ended.

        Raises PositionTaken, or DataError for a value that cannot be stored.
        """
        self._cursor.check_open()
        try:
            return self._recorder._insert_events(self._cursor, stored_events, **kwargs) or []
        except sqlite3.Error as error:
            # From a statement of a subclass; our own are translated where they run.
            self.failure = translate(error, self._recorder.datastore.address)
            raise self.failure from error
        except Exception as error:
            self.failure = error
            raise


class Reading:
    """The block of `TapeRecorder.reading`. To be entered once."""

    __slots__ = ("_begun", "_connection", "_recorder", "_transaction")

    _connection: StoreConnection
    _transaction: ReadTransaction

    def __init__(self, recorder: TapeRecorder) -> None:
        self._recorder = recorder
        self._begun = False

    def __enter__(self) -> ReadTransaction:
        pool = self._recorder.datastore.pool
        self._connection = connection = pool.get_connection(is_writer=False)
        try:
            self._begun = connection.begin_reading()
        except BaseException:
            pool.put_connection(connection)
            raise
        self._transaction = ReadTransaction(self._recorder, connection.cursor())
        return self._transaction

    def __exit__(self, *exc: object) -> None:
        self._transaction.end()
        try:
            self._connection.roll_back(self._begun)
        finally:
            self._recorder.datastore.pool.put_connection(self._connection)


class Writing:
    """The block of `TapeRecorder.writing`. To be entered once."""

    __slots__ = ("_connection", "_recorder", "_transaction")

    _connection: StoreConnection
    _transaction: WriteTransaction

    def __init__(self, recorder: TapeRecorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> WriteTransaction:
        pool = self._recorder.datastore.pool
        self._connection = connection = pool.get_connection(is_writer=True)
        try:
            connection.begin_writing()
        except BaseException:
            pool.put_connection(connection)
            raise
        self._transaction = WriteTransaction(self._recorder, connection.cursor())
        return self._transaction

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        transaction = self._transaction
        transaction.end()
        pool = self._recorder.datastore.pool
        try:
            if exc_type is None and transaction.failure is None:
                self._connection.commit()
                pool.commits.announce()
                return
            self._connection.roll_back()
        finally:
            pool.put_connection(self._connection)
        # Not kept: with its traceback it holds this transaction in a ring of references.
        failure, transaction.failure = transaction.failure, None
        if exc_type is None and failure is not None:
            raise failure
