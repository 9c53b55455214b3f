"""The file of one build of a projection: its tables, its position, who runs it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from .declaration import Projection
from .errors import BuildDamaged, DeclarationMismatch
from .faults import named_faults
from .files import file_identity

BUSY: Final = 10.0
"""How long a call waits for a lock. Unit: seconds."""

ASK_EVERY: Final = 0.0005
"""Seconds between two tries of one who waits for the write lock."""

FILLING: Final = "filling"
FOLLOWING: Final = "following"

_ANCHOR_TABLE: Final = (
    "CREATE TABLE IF NOT EXISTS tapefold_anchor (one INTEGER PRIMARY KEY CHECK (one = 1), "
    "position INTEGER NOT NULL, digest TEXT)"
)

_OWN_TABLES: Final = (
    "CREATE TABLE tapefold_projection (one INTEGER PRIMARY KEY CHECK (one = 1), "
    "name TEXT NOT NULL, schema_version INTEGER NOT NULL, fingerprint TEXT NOT NULL, "
    "log_uuid TEXT NOT NULL, phase TEXT NOT NULL, position INTEGER NOT NULL, digest TEXT, "
    "target INTEGER NOT NULL, cursor TEXT, events INTEGER NOT NULL)",
    "CREATE TABLE tapefold_positions (session_id TEXT PRIMARY KEY, position INTEGER NOT NULL) "
    "WITHOUT ROWID",
    "CREATE TABLE tapefold_parked (session_id TEXT PRIMARY KEY, position INTEGER NOT NULL, "
    "log_id INTEGER NOT NULL, topic TEXT NOT NULL, kind TEXT NOT NULL, error TEXT NOT NULL, "
    "attempts INTEGER NOT NULL, since TEXT NOT NULL)",
    _ANCHOR_TABLE,
    "CREATE TABLE tapefold_runner (one INTEGER PRIMARY KEY CHECK (one = 1), pid INTEGER, "
    "started REAL, heartbeat REAL, rate REAL)",
)


class Progress(NamedTuple):
    """How far a build has come.

    While it is filling, it takes tape by tape: `target` is the id of the log up to which it reads
    them, `digest` that row's, `cursor` the last session that it has finished. Then it follows the
    log: `position` is the id of the last row that it has read, `digest` that row's. `events`: how
    many it applied.
    """

    phase: str
    position: int
    digest: str | None
    target: int
    cursor: str | None
    events: int
    log_uuid: str


class Sign(NamedTuple):
    """The last sign of life of who runs or builds it. Times are seconds since 1970, `rate` events
    a second since the sign before."""

    pid: int
    started: float
    heartbeat: float
    rate: float


def connect(
    path: Path, *, read_only: bool = False, create: bool = True, alone: bool = False
) -> sqlite3.Connection:
    """A connection without implicit transactions. A projection can be built anew, so a commit
    need not survive a loss of power; it survives the death of the process.

    `create`: make the file if it is missing. `alone`: nobody else may have it open; SQLite keeps
    its index of the write-ahead log in memory then, and so needs no space on the disk to read.
    Raises `sqlite3.Error`.
    """
    mode = "ro" if read_only else "rwc" if create else "rw"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False
    )
    try:
        if alone:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        if not read_only:
            _use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA cache_size=-16000")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Readers go on while it is written. SQLite does not wait where several switch at once."""
    ends = time.monotonic() + BUSY
    while connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                raise
            time.sleep(0.01)


class Build:
    """One build, open for writing or reading. `path` is its file.

    `create`: make the file if it is missing. Raises `BuildFault` if it cannot be opened.
    """

    def __init__(
        self, path: Path, projection: Projection, *, read_only: bool = False, create: bool = False
    ) -> None:
        self.path = path
        self.projection = projection
        with named_faults(projection.NAME, path):
            self.connection = connect(path, read_only=read_only, create=create)
        self._file = file_identity(path)
        self.is_stopped: Callable[[], bool] = lambda: False
        """Asked while the write lock is waited for: true gives the waiting up."""

    def is_at_its_path(self) -> bool:
        """Whether the file is still the one at its path: it may have been removed or replaced."""
        return self._file is not None and file_identity(self.path) == self._file

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def create(self, log_uuid: str, target: int, digest: str | None = None) -> None:
        """Make the tables, if they are not there. Safe to be called by several processes.

        `target`: the id of the log up to which it is to be filled, `digest` that row's.
        """
        with named_faults(self.projection.NAME, self.path), self.writing():
            there = self.connection.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'tapefold_projection'"
            ).fetchone()
            if there:
                return
            projection = self.projection
            if self.connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                raise BuildDamaged(projection.NAME, self.path, "it holds other tables")
            statements = [s for table in projection.TABLES for s in table.statements()]
            for statement in (*_OWN_TABLES, *statements):
                self.connection.execute(statement)
            self.connection.execute(
                "INSERT INTO tapefold_projection VALUES (1, ?, ?, ?, ?, ?, 0, ?, ?, NULL, 0)",
                (
                    projection.NAME,
                    projection.SCHEMA_VERSION,
                    projection.fingerprint(),
                    log_uuid,
                    FILLING,
                    digest,
                    target,
                ),
            )

    def check(self) -> None:
        """Raise `DeclarationMismatch` if the file was not made by the code's declaration, and
        `BuildDamaged` if it is no file of this projection."""
        name = self.projection.NAME
        with named_faults(name, self.path):
            row = self.connection.execute(
                "SELECT name, schema_version, fingerprint FROM tapefold_projection"
            ).fetchone()
        if row is None or row[0] != name:
            raise BuildDamaged(name, self.path, "it holds no position of this projection")
        if row[2] != self.projection.fingerprint():
            raise DeclarationMismatch(name, row[1], self.projection.SCHEMA_VERSION)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction that has the write lock from its beginning. Raises `sqlite3.Error` if the
        lock does not come free, or the commit fails."""
        begin_writing(self.connection, self.is_stopped)
        yield from _transaction(self.connection, None)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One snapshot: what is read in it is of one moment."""
        yield from _transaction(self.connection, "BEGIN")

    # -- position --------------------------------------------------------------------------

    def progress(self) -> Progress:
        """How far it has come."""
        row = self.connection.execute(
            "SELECT phase, position, digest, target, cursor, events, log_uuid "
            "FROM tapefold_projection"
        ).fetchone()
        if row is None:
            raise BuildDamaged(self.projection.NAME, self.path, "its position is gone")
        return Progress(*row)

    def version(self) -> int:
        """A number that changes when another connection has committed something."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def advance(self, position: int, digest: str | None, events: int) -> None:
        """Note the last row of the log that was read. In the transaction of its rows."""
        self.connection.execute(
            "UPDATE tapefold_projection SET position = ?, digest = ?, events = events + ?",
            (position, digest, events),
        )

    def anchor(self) -> tuple[int, str | None] | None:
        """Where the last row that was read waits for its parked session: id and digest of the
        last one that does not, 0 where all do. None where the last row is itself that one."""
        try:
            row = self.connection.execute("SELECT position, digest FROM tapefold_anchor").fetchone()
        except sqlite3.OperationalError as error:
            if str(error).startswith("no such table"):
                return None  # a file that was made before there was one
            raise
        return None if row is None else (int(row[0]), row[1])

    def put_anchor(self, position: int, digest: str | None) -> None:
        """Note it. In the transaction of the position."""
        self.connection.execute(_ANCHOR_TABLE)
        self.connection.execute(
            "INSERT OR REPLACE INTO tapefold_anchor VALUES (1, ?, ?)", (position, digest)
        )

    def forget_anchor(self) -> None:
        """The last row that was read is proof enough."""
        if self.anchor() is not None:
            self.connection.execute("DELETE FROM tapefold_anchor")

    def fill_on(self, cursor: str | None, events: int) -> None:
        """Note the last session that was finished while filling."""
        self.connection.execute(
            "UPDATE tapefold_projection SET cursor = ?, events = events + ?", (cursor, events)
        )

    def follow_from(self, position: int, digest: str | None) -> None:
        """End filling."""
        self.connection.execute(
            "UPDATE tapefold_projection SET phase = ?, position = ?, digest = ?, cursor = NULL",
            (FOLLOWING, position, digest),
        )

    def session_position(self, session_id: str) -> int:
        """The position up to which a session is projected; 0 where it is not."""
        row = self.connection.execute(
            "SELECT position FROM tapefold_positions WHERE session_id = ?", (session_id,)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def put_position(self, session_id: str, position: int) -> None:
        """Note the position up to which a session is projected."""
        self.connection.execute(
            "INSERT OR REPLACE INTO tapefold_positions VALUES (?, ?)", (session_id, position)
        )

    # -- signs of life ---------------------------------------------------------------------

    def begin_beating(self, now: float) -> None:
        """Note who runs it from now on. In a transaction of the caller's."""
        self.connection.execute(
            "INSERT OR REPLACE INTO tapefold_runner VALUES (1, ?, ?, ?, 0)", (os.getpid(), now, now)
        )

    def beat(self, now: float, rate: float) -> None:
        """A sign of life, with the rate since the last one. In a transaction of the caller's."""
        self.connection.execute("UPDATE tapefold_runner SET heartbeat = ?, rate = ?", (now, rate))

    def sign(self) -> Sign | None:
        """The last sign of life; None where nobody ever ran it."""
        row = self.connection.execute(
            "SELECT pid, started, heartbeat, rate FROM tapefold_runner"
        ).fetchone()
        return None if row is None else Sign(*row)


def begin_writing(
    connection: sqlite3.Connection, is_stopped: Callable[[], bool] = lambda: False
) -> None:
    """Begin a transaction that has the write lock. Raises `sqlite3.Error` if it is not got.

    SQLite's own waiting asks ever more seldom, and would starve beside a runner that writes page
    after page.
    """
    ends = time.monotonic() + BUSY
    connection.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                is_over = is_stopped() or time.monotonic() > ends
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or is_over:
                    raise
            time.sleep(ASK_EVERY)
    finally:
        connection.execute(f"PRAGMA busy_timeout={int(BUSY * 1000)}")


def _transaction(connection: sqlite3.Connection, begin: str | None) -> Iterator[None]:
    if begin is not None:
        connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a commit that failed may leave it open
            connection.execute("ROLLBACK")
        raise
