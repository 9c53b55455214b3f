"""Applies rows of the log to one build: session by session, all of them or none.

A session whose event fails is parked there, and the others go on. Only what the event itself is
at fault for parks it: a database that is busy or gone lets the whole batch fail, to be tried
again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from .database import Build
from .declaration import SessionFold
from .errors import PoisonEvent
from .faults import is_database_fault
from .folds import Folds
from .log import Log, LogRow
from .parking import park, parked_ids, reason_of

ATTEMPTS: Final = 3
"""How often an event is tried, each time on a fold from the tape, before its session is parked."""


class Applier:
    """Applies rows to a build. Its methods run inside a transaction of the caller's.

    `parks`: false lets an event that cannot be applied end all of it (`PoisonEvent`).
    """

    def __init__(self, build: Build, log: Log, *, parks: bool = True) -> None:
        self.build = build
        self.log = log
        self._parks = parks
        self._folds = Folds(build.projection, log)
        self._parked: set[str] | None = None
        self._version: int | None = None
        self._newly_parked: list[str] = []

    def forget(self) -> None:
        """After a roll-back, or when the rows may be others: start from the tables."""
        self._folds.clear()
        self._parked = None
        self._newly_parked = []

    def take_parked(self) -> list[str]:
        """A line for each session that was parked since this was asked last. After the commit."""
        taken, self._newly_parked = self._newly_parked, []
        return taken

    def look(self) -> None:
        """Forget what is known if somebody else has written: a retry, a refold, another runner.

        At the beginning of each transaction; else a session that goes on again would be passed
        over in silence.
        """
        version = self.build.version()
        if version != self._version:
            self.forget()
            self._version = version

    def apply(self, rows: Iterable[LogRow]) -> int:
        """Apply rows of any sessions, in the order of the log. Answers how many events were."""
        tapes: dict[str, list[LogRow]] = {}
        for row in rows:
            tapes.setdefault(row.session_id, []).append(row)
        # The warm ones first: those that must be opened would push them out, one by one.
        order = sorted(tapes, key=lambda session_id: session_id not in self._folds)
        return sum(self.apply_tape(session_id, tapes[session_id]) for session_id in order)

    def apply_tape(
        self, session_id: str, rows: Sequence[LogRow], *, is_session: bool = False
    ) -> int:
        """Apply rows of one stream, in order; those that it has already are passed over, and so is
        a stream of others. Whose a stream is, its first event says: in one of ours, an event that
        is none of ours is at fault. `is_session`: it is known that the stream is ours."""
        if session_id in self._parked_ids():
            return 0
        if not (is_session or self._is_session(session_id, rows)):
            return 0
        error: Exception | None = None
        for _ in range(ATTEMPTS):
            try:
                return self._all(session_id, rows)
            except Exception as failure:
                if is_database_fault(failure):
                    raise
                error = failure
        assert error is not None
        return self._up_to_the_fault(session_id, rows)

    def _is_session(self, session_id: str, rows: Sequence[LogRow]) -> bool:
        if session_id in self._folds or self.build.session_position(session_id):
            return True
        return any(map(self.log.is_ours, rows)) and self.log.begins_as_ours(session_id)

    def let_go(self, session_ids: Iterable[str]) -> None:
        """Keep the folds of these sessions no longer: their tapes are read to the end."""
        for session_id in session_ids:
            self._folds.discard(session_id)

    def _parked_ids(self) -> set[str]:
        if self._parked is None:
            self._parked = parked_ids(self.build)
        return self._parked

    def _all(self, session_id: str, rows: Sequence[LogRow]) -> int:
        fold = self._folds.take(self.build, session_id)
        new = [row for row in rows if row.position > fold.position]
        if not new:
            self._folds.give_back(session_id, fold)
            return 0
        with _Savepoint(self.build.connection):
            self._apply(fold, new)
            fold.flush(self.build.connection)
            self.build.put_position(session_id, fold.position)
        self._folds.give_back(session_id, fold)
        return len(new)

    def _apply(self, fold: SessionFold, rows: Sequence[LogRow]) -> None:
        event_of = self.log.event
        for row in rows:
            fold.apply(event_of(row))

    def _up_to_the_fault(self, session_id: str, rows: Sequence[LogRow]) -> int:
        """Apply what lies before the event at fault, and park the session there."""
        applied = 0
        for row in rows:
            try:
                applied += self._all(session_id, [row])
            except Exception as failure:
                if is_database_fault(failure):
                    raise
                self._stop_at(row, failure)
                break
        return applied

    def _stop_at(self, row: LogRow, error: Exception) -> None:
        if not self._parks:
            raise PoisonEvent(
                self.build.projection.NAME,
                row.session_id,
                row.position,
                row.topic,
                reason_of(error, row),
                "see `tapefold events check`; `tapefold projections rebuild "
                f"{self.build.projection.NAME} --park` lets the session stand still there",
            ) from error
        park(self.build, row, error, ATTEMPTS)
        where = f"session {row.session_id} parked at {row.position} ({row.topic})"
        self._newly_parked.append(f"{where}: {reason_of(error, row)}")
        self._parked_ids().add(row.session_id)


class _Savepoint:
    """All of a session's rows, or none of them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("SAVEPOINT session")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._connection.in_transaction:
            return  # the database itself has rolled back, and says so
        if kind is not None:
            self._connection.execute("ROLLBACK TO session")
        self._connection.execute("RELEASE session")
