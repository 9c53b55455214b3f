"""Which builds of the projections there are beside a store, and which one is live."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from .database import connect
from .errors import REGISTRY, BuildNotWritable, NoFiles, ProjectionError, ProjectionMissing
from .faults import is_of_its_place, named_faults
from .files import file_identity

FOLDER: Final = ".projections"
"""What is put behind the store's file name: the folder of the builds."""

BUILDING: Final = "building"
LIVE: Final = "live"
KEPT: Final = "kept"
"""It was live, and can be again: `projections rollback`."""

_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS tapefold_builds (name TEXT NOT NULL, build INTEGER NOT NULL, "
    "schema_version INTEGER NOT NULL, fingerprint TEXT NOT NULL, state TEXT NOT NULL, "
    "made TEXT NOT NULL, PRIMARY KEY (name, build)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tapefold_live (name TEXT PRIMARY KEY, build INTEGER NOT NULL, "
    "before INTEGER) WITHOUT ROWID",
    # The highest number ever given: one that is used again would mean two files to a reader.
    "CREATE TABLE IF NOT EXISTS tapefold_numbers (name TEXT PRIMARY KEY, build INTEGER NOT NULL) "
    "WITHOUT ROWID",
    # Which program has begun a build: see program.py.
    "CREATE TABLE IF NOT EXISTS tapefold_programs (name TEXT NOT NULL, build INTEGER NOT NULL, "
    "program TEXT NOT NULL, PRIMARY KEY (name, build)) WITHOUT ROWID",
)


class BuildInfo(NamedTuple):
    """One build. `number` counts the builds of a projection, whatever their version."""

    name: str
    number: int
    schema_version: int
    fingerprint: str
    state: str
    made: str


class Registry:
    """The registry of one store: a small file beside it, and the only judge of what is live.

    Reading makes nothing. Its methods raise `BuildFault` if the file cannot be used.
    """

    def __init__(self, store: Path, *, create: bool = False) -> None:
        # The same folder by whatever link the store is opened.
        real = store.resolve()
        self.folder = real.with_name(real.name + FOLDER)
        self.path = self.folder / REGISTRY
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._is_alone = False
        if create:
            with self._changing("registry"):
                pass

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def path_of(self, name: str, number: int) -> Path:
        """The file of a build."""
        return self.folder / f"{name}.{number}.db"

    # -- reading ---------------------------------------------------------------------------

    def live(self, name: str) -> BuildInfo:
        """The live build. Raises `ProjectionMissing`."""
        found = self.find_live(name)
        if found is None:
            raise ProjectionMissing(name)
        return found

    def find_live(self, name: str) -> BuildInfo | None:
        """The live build, None where there is none."""
        row = self._rows(
            "SELECT b.* FROM tapefold_live AS l JOIN tapefold_builds AS b "
            "ON b.name = l.name AND b.build = l.build WHERE l.name = ?",
            name,
        )
        return BuildInfo(*row[0]) if row else None

    def before(self, name: str) -> BuildInfo | None:
        """The build that was live before, if its file is kept."""
        row = self._rows(
            "SELECT b.* FROM tapefold_live AS l JOIN tapefold_builds AS b "
            "ON b.name = l.name AND b.build = l.before WHERE l.name = ?",
            name,
        )
        return BuildInfo(*row[0]) if row else None

    def builds(self, name: str) -> list[BuildInfo]:
        """All builds of a projection, the oldest first."""
        rows = self._rows("SELECT * FROM tapefold_builds WHERE name = ? ORDER BY build", name)
        return [BuildInfo(*row) for row in rows]

    def unfinished(self, name: str, fingerprint: str | None = None) -> BuildInfo | None:
        """The newest build that never was live; of this declaration, if one is given."""
        found = [
            info
            for info in self.builds(name)
            if info.state == BUILDING and fingerprint in (None, info.fingerprint)
        ]
        return found[-1] if found else None

    def outdated(self, name: str, fingerprint: str, program: str) -> list[BuildInfo]:
        """Builds of this declaration that never were live and that another program has begun."""
        known = {
            number
            for number, made_by in self._rows(
                "SELECT build, program FROM tapefold_programs WHERE name = ?", name
            )
            if made_by == program
        }
        return [
            info
            for info in self.builds(name)
            if info.state == BUILDING
            and info.fingerprint == fingerprint
            and info.number not in known
        ]

    def is_live(self, name: str, number: int) -> bool:
        """Whether a build is the live one."""
        live = self.find_live(name)
        return live is not None and live.number == number

    def is_known(self, name: str, number: int) -> bool:
        """Whether a build is still there."""
        return any(info.number == number for info in self.builds(name))

    def strays(self, name: str) -> list[int]:
        """Numbers of files in the folder that no build has: left by a kill between two steps, or
        by a registry that was removed."""
        known = {info.number for info in self.builds(name)}
        return sorted(self._numbers_of_files(name) - known)

    def _numbers_of_files(self, name: str) -> set[int]:
        found = set()
        for path in self.folder.glob(f"{name}.*.db"):
            middle = path.name[len(name) + 1 : -len(".db")]
            if middle.isascii() and middle.isdigit():
                found.add(int(middle))
        return found

    def _rows(self, sql: str, name: str) -> list[tuple[Any, ...]]:
        if not self._is_there():
            return []
        with named_faults(name, self.path):
            connection = self._open()
            try:
                return connection.execute(sql, (name,)).fetchall()
            except sqlite3.OperationalError:
                # Made a moment ago, by somebody who was killed or has not come to its tables.
                if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                    return []
                return connection.execute(sql, (name,)).fetchall()  # they came in between
            finally:
                self._let_others_in(connection)

    def _is_there(self) -> bool:
        """Whether there is a registry. One that was removed or replaced is let go of."""
        there = file_identity(self.path)
        if self._connection is not None and there != self._file:
            self.close()
        return there is not None

    # -- changing --------------------------------------------------------------------------

    def begin(self, name: str, schema_version: int, fingerprint: str, program: str) -> BuildInfo:
        """The unfinished build of this declaration, else a new one. `program`: what begins it."""
        with self._changing(name) as connection:
            found = self.unfinished(name, fingerprint)
            if found is not None:
                return found
            given = connection.execute(
                "SELECT build FROM tapefold_numbers WHERE name = ?", (name,)
            ).fetchone()
            # Nor a number of a file that nobody knows: what is in it is nobody's.
            number = 1 + max([given[0] if given else 0, *self._numbers_of_files(name)])
            made = datetime.now(UTC).isoformat(timespec="seconds")
            info = BuildInfo(name, number, schema_version, fingerprint, BUILDING, made)
            connection.execute("INSERT INTO tapefold_builds VALUES (?, ?, ?, ?, ?, ?)", info)
            connection.execute("INSERT OR REPLACE INTO tapefold_numbers VALUES (?, ?)", info[:2])
            connection.execute(
                "INSERT OR REPLACE INTO tapefold_programs VALUES (?, ?, ?)", (*info[:2], program)
            )
            return info

    def go_live(self, name: str, number: int, expected: int | None) -> None:
        """Make a build the live one: the one row that readers look at.

        `expected`: the number of the one that is live now, None for none. Raises
        `ProjectionError` where it is another one, and changes nothing then.
        """
        with self._changing(name) as connection:
            old = self.find_live(name)
            now = None if old is None else old.number
            if now == number:
                return
            if old is None and expected is not None:
                raise ProjectionError(
                    name, "the registry of the builds was removed meanwhile; run it again"
                )
            if now != expected:
                raise ProjectionError(
                    name, f"build {now} has gone live meanwhile; look at it, and try again"
                )
            if not self.is_known(name, number):
                raise ProjectionError(name, f"there is no build {number}; it was dropped")
            for state, which in ((LIVE, number), (KEPT, now)):
                connection.execute(
                    "UPDATE tapefold_builds SET state = ? WHERE name = ? AND build = ?",
                    (state, name, which),
                )
            connection.execute(
                "INSERT INTO tapefold_live VALUES (?, ?, NULL) ON CONFLICT (name) DO UPDATE SET "
                "before = build, build = excluded.build",
                (name, number),
            )

    def remove(self, name: str, number: int) -> None:
        """Forget a build that is not live."""
        with self._changing(name) as connection:
            live = self.find_live(name)
            if live is not None and live.number == number:
                raise ProjectionError(name, f"build {number} is live; switch to another one first")
            connection.execute(
                "DELETE FROM tapefold_builds WHERE name = ? AND build = ?", (name, number)
            )
            connection.execute(
                "DELETE FROM tapefold_programs WHERE name = ? AND build = ?", (name, number)
            )
            connection.execute(
                "UPDATE tapefold_live SET before = NULL WHERE name = ? AND before = ?",
                (name, number),
            )

    @contextmanager
    def _changing(self, name: str) -> Iterator[sqlite3.Connection]:
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            problem = error.strerror or str(error)
            raise BuildNotWritable(name, self.folder, problem) from error
        self._is_there()
        with named_faults(name, self.path):
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                for statement in _TABLES:
                    connection.execute(statement)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._let_others_in(connection)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = self._connect()
            # What is live must survive a loss of power, too.
            connection.execute("PRAGMA synchronous=FULL")
            self._connection = connection
            self._file = file_identity(self.path)
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        """On a full disk SQLite has no room for its index of the write-ahead log; so it is read
        without one, each time for a moment."""
        try:
            connection = connect(self.path)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError as error:
            if not is_of_its_place(error):
                raise
            try:
                connection = connect(self.path, create=False, alone=True)
            except sqlite3.Error:
                raise error from None
            self._is_alone = True
            return connection

    def _let_others_in(self, connection: sqlite3.Connection) -> None:
        if self._is_alone and not connection.in_transaction:
            self._is_alone = False
            self.close()


def store_path(name: str, path: Path | None) -> Path:
    """The file of a store. Raises `NoFiles` where it has none."""
    if path is None:
        raise NoFiles(name)
    return path
