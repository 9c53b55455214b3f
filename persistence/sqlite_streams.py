"""Reading streams from the table of events: by range, by position, page by page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from tapefold.persistence.rows import size_of
from tapefold.persistence.sqlite_connection import Row

EventRow = tuple[int, str, bytes]
"""(position, topic, state) of one event."""

# Sizes of a chunk of positions asked for at once; few sizes, so that few statements are compiled.
_CHUNKS = (500, 50, 5, 1)
# A page of a stream holds about this many bytes, whatever the size of its events.
_PAGE_BYTES = 4_000_000
_FIRST_PAGE = 16


class StreamSummary(NamedTuple):
    """One stream: its id, its last position, and facts of its first and last event."""

    originator_id: str
    last_version: int
    first_id: int
    last_id: int
    first_topic: str


def as_text(originator_id: UUID | str) -> str:
    """Return an id as it is stored: a UUID as its 32 hex digits."""
    return originator_id.hex if isinstance(originator_id, UUID) else originator_id


class StreamReading(ABC):
    """What can be read of streams; in a transaction, or with a connection for each call.

    All methods raise typed errors only (persistence/errors.py, or the library's).
    """

    events_table_name: str

    @abstractmethod
    def _rows(self, statement: str, params: Sequence[Any] = ()) -> list[Row]: ...

    def select_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> list[StoredEvent]:
        """Return the events of a stream in order of position, in the library's shape.

        `gt` and `lte` bound the positions, `desc` turns the order, `limit` cuts it. The id of an
        event is the text that is stored: 32 hex digits for a UUID.
        """
        text = as_text(originator_id)
        return [
            StoredEvent(text, version, topic, state)
            for version, topic, state in self._select(text, gt, lte, desc, limit)
        ]

    def iter_events(
        self,
        originator_id: UUID | str,
        *,
        gt: int | None = None,
        lte: int | None = None,
        page: int = 1000,
    ) -> Iterator[EventRow]:
        """Yield (position, topic, state) of a stream in order, holding only a page at a time.

        A page is at most `page` events and about 4 MB. Between two pages no lock is held; since a
        stream only grows, what is yielded is still one state of it and what came after.
        """
        text = as_text(originator_id)
        rows = min(page, _FIRST_PAGE)
        while True:
            events = self._select(text, gt, lte, False, rows)
            yield from events
            if len(events) < rows:
                return
            gt = events[-1][0]
            size = sum(size_of(state) for _, _, state in events)
            rows = max(1, min(page, rows * _PAGE_BYTES // max(size, 1)))

    def select_after(self, originator_id: str, position: int) -> list[EventRow]:
        """Return (position, topic, state) of all events after a position: for who expects few."""
        return self._rows(
            f"SELECT originator_version, topic, state FROM {self.events_table_name} "
            "WHERE originator_id=? AND originator_version>? ORDER BY originator_version",
            (originator_id, position),
        )

    def select_states(self, originator_id: UUID | str, versions: Iterable[int]) -> list[EventRow]:
        """Return (position, topic, state) of the given positions, in order of position.

        A position that does not exist is left out, one given twice comes once. The caller bounds
        how many bodies it asks for at once.
        """
        text = as_text(originator_id)
        wanted = sorted(set(versions))
        found: list[EventRow] = []
        start = 0
        while start < len(wanted):
            size = next(size for size in _CHUNKS if size <= len(wanted) - start)
            found += self._rows(
                f"SELECT originator_version, topic, state FROM {self.events_table_name} "
                f"WHERE originator_id=? AND originator_version IN ({','.join('?' * size)}) "
                "ORDER BY originator_version",
                (text, *wanted[start : start + size]),
            )
            start += size
        return found

    def select_topics(
        self,
        originator_id: UUID | str,
        topics: Sequence[str],
        *,
        desc: bool = False,
        limit: int | None = None,
    ) -> list[EventRow]:
        """Return (position, topic, state) of a stream's events with one of these topics, in
        order of position (`desc`: the newest first). No other state is read.
        """
        return self._rows(
            f"SELECT originator_version, topic, state FROM {self.events_table_name} "
            f"WHERE originator_id=? AND topic IN ({','.join('?' * len(topics))}) "
            f"ORDER BY originator_version {'DESC' if desc else 'ASC'} LIMIT ?",
            (as_text(originator_id), *topics, -1 if limit is None else limit),
        )

    def topic_totals(self, originator_id: UUID | str) -> dict[str, tuple[int, int]]:
        """Return topic to (number of events, bytes of their states) of a stream.

        No state is read: SQLite knows the length of a value without loading it.
        """
        found = self._rows(
            f"SELECT topic, COUNT(*), SUM(LENGTH(state)) FROM {self.events_table_name} "
            "WHERE originator_id=? GROUP BY topic",
            (as_text(originator_id),),
        )
        return {topic: (number, size) for topic, number, size in found}

    def stream_version(self, originator_id: UUID | str) -> int | None:
        """Return the last position of a stream, or None if there is no such stream."""
        found: int | None = self._rows(
            f"SELECT MAX(originator_version) FROM {self.events_table_name} WHERE originator_id=?",
            (as_text(originator_id),),
        )[0][0]
        return found

    def streams(self, *, gt: str | None = None, limit: int | None = None) -> list[StreamSummary]:
        """Return all streams (or `limit` of them, after the id `gt`) in byte order of their ids.

        Costs a few index look-ups a stream, however long the streams are: the index is not
        walked through, but jumped from one id to the next.
        """
        table = self.events_table_name
        after = "" if gt is None else " WHERE originator_id > ?"
        found = self._rows(
            f"WITH RECURSIVE ids(stream) AS (SELECT MIN(originator_id) FROM {table}{after}"
            f" UNION ALL SELECT (SELECT MIN(originator_id) FROM {table}"
            "  WHERE originator_id > stream) FROM ids WHERE stream IS NOT NULL LIMIT ?)"
            " SELECT stream, newest.originator_version, oldest.id, newest.id, oldest.topic FROM ids"
            f" JOIN {table} AS oldest ON oldest.originator_id = stream"
            "  AND oldest.originator_version = (SELECT MIN(originator_version)"
            f"  FROM {table} WHERE originator_id = stream)"
            f" JOIN {table} AS newest ON newest.originator_id = stream"
            "  AND newest.originator_version = (SELECT MAX(originator_version)"
            f"  FROM {table} WHERE originator_id = stream)",
            (*(() if gt is None else (gt,)), -1 if limit is None else limit),
        )
        return [StreamSummary(*row) for row in found]

    def _select(
        self, text: str, gt: int | None, lte: int | None, desc: bool, limit: int | None
    ) -> list[Row]:
        statement = (
            f"SELECT originator_version, topic, state FROM {self.events_table_name} "
            "WHERE originator_id=?"
        )
        params: list[object] = [text]
        if gt is not None:
            statement += " AND originator_version>?"
            params.append(gt)
        if lte is not None:
            statement += " AND originator_version<=?"
            params.append(lte)
        statement += f" ORDER BY originator_version {'DESC' if desc else 'ASC'}"
        if limit is not None:
            statement += " LIMIT ?"
            params.append(limit)
        return self._rows(statement, params)
