"""The texts that a fork inherits, as they stand in the fork: from the tapes of its ancestors.

The parent's own rows may say something else by now: what it revised or struck out after the fork
stands in the fork as it was; and what the fork itself revised or struck out shows here no more.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from sqlite3 import Connection

from tapefold.loading import load_state

from ..bodies import Bodies
from ..log import Log
from .collecting import Row, Texts
from .schema import TABLES
from .writing import put_texts


def inherited_texts(connection: Connection, log: Log, session_id: str) -> Connection | None:
    """Tables in memory with what a session inherits, at the position that the projection has
    reached; None where it inherits nothing. The caller closes them. Linear in what is inherited."""
    found = connection.execute(
        "SELECT position FROM tapefold_positions WHERE session_id = ?", (session_id,)
    ).fetchone()
    first = None if found is None else log.tapes.first_head(session_id)
    if found is None or first is None or first.origin is None or not first.origin.inherit:
        return None
    state = load_state(log.tapes, session_id, found[0], log.bases)
    texts = Texts(state, Bodies(log, state), inherited=True)
    return texts_in_memory(list(texts.everything()))


def texts_in_memory(rows: Sequence[Row]) -> Connection:
    """Tables in memory with texts, all of them indexed."""
    tables = sqlite3.connect(":memory:", isolation_level=None)
    for table in TABLES:
        for statement in table.statements():
            tables.execute(statement)
    put_texts(tables, rows, at_once=True)
    return tables
