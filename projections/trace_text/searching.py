"""Searching texts: by words, and literally for any part of a text.

A blank query finds nothing, and no character of a query has a meaning of its own. Letter case does
not count. By words: each word of the query has to be in the text as a whole word; best match first.
Literally: the query has to be in the text as it stands, in the middle of a word too; newest first.
An index says only where to look: what is found was seen in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from sqlite3 import Connection
from typing import Any, Final, NamedTuple

from tapefold.domain.errors import InvalidValue
from tapefold.domain.heads import Timestamp

from ..log import Log
from ..values import text_of
from .folding import folded
from .inherited import inherited_texts, texts_in_memory
from .schema import TEXTS
from .writing import indexed_upto

WORDS: Final = "words"
LITERAL: Final = "literal"
BOTH: Final = "both"
"""Words first; where there are fewer than `limit`, texts that hold each part of the query
somewhere."""

DEFAULT_LIMIT: Final = 20
MOST: Final = 100
MANY: Final = 256
"""A query of more words is taken as one phrase."""

_SHOWN: Final = tuple(name for name in TEXTS.names if name != "is_plain")
_COLUMNS: Final = ", ".join(f"t.{name}" for name in _SHOWN)
_NEWEST: Final = "t.moment DESC, t.session_id, t.position DESC, t.part, t.number"
_LONGEST_PATTERN: Final = 10_000


@dataclass(frozen=True)
class Query:
    """What is searched for, and where.

    `session_id`: in one session; a fork with what it inherits, unless `own` is true. `kinds` and
    `roles`: only these (empty: all). `since`, `until`: seconds since 1970, both included; a text
    without a time is in no such span. `limit` is brought between 1 and 100.
    """

    text: str
    mode: str = BOTH
    session_id: str | None = None
    own: bool = False
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    limit: int = DEFAULT_LIMIT


@dataclass(frozen=True)
class Hit:
    """A text that was found; (session_id, position) is the event that holds it. `score`: how well
    the words fit, more is better; None: it was found literally. `at`: where in the text the first
    part of the query stands."""

    session_id: str
    position: int
    entry_id: str | None
    kind: str
    role: str | None
    status: str | None
    name: str | None
    call_id: str | None
    timestamp: Timestamp
    text: str
    score: float | None
    at: int
    key: tuple[Any, ...]


class _Place(NamedTuple):
    """Tables with texts; `session_id`: only that session's."""

    connection: Connection
    session_id: str | None


class TextSearch:
    """Searches one file of the full text, in the caller's transaction."""

    def __init__(self, connection: Connection, log: Log) -> None:
        self._connection = connection
        self._log = log

    def search(self, query: Query) -> list[Hit]:
        """What fits, at most `limit`: scored ones first, then the newest. Raises `InvalidValue`
        for a query that is none."""
        _check(query)
        if not query.text.strip():
            return []
        text = text_of(query.text) or ""
        limit = max(1, min(query.limit, MOST))
        found: dict[tuple[Any, ...], Hit] = {}
        if query.mode != LITERAL:
            for place in self._places(query):
                for hit in _by_words(place, query, text, limit):
                    found[hit.key] = hit
            for hit in self._waiting(query, text, limit):
                found[hit.key] = hit
        hits = sorted(found.values(), key=lambda hit: (-(hit.score or 0), *_newest(hit)))[:limit]
        if query.mode == WORDS or len(hits) >= limit:
            return hits
        needles = [text] if query.mode == LITERAL else text.split()
        if len(needles) > MANY:
            needles = [text]
        taken = {hit.key for hit in hits}
        more = [
            hit
            for place in self._places(query)
            for hit in _literally(place, query, needles, limit + len(taken))
            if hit.key not in taken
        ]
        return hits + sorted(more, key=_newest)[: limit - len(hits)]

    def _waiting(self, query: Query, text: str, limit: int) -> list[Hit]:
        """What fits among the texts that are not in the index yet."""
        where, params = _filters(_Place(self._connection, query.session_id), query)
        rows = self._connection.execute(
            f"SELECT t.* FROM tt_texts AS t WHERE t.rowid > ?{where}",
            (indexed_upto(self._connection), *params),
        ).fetchall()
        if not rows:
            return []
        tables = texts_in_memory(rows)
        try:
            return list(_by_words(_Place(tables, query.session_id), query, text, limit))
        finally:
            tables.close()

    def _places(self, query: Query) -> Iterator[_Place]:
        """Where the texts stand: here, and for a fork what it inherits."""
        yield _Place(self._connection, query.session_id)
        if query.session_id is not None and not query.own:
            inherited = inherited_texts(self._connection, self._log, query.session_id)
            if inherited is not None:
                try:
                    yield _Place(inherited, None)
                finally:
                    inherited.close()


def _check(query: Query) -> None:
    if query.mode not in (WORDS, LITERAL, BOTH):
        raise InvalidValue(
            f"{query.mode!r} is no way to search; there are {WORDS}, {LITERAL}, {BOTH}"
        )
    if not isinstance(query.limit, int):
        raise InvalidValue(f"the limit of a search is a whole number, not {query.limit!r}")
    for name, moment in (("since", query.since), ("until", query.until)):
        if moment is not None and (not isinstance(moment, int | float) or isnan(moment)):
            raise InvalidValue(f"{name!r} is in seconds since 1970, not {moment!r}")


def _newest(hit: Hit) -> tuple[Any, ...]:
    moment = hit.key[-1]
    return (moment is None, -(moment or 0), hit.session_id, -hit.position, *hit.key[:-1])


def _by_words(place: _Place, query: Query, text: str, limit: int) -> Iterator[Hit]:
    asked = _phrases(text)
    where, params = _filters(place, query)
    rows = place.connection.execute(
        f"SELECT bm25(tt_words) AS rank, {_COLUMNS} FROM tt_words JOIN tt_texts AS t "
        f"ON t.rowid = tt_words.rowid WHERE tt_words MATCH ?{where} "
        f"ORDER BY rank, {_NEWEST} LIMIT ?",
        (asked, *params, limit),
    )
    first = folded(text.split(maxsplit=1)[0])
    for row in rows:
        yield _hit(row[1:], -row[0], first)


def _phrases(text: str) -> str:
    """A query of FTS5: each word a phrase, so that nothing in it is an operator."""
    words = text.split()
    if not 1 < len(words) <= MANY:
        words = [text]
    return " ".join(_phrase(folded(word)) for word in words)


def _phrase(word: str) -> str:
    quoted = word.replace("\0", " ").replace('"', '""')
    return f'"{quoted}"'


def _literally(place: _Place, query: Query, needles: Sequence[str], limit: int) -> Iterator[Hit]:
    """Texts that hold all needles, the newest first."""
    sought = [folded(needle) for needle in needles]

    def holds_all(text: str) -> int:
        said = folded(text)
        return int(all(needle in said for needle in sought))

    place.connection.create_function("tt_holds_all", 1, holds_all, deterministic=True)
    where, params = _filters(place, query)
    index = _index_query(sought)
    if index is not None:
        where += (
            " AND (t.rowid > ? OR t.rowid IN (SELECT rowid FROM tt_words WHERE tt_words MATCH ?))"
        )
        params += [indexed_upto(place.connection), index]
    for needle in sought:
        # SQLite folds the case of ASCII alone, and ends a text at its first NUL.
        if needle.isascii() and "\0" not in needle and len(needle) < _LONGEST_PATTERN:
            where += " AND (t.is_plain = 0 OR t.text LIKE ? ESCAPE '\\')"
            params.append(f"%{_escaped(needle)}%")
    rows = place.connection.execute(
        f"SELECT {_COLUMNS} FROM tt_texts AS t WHERE 1{where} AND tt_holds_all(t.text) "
        f"ORDER BY {_NEWEST} LIMIT ?",
        (*params, limit),
    )
    for row in rows:
        yield _hit(row, None, sought[0])


def _escaped(needle: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", needle)


_WORD: Final = re.compile(r"[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]+")
"""Runs that the index cuts nowhere but at characters beyond ASCII."""
_INDEXED: Final = re.compile(r"[a-z0-9]")
_WORDS_ASKED: Final = 16
_PREFIX: Final = 3


def _index_query(sought: Sequence[str]) -> str | None:
    """Words that a text must have to hold all needles, as a query of FTS5; None: none is known.

    A word with something before and behind it in a needle is a whole word of the text; one at the
    needle's end begins a word of the text; one at its beginning may be the end of any word.
    """
    asked: list[str] = []
    for needle in sought:
        for found in _WORD.finditer(needle):
            word = found[0]
            if not found.start() or not _INDEXED.search(word):
                continue
            if found.end() < len(needle):
                asked.append(_phrase(word))
            elif len(word) >= _PREFIX and word.isascii():
                asked.append(f"{_phrase(word)}*")
    if not asked:
        return None
    return " AND ".join(sorted(asked, key=len, reverse=True)[:_WORDS_ASKED])


def _filters(place: _Place, query: Query) -> tuple[str, list[Any]]:
    where = ""
    params: list[Any] = []
    if place.session_id is not None:
        where += " AND t.session_id = ?"
        params.append(place.session_id)
    for name, values in (("kind", query.kinds), ("role", query.roles)):
        if values:
            where += f" AND t.{name} IN ({', '.join('?' * len(values))})"
            params += values
    if query.since is not None:
        where += " AND t.moment >= ?"
        params.append(query.since)
    if query.until is not None:
        where += " AND t.moment <= ?"
        params.append(query.until)
    return where, params


def _hit(row: Sequence[Any], score: float | None, first: str) -> Hit:
    one = dict(zip(_SHOWN, row, strict=True))
    text: str = one["text"]
    said = folded(text)
    at = max(said.find(first), 0)
    if len(said) != len(text):  # folding made it longer: the place is about there
        at = at * len(text) // max(len(said), 1)
    key = (one["session_id"], one["item"], one["part"], one["number"], one["moment"])
    return Hit(
        one["session_id"],
        one["position"],
        one["entry_id"],
        one["kind"],
        one["role"],
        one["status"],
        one["name"],
        one["call_id"],
        one["timestamp"],
        text,
        score,
        at,
        key,
    )
