"""Reading a store without leaving a trace, and without loading anything but the driver.

A store that no program has open is read as an immutable file: SQLite then makes no file beside
it. One with a write-ahead log beside it is in use, or was left by a program that was killed; it
is read as any reader does.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote


def beside(path: Path, suffix: str) -> Path:
    """The file that SQLite keeps beside a database: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def quiet_uri(path: Path) -> str:
    """The address to read a store with, so that nothing is written on any account."""
    mode = "mode=ro" if size_of(beside(path, "-wal")) else "mode=ro&immutable=1"
    return f"file:{quote(str(path))}?{mode}"


def connect_quietly(path: Path, *, wait: float) -> sqlite3.Connection:
    """A connection that cannot write. `wait`: seconds that a lock is waited for.

    Text that is no UTF-8 comes out with surrogates. Raises `sqlite3.Error`.
    """
    database = sqlite3.connect(quiet_uri(path), uri=True, timeout=wait, isolation_level=None)
    database.execute("PRAGMA query_only=1")
    database.execute("PRAGMA trusted_schema=0")
    database.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return database
