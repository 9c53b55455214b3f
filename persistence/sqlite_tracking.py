"""The library's other recorders on our store: snapshots, positions, and both with events.

They exist for applications of the library that use our factory. They behave as the library's own,
but begin a write with the write lock, and keep to tables of our prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eventsourcing.persistence import IntegrityError, StoredEvent, Tracking
from eventsourcing.sqlite import (
    SQLiteAggregateRecorder,
    SQLiteCursor,
    SQLiteDatastore,
    SQLiteProcessRecorder,
    SQLiteTrackingRecorder,
)

from tapefold.persistence.errors import TableClash
from tapefold.persistence.sqlite_connection import StoreCursor
from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_schema import (
    META_STATEMENT,
    are_made,
    check_identifier,
    events_statement,
    sibling_table,
    tracking_statement,
)


def _ours(datastore: SQLiteDatastore) -> TapeDatastore:
    if not isinstance(datastore, TapeDatastore):
        raise TypeError(f"a TapeDatastore is needed, not {type(datastore).__name__}")
    return datastore


def _is_made(datastore: SQLiteDatastore, statements: list[str]) -> bool:
    with datastore.transaction(commit=False) as cursor:
        assert isinstance(cursor, StoreCursor)
        return are_made(statements, cursor.rows)


class TapeAggregateRecorder(SQLiteAggregateRecorder):
    """Records events or snapshots of aggregates, without a global order."""

    def __init__(self, datastore: SQLiteDatastore, events_table_name: str | None = None) -> None:
        store = _ours(datastore)
        table = events_table_name or sibling_table(store.events_table, "aggregate_events")
        super().__init__(store, events_table_name=check_identifier(table))

    def create_table(self) -> None:
        """Make the table if it is missing; takes the write lock only then."""
        if not _is_made(self.datastore, self.create_table_statements):
            super().create_table()


class TapeTrackingRecorder(SQLiteTrackingRecorder):
    """Records how far a follower has read which log, in a table of its own name.

    The library keeps the positions of all followers in one table `tracking`, by the name of the
    log alone, so that two followers in one file overwrite each other.
    """

    datastore: TapeDatastore

    def __init__(self, datastore: SQLiteDatastore, **kwargs: Any) -> None:
        store = _ours(datastore)
        super().__init__(store, **kwargs)
        table = store.tracking_table
        self.tracking_table_name = table
        self.insert_tracking_statement = (
            f"INSERT INTO {table} VALUES (:application_name, :notification_id)"
        )
        if store.single_row_tracking:
            self.insert_tracking_statement += (
                " ON CONFLICT (application_name) DO UPDATE SET notification_id=:notification_id"
                f" WHERE {table}.notification_id < :notification_id RETURNING notification_id"
            )
        self.select_max_tracking_id_statement = (
            f"SELECT MAX(notification_id) FROM {table} WHERE application_name=?"
        )

    def construct_create_table_statements(self) -> list[str]:
        """Return the statement that makes the table; a subclass may add its own."""
        return [self._tracking_statement()]

    def _tracking_statement(self) -> str:
        return tracking_statement(
            self.datastore.tracking_table, single_row=self.datastore.single_row_tracking
        )

    def create_table(self) -> None:
        """Make the table if it is missing; takes the write lock only then.

        Raises TableClash if it was made for the other value of SINGLE_ROW_TRACKING.
        """
        if not _is_made(self.datastore, self.create_table_statements):
            with self.datastore.transaction(commit=True) as cursor:
                self._create_table(cursor)
        with self.datastore.transaction(commit=False) as cursor:
            self._check_tracking(cursor)

    def _create_table(self, c: SQLiteCursor) -> None:
        # Not super(): the library would migrate its own table `tracking`.
        for statement in self.create_table_statements:
            c.execute(statement)

    def _check_tracking(self, c: SQLiteCursor) -> None:
        assert isinstance(c, StoreCursor)
        found = c.rows(
            "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk",
            (self.datastore.tracking_table,),
        )
        wanted = ["application_name"]
        if not self.datastore.single_row_tracking:
            wanted.append("notification_id")
        if [row[0] for row in found] != wanted:
            raise TableClash(
                self.datastore.address.shown,
                f"its table {self.datastore.tracking_table} has another shape",
                "set SINGLE_ROW_TRACKING as it was when the table was made",
            )

    def _insert_tracking(self, c: SQLiteCursor, tracking: Tracking) -> None:
        c.execute(
            self.insert_tracking_statement,
            {
                "application_name": tracking.application_name,
                "notification_id": tracking.notification_id,
            },
        )
        if self.datastore.single_row_tracking and c.fetchone() is None:
            raise IntegrityError(
                f"log {tracking.application_name!r} was already followed up to position "
                f"{tracking.notification_id} or beyond; is another follower running?"
            )


class TapeProcessRecorder(TapeTrackingRecorder, TapeRecorder, SQLiteProcessRecorder):
    """Records events together with the position of the log that they answer to."""

    def __init__(self, datastore: SQLiteDatastore, *, events_table_name: str | None = None) -> None:
        super().__init__(datastore, events_table_name=events_table_name)

    def construct_create_table_statements(self) -> list[str]:
        """Return the statements that make the tables; a subclass may add its own."""
        return [
            META_STATEMENT,
            events_statement(self.events_table_name),
            self._tracking_statement(),
        ]

    def create_table(self) -> None:
        """Make the tables that are missing, and check those that are there."""
        TapeRecorder.create_table(self)
        with self.datastore.transaction(commit=False) as cursor:
            self._check_tracking(cursor)

    def _create_table(self, c: SQLiteCursor) -> None:
        TapeRecorder._create_table(self, c)

    def _insert_events(
        self, c: SQLiteCursor, stored_events: Sequence[StoredEvent], **kwargs: Any
    ) -> Sequence[int] | None:
        ids = TapeRecorder._insert_events(self, c, stored_events, **kwargs)
        tracking: Tracking | None = kwargs.get("tracking")
        if tracking is not None:
            self._insert_tracking(c, tracking)
        return ids
