"""A SQLite store as the library's recorders know one, on our pool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eventsourcing.sqlite import SQLiteCursor, SQLiteDatastore

from tapefold.persistence.sqlite_address import parse_address
from tapefold.persistence.sqlite_pool import StorePool
from tapefold.persistence.sqlite_schema import (
    DEFAULT_EVENTS_TABLE,
    DEFAULT_TRACKING_TABLE,
    check_identifier,
)

DEFAULT_BUSY_TIMEOUT = 30.0


class TapeDatastore(SQLiteDatastore):
    """One SQLite store: its pool, and the names of its tables.

    `db_name`: a path, `:memory:`, or a `file:` URI. `busy_timeout`: seconds that a call waits for
    a lock or a connection. `pool_size` reading connections are kept open, `max_overflow` more are
    opened while needed. `create`: make the file if it is missing (its rights are 0600), with
    `create_parents` its folders too (0700). Opens nothing before it is first used.

    Raises StoreSettingsRefused for a name that cannot be one.
    """

    pool: StorePool

    def __init__(
        self,
        db_name: str,
        *,
        busy_timeout: float = DEFAULT_BUSY_TIMEOUT,
        pool_size: int = 5,
        max_overflow: int = 10,
        create: bool = True,
        create_parents: bool = False,
        single_row_tracking: bool = True,
        events_table: str = DEFAULT_EVENTS_TABLE,
        tracking_table: str = DEFAULT_TRACKING_TABLE,
    ) -> None:
        address = parse_address(db_name)
        super().__init__(
            db_name=address.uri,
            single_row_tracking=single_row_tracking,
            originator_id_type="text",
        )
        self.address = address
        self.events_table = check_identifier(events_table)
        self.tracking_table = check_identifier(tracking_table)
        self.pool = StorePool(
            address,
            busy_timeout=busy_timeout,
            pool_size=pool_size,
            max_overflow=max_overflow,
            create=create,
            create_parents=create_parents,
        )

    @contextmanager
    def transaction(self, *, commit: bool) -> Iterator[SQLiteCursor]:
        """Run a transaction: with the write lock from its beginning if `commit`, else to read.

        Ends with a commit, or a rollback if an exception leaves the block. What the driver raises
        comes out as a typed error.
        """
        connection = self.pool.get_connection(is_writer=commit)
        try:
            with connection.transaction(commit=commit) as cursor:
                yield cursor
            if commit:
                self.pool.commits.announce()
        finally:
            self.pool.put_connection(connection)
