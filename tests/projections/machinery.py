"""A small projection and a store, for tests of what runs, rebuilds and reads projections."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from tapefold import Sessions
from tapefold.projections.database import Build
from tapefold.projections.declaration import Projection, SessionFold, Table
from tapefold.projections.differences import Difference
from tapefold.projections.log import Log, LogEvent
from tapefold.projections.reading import ReadModel
from tapefold.projections.rebuilding import Rebuild, RebuildReport
from tapefold.projections.registry import Registry
from tapefold.projections.runner import Runner

POISON = "poison"
COLUMNS = (("session_id", "TEXT NOT NULL"), ("position", "INTEGER NOT NULL"), ("body", "TEXT"))


class CountingFold(SessionFold):
    """Each event of a session as a row."""

    def __init__(self, position: int, extra: bool) -> None:
        self._position = position
        self._extra = extra
        self._rows: list[tuple[object, ...]] = []

    @property
    def position(self) -> int:
        return self._position

    @property
    def size(self) -> int:
        return 1

    def apply(self, event: LogEvent) -> None:
        if event.position != self._position + 1:
            raise ValueError(f"position {event.position} after {self._position}")
        text = event.body_text.decode("utf-8", "replace")
        if f'"{POISON}"' in text and not Counting.swallows:
            raise ValueError("poison cannot be counted")
        self._position = event.position
        more = (event.head.kind,) if self._extra else ()
        self._rows.append((event.session_id, event.position, text, *more))

    def flush(self, connection: sqlite3.Connection) -> None:
        marks = ", ".join("?" * (4 if self._extra else 3))
        connection.executemany(f"INSERT INTO c_events VALUES ({marks})", self._rows)
        self._rows.clear()


class Counting(Projection):
    """A projection whose fold refuses a message that says `poison`."""

    NAME: ClassVar[str] = "counting"
    SCHEMA_VERSION: ClassVar[int] = 1
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table("c_events", ("session_id", "position"), COLUMNS, without_rowid=True),
    )
    swallows: ClassVar[bool] = False
    """Whether the fold was mended."""

    def open(self, log: Log, session_id: str, position: int) -> CountingFold:
        return CountingFold(position, extra=self.SCHEMA_VERSION > 1)

    def against_kernel(
        self, connection: sqlite3.Connection, log: Log, session_id: str, position: int
    ) -> Iterator[Difference]:
        return iter(())


class CountingNext(Counting):
    """The same after a change: a column more."""

    SCHEMA_VERSION: ClassVar[int] = 2
    TABLES: ClassVar[tuple[Table, ...]] = (
        Table("c_events", ("session_id", "position"), (*COLUMNS, ("kind", "TEXT"))),
    )


class Shop:
    """A store with sessions, and its projections."""

    def __init__(self, path: Path, projection: Projection | None = None) -> None:
        self.path = path
        self.projection = projection or Counting()
        self.sessions = Sessions(path)
        self.log = Log(self.sessions.recorder, self.sessions.mapper)
        self.said: list[str] = []

    def close(self) -> None:
        self.sessions.close()

    def begin(self, *session_ids: str) -> None:
        for session_id in session_ids:
            self.sessions.start(session_id, persist=True)

    def say(self, session_id: str, text: str) -> int:
        """Append a user's message; answers its id in the log."""
        self.sessions.execute(session_id, lambda s: s.finalize("user", text))
        return self.log.last_id()

    def runner(self, projection: Projection | None = None, **how) -> Runner:
        how.setdefault("say", self.said.append)
        return Runner(projection or self.projection, self.log, self.path, **how)

    def run(self, projection: Projection | None = None, **how) -> None:
        """Run to the end of the log."""
        self.runner(projection, **how).run(until_caught_up=True)

    def rebuild(self, projection: Projection | None = None, *, pause=None, **how) -> RebuildReport:
        hook = pause or (lambda stage: None)
        return Rebuild(projection or self.projection, self.log, self.path, pause=hook).run(**how)

    def read_model(self, projection: Projection | None = None) -> ReadModel:
        return ReadModel(projection or self.projection, self.log, self.path)

    @property
    def registry(self) -> Registry:
        return Registry(self.path)

    def live_file(self, name: str | None = None) -> Path:
        registry = self.registry
        try:
            live = registry.live(name or self.projection.NAME)
            return registry.path_of(live.name, live.number)
        finally:
            registry.close()

    def live_build(self, projection: Projection | None = None) -> Build:
        return Build(self.live_file(), projection or self.projection)

    def change_rows(self, statement: str, *values: object) -> None:
        """Spoil the live build."""
        with sqlite3.connect(self.live_file()) as connection:
            connection.execute(statement, values)
        connection.close()

    def spoil_event(self, session_id: str, position: int) -> bytes:
        """Damage a stored event behind the store's back; answers what stood there."""
        with sqlite3.connect(self.path) as connection:
            where = "WHERE originator_id = ? AND originator_version = ?"
            (state,) = connection.execute(
                f"SELECT state FROM tapefold_events {where}", (session_id, position)
            ).fetchone()
            connection.execute(
                f"UPDATE tapefold_events SET state = ? {where}", (b"{}", session_id, position)
            )
        connection.close()
        return bytes(state)

    def mend_event(self, session_id: str, position: int, state: bytes) -> None:
        with sqlite3.connect(self.path) as connection:
            connection.execute(
                "UPDATE tapefold_events SET state = ? "
                "WHERE originator_id = ? AND originator_version = ?",
                (state, session_id, position),
            )
        connection.close()

    def rows(self, projection: Projection | None = None) -> dict[str, list]:
        """Every table of the live build, canonical."""
        return dump(self.live_file((projection or self.projection).NAME), self.projection)


def dump(path: Path, projection: Projection) -> dict[str, list]:
    """Every row of a build, in the order of its keys."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        return {
            table.name: connection.execute(
                f"SELECT * FROM {table.name} ORDER BY {', '.join(table.key)}"
            ).fetchall()
            for table in projection.TABLES
        }
    finally:
        connection.close()
