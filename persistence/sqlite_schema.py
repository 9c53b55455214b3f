"""The tables of a SQLite store, and the checks before a store is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from tapefold.persistence.errors import (
    StoreMissing,
    StoreSettingsRefused,
    StoreTooNew,
    TableClash,
)
from tapefold.persistence.sqlite_connection import Row

SCHEMA_VERSION = 1
META_TABLE = "tapefold_meta"
DEFAULT_EVENTS_TABLE = "tapefold_events"
DEFAULT_TRACKING_TABLE = "tapefold_tracking"

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_MADE_BY = re.compile(
    r"\s*CREATE\s+(?:TABLE|(?:UNIQUE\s+)?INDEX)\s+IF\s+NOT\s+EXISTS\s+(\w+)", re.IGNORECASE
)

Ask = Callable[[str, Sequence[object]], list[Row]]


def check_identifier(name: str) -> str:
    """Return the name of a table if it is a plain identifier; raises StoreSettingsRefused.

    A name cannot be a bound parameter of SQL, so nothing else may come near a statement.
    """
    if not _IDENTIFIER.fullmatch(name) or name.lower().startswith("sqlite_"):
        raise StoreSettingsRefused(
            f"{name!r} cannot name a table; use up to 63 letters, digits and underscores, "
            "not beginning with a digit or with sqlite_"
        )
    if name.lower() == META_TABLE:
        raise StoreSettingsRefused(f"the table {META_TABLE} is ours; choose another name")
    return name


def sibling_table(events_table: str, purpose: str) -> str:
    """Name a further table of the log: `tapefold_events`, `snapshots` → `tapefold_snapshots`."""
    stem = events_table.removesuffix("_events")
    return check_identifier(f"{stem}_{purpose}")


def events_statement(table: str) -> str:
    """Return the statement that makes the table of events.

    AUTOINCREMENT: an id is never given twice, even after the newest row was deleted; being
    declared, it survives VACUUM and a dump. The library's table has neither.
    """
    return (
        f"CREATE TABLE IF NOT EXISTS {table} ("
        "id INTEGER PRIMARY KEY AUTOINCREMENT, "
        "originator_id TEXT NOT NULL, "
        "originator_version INTEGER NOT NULL, "
        "topic TEXT NOT NULL, "
        "state BLOB NOT NULL, "
        "UNIQUE(originator_id, originator_version))"
    )


META_STATEMENT = (
    f"CREATE TABLE IF NOT EXISTS {META_TABLE} (key TEXT PRIMARY KEY, value TEXT NOT NULL)"
)
META_INSERT = f"INSERT OR IGNORE INTO {META_TABLE} (key, value) VALUES (?, ?)"


def tracking_statement(table: str, *, single_row: bool) -> str:
    """Return the statement that makes a table of positions: one row a log, or one an event."""
    key = "application_name" if single_row else "application_name, notification_id"
    return (
        f"CREATE TABLE IF NOT EXISTS {table} ("
        "application_name TEXT NOT NULL, "
        "notification_id INTEGER NOT NULL, "
        f"PRIMARY KEY ({key})) WITHOUT ROWID"
    )


def are_made(statements: Sequence[str], ask: Ask) -> bool:
    """Tell whether all that these statements make is there, so that no lock has to be taken."""
    there = {str(row[0]).lower() for row in ask("SELECT name FROM sqlite_master", ())}
    for statement in statements:
        made = _MADE_BY.match(statement)
        if made is None or made[1].lower() not in there:
            return False
    return True


@dataclass(frozen=True, slots=True)
class LogSchema:
    """The schema of one log, a table of events, in the store `shown`."""

    shown: str
    table: str

    def meta_rows(self) -> list[tuple[str, str]]:
        """Return what is noted when the log begins. The uuid is random and stays for ever."""
        return [
            (f"{self.table}.schema_version", str(SCHEMA_VERSION)),
            (f"{self.table}.log_uuid", str(uuid4())),
        ]

    def is_noted(self, ask: Ask) -> bool:
        """Tell whether both rows are there."""
        keys = [key for key, _ in self.meta_rows()]
        found = ask(f"SELECT count(*) FROM {META_TABLE} WHERE key IN (?, ?)", keys)
        return bool(found[0][0] == len(keys))

    def log_uuid(self, ask: Ask) -> str:
        """Return the uuid of the log; raises StoreMissing if there is no log."""
        found = ask(f"SELECT value FROM {META_TABLE} WHERE key = ?", (f"{self.table}.log_uuid",))
        if not found:
            raise StoreMissing(
                self.shown, f"it holds no log {self.table}", "make its tables (CREATE_TABLE)"
            )
        return str(found[0][0])

    def check(self, ask: Ask) -> None:
        """Raise TableClash or StoreTooNew if the tables, as far as they exist, are not ours."""
        types = {
            str(name).lower(): (kind, sql or "")
            for name, kind, sql in ask("SELECT name, type, sql FROM sqlite_master", ())
        }
        if META_TABLE in types:
            self._check_meta(types[META_TABLE][0], ask)
        if self.table.lower() in types:
            kind, sql = types[self.table.lower()]
            self._check_events(kind, sql, ask)

    def _check_meta(self, kind: str, ask: Ask) -> None:
        names = {str(row[0]) for row in ask("SELECT name FROM pragma_table_info(?)", (META_TABLE,))}
        if kind != "table" or names != {"key", "value"}:
            raise TableClash(
                self.shown,
                f"its table {META_TABLE} was not made by tapefold",
                "rename that table, or use another file",
            )
        key = f"{self.table}.schema_version"
        for (found,) in ask(f"SELECT value FROM {META_TABLE} WHERE key = ?", (key,)):
            if not (str(found).isdecimal() and int(found) <= SCHEMA_VERSION):
                raise StoreTooNew(self.shown, str(found), SCHEMA_VERSION)

    def _check_events(self, kind: str, sql: str, ask: Ask) -> None:
        columns = {
            str(name): key
            for name, key in ask("SELECT name, pk FROM pragma_table_info(?)", (self.table,))
        }
        wanted = {"id", "originator_id", "originator_version", "topic", "state"}
        ours = kind == "table" and wanted <= columns.keys() and columns["id"] == 1
        if not ours or "AUTOINCREMENT" not in sql.upper() or not self._is_unique(ask):
            raise TableClash(
                self.shown,
                f"its table {self.table} was not made by tapefold",
                "set TAPEFOLD_EVENTS_TABLE to another name; "
                "docs/seams.md says how to copy the library's own table",
            )

    def _is_unique(self, ask: Ask) -> bool:
        indices = ask(
            'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial', (self.table,)
        )
        return any(
            [row[0] for row in ask("SELECT name FROM pragma_index_info(?) ORDER BY seqno", index)]
            == ["originator_id", "originator_version"]
            for index in indices
        )
