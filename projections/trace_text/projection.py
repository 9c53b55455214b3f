"""The full text as a projection: the later stage of the trace index."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import cache
from sqlite3 import Connection
from typing import ClassVar

from ..declaration import Projection, Table
from ..differences import Difference
from ..errors import ProjectionError
from ..log import Log
from .fold import TextFold
from .schema import TABLES
from .writing import drop_texts, index_waiting


class NoFullText(ProjectionError):
    """Python's SQLite was built without FTS5."""

    def __init__(self, name: str) -> None:
        super().__init__(
            name,
            f"this Python's SQLite ({sqlite3.sqlite_version}) has no FTS5, which full text needs; "
            "use a Python whose SQLite has it",
        )


class TraceText(Projection):
    """Every text of every session, with an index of words."""

    NAME: ClassVar[str] = "trace_text"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    @classmethod
    def fingerprint(cls) -> str:
        """As the others'. Raises `NoFullText`: whoever makes or opens a file asks this first."""
        if not has_fts5():
            raise NoFullText(cls.NAME)
        return super().fingerprint()

    def open(self, log: Log, session_id: str, position: int) -> TextFold:
        fold = TextFold(log, session_id)
        if position:
            fold.replay(log.tapes.heads(session_id, 0, position))
        return fold

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)

    def settle(self, connection: Connection) -> None:
        index_waiting(connection)

    def forget(self, connection: Connection, session_id: str) -> None:
        drop_texts(connection, "session_id = ?", (session_id,))


@cache
def has_fts5() -> bool:
    """Whether Python's SQLite can index words."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True
