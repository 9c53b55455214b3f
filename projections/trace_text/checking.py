"""Compares the texts with what the kernel's state says of each entry, and the index with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from sqlite3 import Connection
from typing import Any

from tapefold.domain.view import build_view
from tapefold.loading import load_state

from ..bodies import Bodies
from ..differences import ADDED, CHANGED, REMOVED, Difference
from ..log import Log
from ..values import text_of
from .collecting import ENTRY, SAID, Row, Texts
from .folding import folded
from .pieces import message_pieces, spoken_of
from .schema import TEXTS
from .writing import indexed_upto


def against_kernel(
    connection: Connection, log: Log, session_id: str, position: int
) -> Iterator[Difference]:
    """Texts that differ from those of the session's state, texts of the view that are missing,
    and an index that does not fit the texts."""
    state = load_state(log.tapes, session_id, position, log.bases)
    size = len(TEXTS.key)
    true = {row[:size]: row for row in Texts(state, Bodies(log, state)).everything()}
    stored: dict[tuple[Any, ...], Row] = {}
    for row in connection.execute("SELECT * FROM tt_texts WHERE session_id = ?", (session_id,)):
        if row[2] != ENTRY or row[6] is not None:  # a record without an id is no node
            stored[row[:size]] = row
    for key in sorted(stored.keys() | true.keys()):
        if key not in true:
            yield Difference(TEXTS.name, REMOVED, key)
        elif key not in stored:
            yield Difference(TEXTS.name, ADDED, key)
        elif stored[key] != true[key]:
            pairs = zip(TEXTS.names, stored[key], true[key], strict=True)
            yield Difference(TEXTS.name, CHANGED, key, tuple(p for p in pairs if p[1] != p[2]))
    view = build_view(state, log.tapes, include_pending=True)
    for message in view.messages:
        if message.session_id != session_id:
            continue
        for number, piece in enumerate(
            message_pieces(spoken_of(message.body.to_json()), message.role)
        ):
            key = (session_id, text_of(message.message_id), SAID, number)
            if key not in stored or stored[key][-1] != piece.text:
                yield Difference(TEXTS.name, ADDED, key)
    yield from _index(connection, session_id)


def _index(connection: Connection, session_id: str) -> Iterator[Difference]:
    """Texts that the index does not find by a word of theirs."""
    rows = connection.execute(
        "SELECT rowid, session_id, item, part, number, text FROM tt_texts "
        "WHERE session_id = ? AND rowid <= ?",
        (session_id, indexed_upto(connection)),
    )
    for rowid, *key, text in rows:
        found = _WORD.search(text)
        if found is None:
            continue
        asked = (f'"{folded(found[0])}"', rowid)
        sql = "SELECT 1 FROM tt_words WHERE tt_words MATCH ? AND rowid = ?"
        if connection.execute(sql, asked).fetchone() is None:
            yield Difference("tt_words", ADDED, tuple(key))


_WORD = re.compile(
    r"(?<![^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f])[a-zA-Z0-9]+(?![a-zA-Z0-9]|[^\x00-\x7f])"
)
"""An ASCII word with nothing beyond ASCII beside it: it is one word of the index."""
