"""A check of a whole store, or of one session in it. Changes nothing.

The file is read as quiet.py says, in one snapshot: nothing is written, not even beside it.
Should a program begin to write while it is read as an immutable file, the check is made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eventsourcing.persistence import JSONTranscoder, Mapper
from eventsourcing.utils import Environment

from .checkup_file import check_header, check_place
from .checkup_findings import Findings
from .checkup_forks import check_forks
from .checkup_rows import Row, RowCheck
from .errors import StoreError, StoreMissing
from .quiet import beside, connect_quietly, size_of
from .sqlite_address import StoreAddress
from .sqlite_errors import translate
from .sqlite_factory import TapeFactory
from .sqlite_schema import META_TABLE, Ask, LogSchema

APPLICATION = "tapefold"
"""The name that settings may have in front, as those of `Sessions`."""
BUSY_TIMEOUT = 5.0
"""Seconds that a lock is waited for."""
STEP = 500
"""Rows between two reports of the progress."""
PAGE_FAULTS = 100
"""Most faults of the file's pages that SQLite lists."""
RESUMED = 20
"""How often the reading of rows goes on behind a damaged place."""

Progress = Callable[[str, int, int], None]
"""Told (what is done, how much of it is done, how much there is; 0: not known)."""


@dataclass(frozen=True)
class Checkup:
    """What a check found. `sessions` and `events` were read; `foreign` are events of others."""

    store: str
    findings: Findings
    bytes: int
    sessions: int = 0
    events: int = 0
    foreign: int = 0


def check_store(
    env: Mapping[str, str], session_id: str | None = None, progress: Progress | None = None
) -> Checkup:
    """Check a store, or one session of it and what it inherits.

    `env`: the settings that an application opens the store with (sqlite_factory.py); cipher,
    compressor and table of events are taken from them. Memory does not grow with the store: it
    holds one event, the entry ids of one session, and what tells of forks. Raises `StoreError`
    where there is no file, or it may not be read at all.
    """
    factory = TapeFactory(Environment(APPLICATION, {**env}))
    address = factory.datastore.address
    if address.path is None:
        return Checkup(address.shown, Findings(), 0)
    mapper = factory.mapper(transcoder=JSONTranscoder())
    doctor = _Doctor(address, address.path, factory.datastore.events_table, mapper)
    for _ in range(2):
        before = _state_of(address.path)
        checkup = doctor.check(session_id, progress or (lambda what, done, total: None))
        if _state_of(address.path) == before:
            break
    return checkup


def _state_of(path: Path) -> tuple[int, int, bool]:
    """What changes when somebody writes; of a store that is in use, nothing that matters."""
    if size_of(beside(path, "-wal")):
        return (0, 0, True)
    try:
        found = path.stat()
    except OSError:
        return (0, 0, False)
    return (found.st_size, found.st_mtime_ns, False)


class _Doctor:
    """Checks one store."""

    def __init__(self, address: StoreAddress, path: Path, table: str, mapper: Mapper[str]) -> None:
        self._address = address
        self._path = path
        self._table = table
        self._mapper = mapper

    def check(self, session_id: str | None, tell: Progress) -> Checkup:
        """Check it once."""
        findings, path, shown = Findings(), self._path, self._address.shown
        tell("file", 0, 0)
        try:
            is_database = check_header(path, findings)
            check_place(path, findings)
        except FileNotFoundError:
            problem = "there is no store yet"
            advice = "`tapefold import FILE` makes it, or give --db"
            raise StoreMissing(shown, problem, advice) from None
        except OSError as error:
            problem = f"it cannot be read ({error.strerror or error})"
            raise StoreMissing(shown, problem, "check its path and rights") from None
        size = size_of(path)
        if not is_database:
            return Checkup(shown, findings, size)
        rows = RowCheck(findings, self._mapper)
        try:
            with closing(connect_quietly(path, wait=BUSY_TIMEOUT)) as database:
                database.execute("BEGIN")
                self._check_events(database, rows, session_id, tell)
        except sqlite3.Error as error:
            found = translate(error, self._address)
            said = self._problem(found) if isinstance(found, StoreError) else str(found)
            findings.add("cannot_read", said)
        return Checkup(shown, findings, size, rows.sessions, rows.events, rows.foreign)

    def _check_events(
        self, database: sqlite3.Connection, rows: RowCheck, session_id: str | None, tell: Progress
    ) -> None:
        if self._check_database(database, rows.findings, tell):
            _Scan(database, self._table, rows.findings, tell).run(rows, session_id)
            everything = session_id is None
            check_forks(database, self._table, rows, rows.findings, everything=everything)

    def _check_database(
        self, database: sqlite3.Connection, findings: Findings, tell: Progress
    ) -> bool:
        """The pages, the schema and the log's own notes. Whether the events can be looked at."""

        def ask(statement: str, params: Sequence[object]) -> list[Any]:
            return database.execute(statement, params).fetchall()

        tell("pages", 0, 0)
        _check_pages(database, findings)
        tell("schema", 0, 0)
        (mode,) = database.execute("PRAGMA journal_mode").fetchone()
        # An immutable file has no log: what it is set to stands in its header.
        if mode != "wal" and not self._is_set_to_log():
            findings.add("journal_mode", f"its journal mode is {mode!r}, not a write-ahead log")
        schema = LogSchema(self._address.shown, self._table)
        try:
            schema.check(ask)
            tables = {str(row[0]).lower() for row in ask("SELECT name FROM sqlite_master", ())}
            if self._table.lower() not in tables:
                findings.add("no_log", f"it holds no table {self._table}")
                return False
            if META_TABLE not in tables or not schema.is_noted(ask):
                findings.add("schema", "the notes of its log (schema version, uuid) are missing")
        except StoreError as error:
            findings.add("schema", self._problem(error))
            return False
        self._check_ids(ask, findings)
        return True

    def _check_ids(self, ask: Ask, findings: Findings) -> None:
        """No id is given twice: SQLite's memory of them is ahead of every row."""
        last = ask(f"SELECT MAX(id) FROM {self._table}", ())[0][0] or 0
        kept = ask("SELECT seq FROM sqlite_sequence WHERE name = ?", (self._table,))
        if last and (not kept or not isinstance(kept[0][0], int) or kept[0][0] < last):
            said = kept[0][0] if kept else "nothing"
            text = f"the newest id is {last}, its memory of used ids says {said}"
            findings.add("used_ids", text)

    def _is_set_to_log(self) -> bool:
        with self._path.open("rb") as file:
            return file.read(20)[18:20] == b"\x02\x02"

    def _problem(self, error: Exception) -> str:
        return str(error).removeprefix(f"store {self._address.shown!r}: ")


def _check_pages(database: sqlite3.Connection, findings: Findings) -> None:
    try:
        for (said,) in database.execute(f"PRAGMA integrity_check({PAGE_FAULTS})"):
            for line in str(said).splitlines():
                if line != "ok" and not line.startswith("*** in database"):
                    findings.add("integrity", line)
    except sqlite3.DatabaseError as error:
        findings.add("integrity", str(error))


# -- the events --------------------------------------------------------------------------------


class _Scan:
    """Reads the rows in order of session and position, and goes on behind a damaged place."""

    def __init__(
        self, database: sqlite3.Connection, table: str, findings: Findings, tell: Progress
    ) -> None:
        self._database = database
        self._table = table
        self._findings = findings
        self._tell = tell
        self._done = 0
        self._total = 0

    def run(self, check: RowCheck, session_id: str | None) -> None:
        """Check all sessions, or one and those whose tapes it inherits."""
        if session_id is None:
            counted = self._database.execute(f"SELECT COUNT(*) FROM {self._table}")
            (self._total,) = counted.fetchone()
            self._take(check, self._everything())
            return
        seen: set[str] = set()
        following: str | None = session_id
        while following is not None and following not in seen:
            seen.add(following)
            self._take(check, self._rows("WHERE originator_id = ?", (following,)))
            origin = check.origins.get(following)
            following = origin.session_id if origin is not None and origin.inherit else None

    def _take(self, check: RowCheck, rows: Iterator[Row]) -> None:
        for row in rows:
            check.take(row)
            self._done += 1
            if self._done % STEP == 0:
                self._tell("events", self._done, self._total)
        self._tell("events", self._done, self._total)

    def _everything(self) -> Iterator[Row]:
        last: object = None
        where, params = "", ()
        for _ in range(RESUMED):
            read = 0
            try:
                for row in self._rows(where, params):
                    read, last = read + 1, row[1]
                    yield row
                return
            except sqlite3.DatabaseError as error:
                after = "" if last is None else f" after events of session {last!r}"
                self._findings.add("cannot_read", f"the reading of events fails{after}: {error}")
            if not read:
                return
            where, params = "WHERE originator_id > ?", (last,)  # type: ignore[assignment]

    def _rows(self, where: str, params: Sequence[object]) -> Iterator[Row]:
        statement = (
            "SELECT id, originator_id, originator_version, topic, state "
            f"FROM {self._table} {where} ORDER BY originator_id, originator_version"
        )
        return self._database.execute(statement, params)
