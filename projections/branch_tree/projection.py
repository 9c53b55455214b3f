"""The branch tree and the session index as a projection."""

from __future__ import annotations

from collections.abc import Iterator
from sqlite3 import Connection
from typing import ClassVar

from tapefold.domain.kernel import State
from tapefold.loading import load_state

from ..declaration import Projection, Table
from ..differences import Difference
from ..effective_view.bodies import load_fork_basis
from ..log import Log
from .fold import TreeFold
from .schema import TABLES


class BranchTree(Projection):
    """Every entry of every session, and the index of the sessions."""

    NAME: ClassVar[str] = "branch_tree"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = TABLES

    def open(self, log: Log, session_id: str, position: int) -> TreeFold:
        if not position:
            return TreeFold(log, State(session_id), None)
        state = load_state(log.tapes, session_id, position, log.bases)
        origin, basis = state.origin, None
        if origin is not None and origin.inherit:
            basis = load_fork_basis(log, session_id, origin)
        return TreeFold(log, state, basis)

    def against_kernel(
        self, connection: Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        from .checking import against_kernel

        return against_kernel(connection, log, session_id, position)
