"""The effective view as a projection."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import ClassVar

from tapefold.domain.kernel import State
from tapefold.loading import load_state

from ..declaration import Projection, Table
from ..differences import Difference
from ..log import Log
from .bodies import load_fork_basis
from .fold import EffectiveFold
from .schema import TABLES


class EffectiveView(Projection):
    """What every session says at its leaf, in tables."""

    NAME: ClassVar[str] = "effective_view"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    def open(self, log: Log, session_id: str, position: int) -> EffectiveFold:
        if not position:
            return EffectiveFold(log, State(session_id), None)
        state = load_state(log.tapes, session_id, position, log.bases)
        origin, basis = state.origin, None
        if origin is not None and origin.inherit:
            basis = load_fork_basis(log, session_id, origin)
        return EffectiveFold(log, state, basis)

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)
