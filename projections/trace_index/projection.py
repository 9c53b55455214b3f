"""The trace index as a projection."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import ClassVar

from ..declaration import Projection, Table
from ..differences import Difference
from ..log import Log
from .fold import TraceFold
from .schema import TABLES


class TraceIndex(Projection):
    """What was sent to models, and what was done: requests, attempts, calls, trace ids."""

    NAME: ClassVar[str] = "trace_index"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    def open(self, log: Log, session_id: str, position: int) -> TraceFold:
        fold = TraceFold(log, session_id)
        if position:
            fold.replay(log.tapes.heads(session_id, 0, position))
        return fold

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)
