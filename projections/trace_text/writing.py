"""Writes texts, and the indexes over them in step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any, Final

from .collecting import Row
from .schema import TEXTS

_PUT: Final = (
    f"INSERT INTO tt_texts (rowid, {', '.join(TEXTS.names)}) "
    f"VALUES (?, {', '.join('?' * len(TEXTS.names))})"
)
_INDEX: Final = "INSERT INTO tt_words (rowid, text) VALUES (?, ?)"
_UNINDEX: Final = "INSERT INTO tt_words (tt_words, rowid, text) VALUES ('delete', ?, ?)"
_ASCII: Final = bytes(range(128))


def folded(text: str) -> str:
    """Text as it is compared: letter case does not count. Every part of a text is, folded, a
    part of the folded text."""
    if text.isascii():
        return text.lower()
    encoded = text.encode()
    beyond = encoded.translate(None, _ASCII).decode()
    if beyond.casefold() == beyond:  # nothing but ASCII to fold: five times as fast
        return encoded.lower().decode()
    return text.casefold()


BACKLOG: Final = 4_000
"""How many texts wait for the index at most. A search looks through them itself. More would make
the index no faster to write: four and thirty thousand took the same."""


def indexed_upto(connection: Connection) -> int:
    """The rowid of the last text that is in the index."""
    return int(connection.execute("SELECT upto FROM tapefold_indexed").fetchone()[0])


def put_texts(connection: Connection, rows: Sequence[Row], *, at_once: bool = False) -> None:
    """Write texts whose keys are free. `at_once`: into the index, too, however few there are."""
    if not rows:
        return
    upto = indexed_upto(connection)
    last = connection.execute("SELECT coalesce(max(rowid), 0) FROM tt_texts").fetchone()[0]
    first = 1 + max(last, upto)
    connection.executemany(_PUT, [(first + n, *row) for n, row in enumerate(rows)])
    if at_once or first + len(rows) - upto > BACKLOG:
        _index(connection, upto, first + len(rows) - 1)


def index_waiting(connection: Connection) -> None:
    """Put all texts that wait into the index."""
    upto = indexed_upto(connection)
    last = connection.execute("SELECT coalesce(max(rowid), 0) FROM tt_texts").fetchone()[0]
    if last > upto:
        _index(connection, upto, last)


def _index(connection: Connection, after: int, upto: int) -> None:
    waiting = connection.execute("SELECT rowid, text FROM tt_texts WHERE rowid > ?", (after,))
    connection.executemany(_INDEX, ((rowid, folded(text)) for rowid, text in waiting))
    connection.execute("UPDATE tapefold_indexed SET upto = ?", (upto,))


def drop_texts(connection: Connection, where: str, params: Iterable[Any]) -> None:
    """Delete texts."""
    found = connection.execute(
        f"SELECT rowid, text FROM tt_texts WHERE {where}", tuple(params)
    ).fetchall()
    if not found:
        return
    upto = indexed_upto(connection)
    indexed = [(rowid, folded(text)) for rowid, text in found if rowid <= upto]
    connection.executemany(_UNINDEX, indexed)
    connection.executemany("DELETE FROM tt_texts WHERE rowid = ?", [(r,) for r, _ in found])
