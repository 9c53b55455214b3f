"""A snapshot to read, and the write lock to decide and append under, as blocks of `with`.

Written as classes: five nested generator context managers, as the library has them, cost a
quarter of a durable append.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from eventsourcing.persistence import StoredEvent

from tapefold.persistence.sqlite_connection import Row, StoreConnection, StoreCursor
from tapefold.persistence.sqlite_errors import translate
from tapefold.persistence.sqlite_streams import StreamReading

if TYPE_CHECKING:
    from tapefold.persistence.sqlite_recorder import TapeRecorder


class ReadTransaction(StreamReading):
    """One snapshot of the log, as a block of `with`. See `TapeRecorder.reading`.

    To be entered once; ProgrammingError after its end.
    """

    _connection: StoreConnection
    _cursor: StoreCursor

    def __init__(self, recorder: TapeRecorder) -> None:
        self.events_table_name = recorder.events_table_name
        self._recorder = recorder

    def __enter__(self) -> Self:
        pool = self._recorder.datastore.pool
        self._connection = connection = pool.get_connection(is_writer=False)
        try:
            self._begun = connection.begin_reading()
        except BaseException:
            pool.put_connection(connection)
            raise
        self._cursor = connection.cursor()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._cursor.end()
        try:
            self._connection.roll_back(self._begun)
        finally:
            self._recorder.datastore.pool.put_connection(self._connection)

    def _rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]:
        if self._cursor.has_ended:
            self._cursor.check_open()
        return self._connection.rows(statement, params)

    def max_notification_id(self) -> int | None:
        """Return the newest id of the snapshot, None if nothing was ever recorded."""
        found: int | None = self._rows(self._recorder.select_max_notification_id_statement)[0][0]
        return found


class WriteTransaction(ReadTransaction):
    """The log while nobody else can write to it. See `TapeRecorder.writing`."""

    failure: Exception | None = None
    """Why an append failed. Raised again at the end of a block that has swallowed it, since a
    part of the batch would otherwise be committed."""

    def __enter__(self) -> Self:
        pool = self._recorder.datastore.pool
        self._connection = connection = pool.get_connection(is_writer=True)
        try:
            connection.begin_writing()
        except BaseException:
            pool.put_connection(connection)
            raise
        self._cursor = connection.cursor()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._cursor.end()
        pool = self._recorder.datastore.pool
        # Not kept: with its traceback it holds this transaction in a ring of references.
        failure, self.failure = self.failure, None
        try:
            if exc_type is None and failure is None:
                self._connection.commit()
                pool.commits.announce()
                return
            self._connection.roll_back()
        finally:
            pool.put_connection(self._connection)
        if exc_type is None and failure is not None:
            raise failure

    def insert_events(self, stored_events: Sequence[StoredEvent], **kwargs: Any) -> Sequence[int]:
        """Append events; return their ids. They are durable when the block has ended.

        Raises PositionTaken, PositionSkipped, or DataError for a value that cannot be stored.
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
