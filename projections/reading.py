"""Reading projections: which build is live, in one snapshot, and how far it is behind."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from .database import FOLLOWING, Build
from .declaration import Projection
from .errors import LogChanged, ProjectionMissing
from .log import Log
from .parking import parked_ids
from .registry import Registry

POLL: Final = 0.005
"""Seconds between two looks of one who waits."""

TRIES: Final = 20
"""How often a reader looks for the live build anew while builds are switched and dropped."""


class Lag(NamedTuple):
    """How far a projection is behind: rows of the log that it has not read, and whether a
    session stands still."""

    position: int
    last_id: int
    rows: int
    is_filling: bool


class ReadModel:
    """Reads one projection of one store. Not for several threads at once."""

    def __init__(self, projection: Projection, log: Log, store: Path) -> None:
        self.projection = projection
        self.log = log
        self._registry = Registry(store)
        self._open: tuple[int, Build] | None = None

    def close(self) -> None:
        """Let go of the file, so that it can be dropped."""
        if self._open is not None:
            self._open[1].close()
            self._open = None
        self._registry.close()

    @contextmanager
    def reading(self) -> Iterator[Build]:
        """One snapshot of the build that is live when it begins.

        Raises `ProjectionMissing`, `DeclarationMismatch`, `LogChanged`.
        """
        build = self._begin()
        try:
            yield build
        finally:
            if build.connection.in_transaction:
                build.connection.execute("ROLLBACK")

    def _begin(self) -> Build:
        name = self.projection.NAME
        for _ in range(TRIES):
            number = self._registry.live(name).number
            try:
                build = self._build(number)
                build.connection.execute("BEGIN")
                build.check()
            except sqlite3.OperationalError:
                # Dropped between the look and the opening, or being so.
                self.close()
                time.sleep(POLL)
                continue
            # The snapshot stands now; what was live before it began may have been switched.
            if self._registry.live(name).number == number:
                return build
            build.connection.execute("ROLLBACK")
        raise ProjectionMissing(name)

    def _build(self, number: int) -> Build:
        if self._open is not None and self._open[0] != number:
            self._open[1].close()
            self._open = None
        if self._open is None:
            path = self._registry.path_of(self.projection.NAME, number)
            self._open = (number, Build(path, self.projection, read_only=True))
        return self._open[1]

    # -- how far ---------------------------------------------------------------------------

    def lag(self, build: Build) -> Lag:
        """How far a build is behind the log."""
        progress = build.progress()
        last = self.log.last_id()
        if progress.log_uuid != self.log.uuid or last < progress.position:
            raise LogChanged(self.projection.NAME, "the store has another log than was projected")
        filling = progress.phase != FOLLOWING
        rows = self.log.count_after(0 if filling else progress.position)
        if filling:
            rows = max(rows - progress.events, 1)
        return Lag(progress.position, last, rows, filling)

    def is_parked(self, build: Build, session_id: str) -> bool:
        """Whether a session stands still at an event that could not be applied."""
        return session_id in parked_ids(build)

    def has_passed(self, log_id: int) -> bool:
        """Whether the projection has read the row with this id."""
        with self.reading() as build:
            progress = build.progress()
            return progress.phase == FOLLOWING and progress.position >= log_id

    def wait_for(self, log_id: int, timeout: float = 1.0) -> bool:
        """Wait until the projection has passed what a save returned (`recording.notification.id`);
        over a switch, too. False after `timeout` seconds."""
        ends = time.monotonic() + timeout
        while not self.has_passed(log_id):
            if time.monotonic() >= ends:
                return False
            time.sleep(POLL)
        return True
