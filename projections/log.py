"""The application's event log, as a projection reads it: by id, by page, by tape."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from tapefold.domain.errors import TapefoldError
from tapefold.domain.events import is_ours
from tapefold.domain.heads import Head
from tapefold.loading import Bases
from tapefold.persistence.errors import StoreMissing
from tapefold.persistence.jsontext import load
from tapefold.persistence.mapper import TapeMapper
from tapefold.persistence.rows import row_digest, size_of
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_schema import DEFAULT_EVENTS_TABLE
from tapefold.store import StoreTapes

from .files import file_identity

BASES: Final = 100_000
"""Entries of frozen parents that are kept for their forks."""

_FIRST: Final = -(1 << 63)
"""Before every position that a row can have."""

_TICK: Final = 100_000_000
"""Nanoseconds after which the time of a file's last change tells it from any later one: systems
keep these times in steps of some milliseconds, the coarsest of two seconds are no home for SQLite's
write-ahead log."""

Footprint = tuple[int, int, int]
"""Which file it is, the time of its last change, and its size."""


class LogRow(NamedTuple):
    """One row of the log. `id` is its place among all rows of the store, with gaps.

    A row that we did not write may hold anything in any column but `id`: ask `Log.is_ours`.
    """

    id: int
    session_id: str
    position: int
    topic: str
    state: bytes

    def digest(self) -> str:
        """What tells this row from any other that could stand at its id."""
        return row_digest(*self)

    @property
    def size(self) -> int:
        """Bytes of its state, about."""
        return size_of(self.state)


class LogEvent:
    """One of our events in the log: its head, and its body as JSON text in the present shape."""

    __slots__ = ("_body", "body_text", "head", "id", "position", "session_id", "size", "topic")

    def __init__(self, row: LogRow, head: Head, body_text: bytes) -> None:
        self.id, self.session_id, self.position, self.topic, state = row
        self.size = size_of(state)
        self.head = head
        self.body_text = body_text
        self._body: dict[str, Any] | None = None

    @property
    def body(self) -> dict[str, Any]:
        """The body, parsed when it is first asked for. Fields at their default are left out."""
        if self._body is None:
            self._body = parsed(self.body_text)
        return self._body


def _files_of(path: Path | None) -> tuple[Path, ...]:
    """Where a commit writes first: the write-ahead log, or without one the store itself. SQLite
    follows links, and puts the one beside the file that they lead to."""
    if path is None:
        return ()
    real = path.resolve()
    return real.with_name(f"{real.name}-wal"), real


def parsed(text: bytes) -> dict[str, Any]:
    """A JSON object that the codec has written."""
    try:
        value: dict[str, Any] = _decode(text)
    except (msgspec.DecodeError, RecursionError):  # lone surrogates, NaN, deep nesting
        value = load(text)
    return value


_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Log:
    """Reads the log of one store. Owned by one thread."""

    def __init__(self, recorder: TapeRecorder, mapper: TapeMapper[Any]) -> None:
        self._recorder = recorder
        self._mapper = mapper
        self.tapes = StoreTapes(recorder, mapper)
        self.bases = Bases(BASES, self.tapes.mark)
        self._path = recorder.datastore.address.path
        self._file = None if self._path is None else file_identity(self._path)
        self._files = _files_of(self._path)

    @property
    def uuid(self) -> str:
        """The random uuid that the log got when it began. Read each time: it may be replaced."""
        return self._recorder.read_log_uuid()

    @property
    def path(self) -> Path | None:
        """What the folder of its projections is named after: the file of the store, with the name
        of the table where a file holds the log of another application. None in memory."""
        table = self._recorder.events_table_name
        if self._path is None or table == DEFAULT_EVENTS_TABLE:
            return self._path
        real = self._path.resolve()
        return real.with_name(f"{real.name}.{table}")

    def refresh(self) -> None:
        """Read on in the file that stands at the store's path now, if another one was put there.

        Raises `StoreMissing` if none is there: an open connection would still see the old one.
        """
        if self._path is None:
            return
        found = file_identity(self._path)
        if found == self._file and found is not None:
            return
        if found is None:
            raise StoreMissing(str(self._path), "the file is gone", "put it back")
        self._recorder.reopen()
        self._files = _files_of(self._path)
        self.bases.clear()
        self._file = found

    def footprint(self) -> Footprint | None:
        """What a commit changes of the store's files, without asking SQLite; None if nothing can
        be said of it: a commit within the clock's last tick may have left no trace of its own."""
        for path in self._files:
            try:
                found = path.stat()
            except OSError:
                continue
            is_old = abs(time.time_ns() - found.st_mtime_ns) > _TICK
            return (found.st_ino, found.st_mtime_ns, found.st_size) if is_old else None
        return None

    def last_id(self) -> int:
        """The id of the newest row, 0 where there is none."""
        return self._recorder.max_notification_id() or 0

    def count(self, upto: int) -> int:
        """How many rows there are up to an id."""
        return self._recorder.log_count(0, upto)

    def count_after(self, after: int) -> int:
        """How many rows there are after an id. Ids have gaps, so they are counted."""
        return self._recorder.log_count(after)

    def page(self, after: int, limit: int, upto: int | None = None) -> list[LogRow]:
        """The next rows after an id, ours and others', in order."""
        return list(map(LogRow._make, self._recorder.log_page(after, limit, upto)))

    def row(self, row_id: int) -> LogRow | None:
        """The row with this id."""
        found = self.page(row_id - 1, 1, row_id)
        return found[0] if found else None

    def places(self, after: int, upto: int, size: int = 2_000) -> Iterator[tuple[int, str, int]]:
        """(id, session, position) of the rows after an id up to another one, the newest first."""
        while rows := self._recorder.log_places(after, upto, size):
            yield from rows
            upto = rows[-1][0] - 1

    def tape(self, session_id: str, gt: int, upto: int) -> Iterator[LogRow]:
        """A tape's rows after position `gt` whose ids are at most `upto`, in order."""
        size = 64
        while True:
            rows = self._recorder.log_tape(session_id, gt, size)
            for row in map(LogRow._make, rows):
                if row.id > upto:
                    return
                yield row
            if len(rows) < size:
                return
            gt = rows[-1][2]
            taken = sum(size_of(row[4]) for row in rows)
            size = max(1, min(2_000, size * 4_000_000 // max(taken, 1)))

    def sessions_after(self, gt: str | None, upto: int, size: int = 500) -> Iterator[str]:
        """The ids of our sessions after an id, in their order, that begin at or before `upto`."""
        while True:
            streams = self._recorder.streams(gt=gt, limit=size)
            for stream in streams:
                is_text = isinstance(stream.originator_id, str)
                if is_text and is_ours(stream.first_topic) and stream.first_id <= upto:
                    yield stream.originator_id
            if len(streams) < size:
                return
            gt = streams[-1].originator_id

    def event(self, row: LogRow) -> LogEvent:
        """The event of a row. Raises what the mapper raises for one that cannot be decoded."""
        head, body = self._mapper.parts_of(row.topic, row.state, row.session_id, row.position)
        return LogEvent(row, head, body)

    def event_at(self, session_id: str, position: int) -> LogEvent:
        """The event at a position of a tape. Raises `TapefoldError` where there is none."""
        rows = self._recorder.log_tape(session_id, position - 1, 1)
        if not rows or rows[0][2] != position:
            raise TapefoldError(
                f"session {session_id!r}: position {position} is missing from the log; check the "
                "store with `tapefold doctor`"
            )
        return self.event(LogRow(*rows[0]))

    def begins_as_ours(self, session_id: str) -> bool:
        """Whether the first event of a stream is one of ours, and so all of it. First is what has
        the lowest position, whatever that is; `sessions_after` knows no other ones."""
        rows = self._recorder.log_tape(session_id, _FIRST, 1)
        return bool(rows) and is_ours(rows[0][3])

    @staticmethod
    def is_ours(row: LogRow) -> bool:
        """Whether a row is an event of a session, as far as its columns tell."""
        return is_ours(row.topic) and isinstance(row.session_id, str)
