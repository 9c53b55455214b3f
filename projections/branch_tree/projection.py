"""The branch tree and the session index as a projection."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import ClassVar

from ..bodies import state_at
from ..declaration import Projection, Table
from ..differences import Difference
from ..log import Log
from .fold import TreeFold
from .schema import TABLES


class BranchTree(Projection):
    """Every entry of every session, and the index of the sessions."""

    NAME: ClassVar[str] = "branch_tree"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    def open(self, log: Log, session_id: str, position: int) -> TreeFold:
        return TreeFold(log, *state_at(log, session_id, position))

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)
