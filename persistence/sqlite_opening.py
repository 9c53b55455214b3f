"""Opening connections to a SQLite store, with the durability that we promise."""

from __future__ import annotations

import random
import sqlite3
import time
from pathlib import Path

from tapefold.persistence.errors import StoreNotWritable
from tapefold.persistence.sqlite_address import StoreAddress, prepare_file
from tapefold.persistence.sqlite_connection import POLL_YOUNG, StoreConnection, forked
from tapefold.persistence.sqlite_errors import is_busy, translate
from tapefold.persistence.turn import Deadline

# The library passes cached_statements=True, which the driver reads as one statement.
CACHED_STATEMENTS = 64

# Files, as (device, inode), that a child cannot use: SQLite's memory of their locks is wrong.
_torn_files: set[tuple[int, int]] = set()


class StoreOpener:
    """Opens connections to one store; the first one makes the file, if that is allowed."""

    def __init__(self, address: StoreAddress, *, create: bool, create_parents: bool) -> None:
        self._address = address
        self._create = create
        self._create_parents = create_parents
        self._is_prepared = False
        self._has_log = False

    def open(self, *, busy_timeout: float, writes: bool) -> StoreConnection:
        """Return a new connection. `busy_timeout`: seconds that SQLite itself waits for a lock.

        Raises StoreMissing, StoreUnreadable, StoreNotWritable, StoreBusy, StoreForked.
        """
        address = self._address
        if not self._is_prepared:
            prepare_file(address, create=self._create, create_parents=self._create_parents)
        if _torn_files and address.path is not None and _identity(address.path) in _torn_files:
            raise forked(address)
        raw: sqlite3.Connection | None = None
        try:
            raw = connect(address, busy_timeout=busy_timeout)
            # Who only reads changes nothing, the journal mode of a copied store included.
            changes = (self._create or writes) and not (address.is_memory or address.is_read_only)
            if changes and not self._has_log:
                use_write_ahead_log(raw, address, Deadline(busy_timeout))
                self._has_log = True
            if writes:
                # From here on it waits for its lock by itself, see StoreConnection.
                raw.execute("PRAGMA busy_timeout=0")
            self._is_prepared = True
        except BaseException as error:
            if raw is not None:
                raw.close()
            if isinstance(error, sqlite3.Error):
                raise translate(error, address) from error
            raise
        return StoreConnection(raw, address)

    def give_up(self) -> None:
        """Open this file no more, in this process, under whatever name."""
        path = self._address.path
        if path is not None and path.exists():
            _torn_files.add(_identity(path))


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)  # it is gone; opening it will say so
    return found.st_dev, found.st_ino


def connect(address: StoreAddress, *, busy_timeout: float) -> sqlite3.Connection:
    """Open the database, with the durability that an acknowledged append promises.

    `busy_timeout`: seconds that SQLite itself waits for a lock.
    """
    raw = sqlite3.connect(
        address.uri,
        uri=True,
        timeout=busy_timeout,
        isolation_level=None,  # transactions are begun by us
        check_same_thread=False,  # the pool gives a connection to one thread at a time
        cached_statements=CACHED_STATEMENTS,
    )
    raw.row_factory = sqlite3.Row  # the library's recorders read columns by name
    # The default of WAL's reader-friendly builds is NORMAL, which may lose the last commits when
    # the power fails. fullfsync has an effect on macOS only, where a plain fsync stops short.
    raw.execute("PRAGMA synchronous=FULL")
    raw.execute("PRAGMA fullfsync=1")
    # A file from elsewhere must not make us run functions through its triggers and views.
    raw.execute("PRAGMA trusted_schema=0")
    return raw


def use_write_ahead_log(raw: sqlite3.Connection, address: StoreAddress, wait: Deadline) -> None:
    """See that the database is in WAL mode; several processes may do this at once."""
    while True:
        try:
            mode: str = raw.execute("PRAGMA journal_mode").fetchone()[0]
            if mode.lower() != "wal":
                mode = raw.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            # SQLite does not wait where two connections would wait for each other.
            if not is_busy(error) or wait.left() == 0:
                raise
            time.sleep(random.uniform(0.5, 1.5) * POLL_YOUNG)
    if mode.lower() != "wal":
        raise StoreNotWritable(
            address.shown,
            f"its file system cannot hold a write-ahead log (journal mode {mode!r})",
            "put the store on a local disk",
        )
