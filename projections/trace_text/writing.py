"""Writes texts, and the index over them in step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any, Final

from .collecting import Row
from .folding import folded
from .schema import TEXTS

_PUT: Final = (
    f"INSERT INTO tt_texts (rowid, {', '.join(TEXTS.names)}) "
    f"VALUES (?, {', '.join('?' * len(TEXTS.names))})"
)
_PUT_NEXT: Final = f"INSERT INTO tt_texts VALUES ({', '.join('?' * len(TEXTS.names))})"
_STATE: Final = (
    "SELECT upto, characters, (SELECT coalesce(max(rowid), 0) FROM tt_texts) FROM tapefold_indexed"
)
# A plain text is folded by the index itself, with no detour through Python.
_INDEX: Final = (
    "INSERT INTO tt_words (rowid, text) "
    "SELECT rowid, CASE is_plain WHEN 1 THEN text ELSE tt_folded(text) END "
    "FROM tt_texts WHERE rowid > ?"
)
_UNINDEX: Final = (
    "INSERT INTO tt_words (tt_words, rowid, text) "
    "SELECT 'delete', rowid, CASE is_plain WHEN 1 THEN text ELSE tt_folded(text) END "
    "FROM tt_texts WHERE rowid = ?"
)

BACKLOG: Final = 4_000
"""How many texts wait for the index at most. A search looks through them itself. More would make
the index no faster to write: four and thirty thousand took the same."""

CHARACTERS: Final = 2_000_000
"""How many characters wait at most: large texts fill the index by themselves."""


def indexed_upto(connection: Connection) -> int:
    """The rowid of the last text that is in the index."""
    return int(connection.execute("SELECT upto FROM tapefold_indexed").fetchone()[0])


def put_texts(connection: Connection, rows: Sequence[Row], *, at_once: bool = False) -> None:
    """Write texts whose keys are free. `at_once`: into the index, too, however few there are."""
    if not rows:
        return
    upto, waiting, last = connection.execute(_STATE).fetchone()
    if last >= upto:
        connection.executemany(_PUT_NEXT, rows)  # SQLite gives the next rowids
    else:  # the last ones were deleted, and their numbers are known to the index
        last = upto
        connection.executemany(_PUT, [(last + n, *row) for n, row in enumerate(rows, 1)])
    last += len(rows)
    waiting += sum(len(row[-1]) for row in rows)
    if at_once or last - upto > BACKLOG or waiting > CHARACTERS:
        _index(connection, upto, last)
    else:
        connection.execute("UPDATE tapefold_indexed SET characters = ?", (waiting,))


def index_waiting(connection: Connection) -> None:
    """Put all texts that wait into the index."""
    upto, _, last = connection.execute(_STATE).fetchone()
    if last > upto:
        _index(connection, upto, last)


def _index(connection: Connection, after: int, upto: int) -> None:
    _give_folding(connection)
    connection.execute(_INDEX, (after,))
    connection.execute("UPDATE tapefold_indexed SET upto = ?, characters = 0", (upto,))


def drop_texts(connection: Connection, where: str, params: Iterable[Any]) -> None:
    """Delete texts."""
    found = connection.execute(f"SELECT rowid FROM tt_texts WHERE {where}", tuple(params))
    rowids = found.fetchall()
    if not rowids:
        return
    _give_folding(connection)
    upto = indexed_upto(connection)
    connection.executemany(_UNINDEX, [one for one in rowids if one[0] <= upto])
    connection.executemany("DELETE FROM tt_texts WHERE rowid = ?", rowids)


def _give_folding(connection: Connection) -> None:
    connection.create_function("tt_folded", 1, folded, deterministic=True)
