"""One connection to a SQLite store, and how a transaction on it runs."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from eventsourcing.persistence import ProgrammingError
from eventsourcing.sqlite import SQLiteConnection, SQLiteCursor

from tapefold.persistence.errors import StoreForked
from tapefold.persistence.sqlite_address import StoreAddress
from tapefold.persistence.sqlite_errors import DriverError, is_busy, translate
from tapefold.persistence.turn import Deadline

# How often a waiting process asks for the write lock, in seconds: at first seldom, to leave the
# processors to the one that holds it; after EAGER_AFTER often. A process that had to wait gives
# the others PAUSE seconds after its own turn. SQLite's own waiting sleeps ever longer, so that
# who has waited longest asks least, and starves. ADRs/0009 has the measurements.
POLL_YOUNG = 0.002
POLL_OLD = 0.0005
EAGER_AFTER = 0.02
PAUSE = 0.001

Row = tuple[Any, ...]


def forked(address: StoreAddress) -> StoreForked:
    """Return the error for a store that a child cannot use."""
    return StoreForked(
        address.shown,
        "this process was forked while its parent was using the store",
        "fork outside of its transactions, or start processes with 'spawn'",
    )


class StoreCursor(SQLiteCursor):
    """A cursor as the library knows it, of one transaction, that also reads plain tuples."""

    def __init__(self, connection: StoreConnection, sqlite_cursor: sqlite3.Cursor) -> None:
        super().__init__(sqlite_cursor)
        self.connection = connection
        self.has_ended = False

    def end(self) -> None:
        """Make every later use raise ProgrammingError; let go of the statement."""
        self.has_ended = True
        self.sqlite_cursor.close()

    def check_open(self) -> None:
        """Raise ProgrammingError if the transaction has ended."""
        if self.has_ended:
            raise ProgrammingError("the transaction has ended; open another one")
        self.connection.check_owned()

    def rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT in this transaction. Raises ProgrammingError after its end."""
        if self.has_ended:
            self.check_open()
        return self.connection.rows(statement, params)


class StoreConnection(SQLiteConnection):
    """A pooled connection whose transactions take the lock that they need at their beginning.

    The library begins every transaction with a plain BEGIN, outside its error translation: a
    transaction that reads and then writes fails at once when somebody else wrote in between, no
    matter what the busy timeout is.
    """

    def __init__(self, raw: sqlite3.Connection, address: StoreAddress) -> None:
        super().__init__(raw, max_age=None)
        self.address = address
        self.deadline = Deadline(0.0)
        """Until when a writer may wait for the lock; set by the pool."""
        self.borrower = 0
        """The thread that a reader was lent to."""
        self._had_to_wait = False
        self._is_disowned = False
        self._tuples = raw.cursor()
        self._tuples.row_factory = None

    def disown(self) -> None:
        """In a child, after a fork in the middle of a use: never touch what is the parent's.

        To end its transaction, even to close it, would write to the index of the write-ahead log
        that the parent is using. So it is not closed, at the end of the process neither.
        """
        import ctypes

        self._is_disowned = True
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._sqlite_conn))

    def check_owned(self) -> None:
        """Raise StoreForked if this is the connection of a parent process."""
        if self._is_disowned:
            raise forked(self.address)

    def cursor(self) -> StoreCursor:
        """Return a new cursor."""
        return StoreCursor(self, self._sqlite_conn.cursor())

    def rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]:
        """Run one SELECT and return its rows as tuples."""
        if self._is_disowned:
            self.check_owned()
        try:
            return self._tuples.execute(statement, params).fetchall()
        except DriverError as error:
            raise translate(error, self.address) from error

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[StoreCursor]:
        """Run a transaction as the library knows it; what the driver raises is translated.

        With the write lock if `commit`, else one read snapshot. The pool lets one writer at a
        time come here, and has set `deadline`.
        """
        begun = self.begin_writing() if commit else self.begin_reading()
        cursor = self.cursor()
        try:
            yield cursor
        except BaseException as error:
            self.roll_back(begun)
            if isinstance(error, sqlite3.Error):
                raise translate(error, self.address) from error
            raise
        finally:
            cursor.end()
        if commit:
            self.commit()
        else:
            self.roll_back(begun)

    def begin_reading(self) -> bool:
        """Begin a snapshot, and tell so. A store in memory has one connection for all, so a
        thread may read in a transaction of its own; then nothing is begun."""
        try:
            if self._sqlite_conn.in_transaction:
                return False
            self._sqlite_conn.execute("BEGIN")
            return True
        except sqlite3.Error as error:
            raise translate(error, self.address) from error

    def begin_writing(self) -> bool:
        """Take the write lock, waiting up to `deadline`; True."""
        try:
            if self._sqlite_conn.in_transaction:
                # A read around this write (in memory), or left by an exception between two steps.
                self._sqlite_conn.rollback()
            self._begin_immediate()
            return True
        except sqlite3.Error as error:
            raise translate(error, self.address) from error

    def _begin_immediate(self) -> None:
        if self._had_to_wait:
            time.sleep(PAUSE)
            self._had_to_wait = False
        started = 0.0
        while True:
            try:
                self._tuples.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if not is_busy(error) or self.deadline.left() == 0:
                    raise
            self._had_to_wait = True
            started = started or time.monotonic()
            age = min(1.0, (time.monotonic() - started) / EAGER_AFTER)
            pause = POLL_YOUNG + (POLL_OLD - POLL_YOUNG) * age
            time.sleep(random.uniform(0.5, 1.5) * pause)

    def commit(self) -> None:
        """Commit; when it returns, the data is on the disk."""
        if self._is_disowned:
            self.check_owned()
        try:
            # Not the driver's commit(): it compiles the statement anew each time, and is silent
            # when SQLite has rolled the transaction back by itself.
            self._tuples.execute("COMMIT")
        except sqlite3.Error as error:
            self.roll_back()
            raise translate(error, self.address, at_commit=True) from error

    def roll_back(self, begun: bool = True) -> None:
        """End what was begun; a connection that cannot even do that is closed and dropped."""
        if self._is_disowned:
            return
        try:
            if begun and self._sqlite_conn.in_transaction:
                self._sqlite_conn.rollback()
        except sqlite3.Error:
            self.close()

    def _close(self) -> None:
        if self._is_disowned:
            return
        # A cursor that still holds a statement would keep the file open, and its log undeleted.
        self._tuples.close()
        super()._close()
