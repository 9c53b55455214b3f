"""What went wrong: an event, a database that may recover, or a file that is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final

from eventsourcing.persistence import DatabaseError, InterfaceError, OperationalError

from tapefold.persistence.errors import (
    StoreClosed,
    StoreError,
    StoreForked,
    StoreTooNew,
    StoreUnreadable,
)

from .errors import BuildBusy, BuildDamaged, BuildFault, BuildNotWritable, ProjectionError

_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_PLACE: Final = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_SCHEMA,
}
NEEDED: Final = 64 << 10
"""Bytes that a disk must have free for SQLite to work at all, about."""

_FOR_GOOD: Final = (BuildDamaged, StoreClosed, StoreForked, StoreTooNew)
"""What no waiting helps against."""


def is_database_fault(error: BaseException) -> bool:
    """Whether an error says nothing about the event that was applied: nothing is parked for it."""
    if isinstance(error, sqlite3.Error):
        return _primary(error) in _BUSY | _DAMAGED | _PLACE or _lacks_a_table(error)
    if isinstance(error, StoreError | BuildFault | MemoryError | OSError):
        return True
    return isinstance(error, InterfaceError | OperationalError) or type(error) is DatabaseError


def may_pass(error: BaseException) -> bool:
    """Whether it is worth while to try again later: a lock, a full disk, a file that is gone."""
    if isinstance(error, _FOR_GOOD) or _is_damage(error):
        return False
    return is_database_fault(error)


@contextmanager
def named_faults(name: str, path: Path) -> Iterator[None]:
    """Turn what SQLite says of a projection's file into a typed error with the next step."""
    try:
        yield
    except sqlite3.Error as error:
        raise named(error, name, path) from error


def named(error: sqlite3.Error, name: str, path: Path) -> ProjectionError:
    """The typed error for what SQLite said of a projection's file."""
    code = _primary(error)
    if code in _BUSY:
        return BuildBusy(name, path)
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists() and path.parent.exists():
        return BuildNotWritable(name, path, "it is not there, and cannot be made")
    if code in _PLACE:
        return BuildNotWritable(name, path, _problem_of(error, path))
    return BuildDamaged(name, path, str(error))


def _problem_of(error: sqlite3.Error, path: Path) -> str:
    """SQLite calls it `disk I/O error` where a full disk has no room for its shared memory."""
    with suppress(OSError):
        if disk_usage(path.parent).free < NEEDED:
            return "the disk is full"
    return str(error)


def _is_damage(error: BaseException) -> bool:
    if isinstance(error, StoreUnreadable):
        return False  # a backup may be on its way into the file
    return isinstance(error, sqlite3.Error) and (
        _primary(error) in _DAMAGED or _lacks_a_table(error)
    )


def is_of_its_place(error: sqlite3.Error) -> bool:
    """Whether the place of a file is at fault: a full disk, rights, a folder; not its content."""
    return _primary(error) in _PLACE


def is_damage(error: BaseException) -> bool:
    """Whether a projection's file is damaged, or of another kind."""
    return isinstance(error, BuildDamaged) or _is_damage(error)


def _lacks_a_table(error: sqlite3.Error) -> bool:
    # The one plain SQL error that tells of the file and not of the row.
    return isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such table")


def _primary(error: sqlite3.Error) -> int:
    # The driver sets the code only for errors that SQLite itself reported.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
