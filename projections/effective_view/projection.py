"""The effective view as a projection."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import ClassVar

from ..bodies import state_at
from ..declaration import Projection, Table
from ..differences import Difference
from ..log import Log
from .fold import EffectiveFold
from .schema import TABLES


class EffectiveView(Projection):
    """What every session says at its leaf, in tables."""

    NAME: ClassVar[str] = "effective_view"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    def open(self, log: Log, session_id: str, position: int) -> EffectiveFold:
        return EffectiveFold(log, *state_at(log, session_id, position))

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)
