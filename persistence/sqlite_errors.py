"""From what the SQLite driver raises to our typed errors."""

from __future__ import annotations

import os
import sqlite3

from eventsourcing.persistence import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    PersistenceError,
    ProgrammingError,
)

from tapefold.persistence.errors import (
    StoreBusy,
    StoreError,
    StoreFailed,
    StoreMissing,
    StoreNotWritable,
    StoreUnreadable,
)
from tapefold.persistence.sqlite_address import StoreAddress

# What binding a value raises by itself: an integer beyond 64 bits, text that is not valid.
BindingError = (OverflowError, UnicodeEncodeError)
DriverError = (sqlite3.Error, *BindingError)

# Extended codes of SQLITE_IOERR that speak of damage or of reading. The others are about writing.
_READ_FAILURES = frozenset(
    {
        sqlite3.SQLITE_IOERR_READ,
        sqlite3.SQLITE_IOERR_SHORT_READ,
        sqlite3.SQLITE_IOERR_CORRUPTFS,
        8202,  # SQLITE_IOERR_DATA, a checksum failed; not named by Python 3.11
    }
)
_CHECK_COPY = "restore a backup, or try to save what is left with sqlite3's .recover"
_CHECK_DISK = "check the rights of the file and its folder, and the space on the disk"

_BY_CODE: dict[int, tuple[type[StoreError], str, str]] = {
    sqlite3.SQLITE_NOTADB: (
        StoreUnreadable,
        "it is not a SQLite database",
        "give the path of a store, or a new one",
    ),
    sqlite3.SQLITE_CORRUPT: (StoreUnreadable, "it is damaged", _CHECK_COPY),
    sqlite3.SQLITE_FORMAT: (StoreUnreadable, "it is damaged", _CHECK_COPY),
    sqlite3.SQLITE_READONLY: (StoreNotWritable, "it is read-only", _CHECK_DISK),
    sqlite3.SQLITE_PERM: (StoreNotWritable, "access is not permitted", _CHECK_DISK),
    sqlite3.SQLITE_AUTH: (StoreNotWritable, "access is not permitted", _CHECK_DISK),
    sqlite3.SQLITE_FULL: (StoreNotWritable, "the disk is full", _CHECK_DISK),
}
_BUSY_CODES = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL})

# PEP 249, most special first; the library has a class of the same name for each.
_BY_CLASS: tuple[tuple[type[sqlite3.Error], type[PersistenceError]], ...] = (
    (sqlite3.IntegrityError, IntegrityError),
    (sqlite3.DataError, DataError),
    (sqlite3.InternalError, InternalError),
    (sqlite3.ProgrammingError, ProgrammingError),
    (sqlite3.NotSupportedError, NotSupportedError),
    (sqlite3.InterfaceError, InterfaceError),
    (sqlite3.DatabaseError, DatabaseError),
)


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether somebody else's lock is in the way, so that trying again may help."""
    return _primary(error) in _BUSY_CODES


def is_taken(error: sqlite3.Error) -> bool:
    """Tell whether a row with this key is there already (and not another constraint failed)."""
    return getattr(error, "sqlite_errorcode", 0) in (
        sqlite3.SQLITE_CONSTRAINT_UNIQUE,
        sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    )


def is_missing(error: sqlite3.Error) -> bool:
    """Tell whether a column that must have a value got none."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_NOTNULL


def translate(error: BaseException, address: StoreAddress, *, at_commit: bool = False) -> Exception:
    """Return the typed error for what the driver raised; the caller raises it `from` the cause.

    `at_commit`: the failure came while committing, so that a write-ahead log on a failing disk
    may still hold what was written; the text then says to look before writing again.
    """
    if isinstance(error, BindingError):
        return DataError(f"store {address.shown!r}: a value cannot be stored: {error}")
    if not isinstance(error, sqlite3.Error):
        raise TypeError(f"no error of the driver: {error!r}")
    found = _classify(error, address)
    if found is None:
        for theirs, ours in _BY_CLASS:
            if isinstance(error, theirs) and not isinstance(error, sqlite3.OperationalError):
                return ours(f"store {address.shown!r}: {error}")
        found = (StoreFailed, str(error), "see the cause")
    kind, problem, advice = found
    if at_commit:
        advice = f"whether the last append is stored is not certain, so read it again; {advice}"
    return kind(address.shown, problem, advice)


def _classify(
    error: sqlite3.Error, address: StoreAddress
) -> tuple[type[StoreError], str, str] | None:
    primary = _primary(error)
    if primary in _BUSY_CODES:
        return (
            StoreBusy,
            f"another connection holds a lock ({error})",
            "try again, end the other one, or raise SQLITE_LOCK_TIMEOUT",
        )
    if primary == sqlite3.SQLITE_CANTOPEN:
        return _why_not_opened(error, address)
    if primary == sqlite3.SQLITE_IOERR:
        if error.sqlite_errorcode in _READ_FAILURES:
            return StoreUnreadable, f"it cannot be read ({_name(error)})", _CHECK_COPY
        return StoreNotWritable, f"it cannot be written ({_name(error)})", _CHECK_DISK
    if primary == sqlite3.SQLITE_ERROR and "no such table" in str(error):
        return StoreMissing, f"{error}", "make the tables (CREATE_TABLE), or give another path"
    if primary in _BY_CODE:
        kind, problem, advice = _BY_CODE[primary]
        return kind, f"{problem} ({error})", advice
    return None


def _why_not_opened(
    error: sqlite3.Error, address: StoreAddress
) -> tuple[type[StoreError], str, str]:
    path = address.path
    if path is not None and path.is_dir():
        return StoreUnreadable, "it is a folder", "give the path of a file"
    if path is not None and not path.exists():
        return StoreMissing, "the file does not exist", "give another path, or make the store"
    if path is not None and not os.access(path, os.R_OK):
        return StoreUnreadable, "it may not be read", _CHECK_DISK
    return StoreNotWritable, f"it cannot be opened ({error})", _CHECK_DISK


def _primary(error: sqlite3.Error) -> int:
    # The driver sets the code only for errors that SQLite itself reported.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", error))
