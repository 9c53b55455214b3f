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


def folded(text: str) -> str:
    """Text as it is compared: letter case does not count. Every part of a text is, folded, a
    part of the folded text."""
    return text.lower() if text.isascii() else text.casefold()


def put_texts(connection: Connection, rows: Sequence[Row]) -> None:
    """Write texts whose keys are free."""
    if not rows:
        return
    first = 1 + connection.execute("SELECT coalesce(max(rowid), 0) FROM tt_texts").fetchone()[0]
    connection.executemany(_PUT, [(first + n, *row) for n, row in enumerate(rows)])
    connection.executemany(_INDEX, [(first + n, folded(row[-1])) for n, row in enumerate(rows)])


def drop_texts(connection: Connection, where: str, params: Iterable[Any]) -> None:
    """Delete texts."""
    found = connection.execute(
        f"SELECT rowid, text FROM tt_texts WHERE {where}", tuple(params)
    ).fetchall()
    if not found:
        return
    connection.executemany(_UNINDEX, [(rowid, folded(text)) for rowid, text in found])
    connection.executemany("DELETE FROM tt_texts WHERE rowid = ?", [(r,) for r, _ in found])
