"""Reading projections: which build is live, in one snapshot, and how far it is behind."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from .continuity import check_log
from .database import FOLLOWING, Build, Progress
from .declaration import Projection
from .errors import BuildDamaged, BuildFault, BuildMissing, DeclarationMismatch, ProjectionMissing
from .faults import is_database_fault, named
from .log import Footprint, Log
from .parking import Parked, parked_at, parked_ids
from .registry import Registry

POLL: Final = 0.005
"""Seconds between two looks of one who waits."""

TRIES: Final = 20
"""How often a reader looks for the live build anew while builds are switched and dropped."""

CHECK_EVERY: Final = 1.0
"""Seconds for which it is believed that the log is still the one that was projected, while its
files are as they were."""


class Lag(NamedTuple):
    """How far a projection is behind: rows of the log that it has not read, and whether it is
    still being filled, so that sessions may be missing."""

    position: int
    last_id: int
    rows: int
    is_filling: bool


class ReadModel:
    """Reads one projection of one store. Not for several threads at once.

    The version that is live is looked up for each snapshot, so it follows a switch. A file that
    was read stays open until the next read: `close` before a long pause.
    """

    def __init__(self, projection: Projection, log: Log, store: Path) -> None:
        self.projection = projection
        self.log = log
        self._registry = Registry(store)
        self._open: tuple[int, Build] | None = None
        self._checked: tuple[int, int, Footprint, float] | None = None

    def close(self) -> None:
        """Let go of the file, so that it can be dropped."""
        self._let_go()
        self._registry.close()

    def _let_go(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None
        self._checked = None

    @contextmanager
    def reading(self) -> Iterator[Build]:
        """One snapshot of the build that is live when it begins.

        Raises `ProjectionMissing`, `DeclarationMismatch`, `LogChanged`, `BuildFault`.
        """
        build = self._begin()
        try:
            yield build
        except sqlite3.Error as error:
            if not is_database_fault(error):
                raise  # the statement of whoever reads
            raise named(error, self.projection.NAME, build.path) from error
        finally:
            if build.connection.in_transaction:
                build.connection.execute("ROLLBACK")

    def _begin(self) -> Build:
        name = self.projection.NAME
        problem: Exception = ProjectionMissing(name)
        for _ in range(TRIES):
            live = self._registry.live(name)
            if live.fingerprint != self.projection.fingerprint():
                raise DeclarationMismatch(name, live.schema_version, self.projection.SCHEMA_VERSION)
            try:
                build = self._build(live.number)
                self._begin_snapshot(build, live.number)
            except BuildFault as fault:
                # Dropped between the look and the opening, or being so.
                self._let_go()
                if isinstance(fault, BuildDamaged):
                    raise
                path = fault.path
                problem = fault if path.exists() else BuildMissing(name, path)
                time.sleep(POLL)
                continue
            # The snapshot stands now; what was live before it began may have been switched.
            now = self._registry.find_live(name)
            if now is not None and now.number == live.number:
                return build
            build.connection.execute("ROLLBACK")
        raise problem

    def _begin_snapshot(self, build: Build, number: int) -> None:
        try:
            build.connection.execute("BEGIN")
            build.check()
            self._check_log(build, number)
        except BaseException as error:
            if build.connection.in_transaction:
                build.connection.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise named(error, self.projection.NAME, build.path) from error
            raise

    def _check_log(self, build: Build, number: int) -> None:
        """Whenever a file of the store has changed, and at each new position; a page of a chat
        that nobody writes to is read without a question to the store."""
        self.log.refresh()
        footprint = self.log.footprint()  # before the check: what comes after changes it again
        position, now = build.progress().position, time.monotonic()
        if self._checked is not None:
            *before, when = self._checked
            if before == [number, position, footprint] and now - when < CHECK_EVERY:
                return
        check_log(build, self.log)
        self._checked = None if footprint is None else (number, position, footprint, now)

    def _build(self, number: int) -> Build:
        if self._open is not None:
            if self._open[0] == number and self._open[1].is_at_its_path():
                return self._open[1]
            self._let_go()
        path = self._registry.path_of(self.projection.NAME, number)
        build = Build(path, self.projection, read_only=True)
        self._open = (number, build)
        return build

    # -- how far ---------------------------------------------------------------------------

    def lag(self, build: Build) -> Lag:
        """How far a build is behind the log."""
        progress = build.progress()
        filling = progress.phase != FOLLOWING
        return Lag(progress.position, self.log.last_id(), rows_behind(self.log, progress), filling)

    def is_parked(self, build: Build, session_id: str) -> bool:
        """Whether a session stands still at an event that could not be applied."""
        return session_id in parked_ids(build)

    def parked(self, build: Build, session_id: str) -> Parked | None:
        """Where a session stands still, None where it goes on: what is read of it is old then."""
        return parked_at(build.connection, session_id)

    def has_passed(self, log_id: int) -> bool:
        """Whether the projection has read the row with this id."""
        with self.reading() as build:
            progress = build.progress()
            return progress.phase == FOLLOWING and progress.position >= log_id

    def wait_for(self, log_id: int, timeout: float = 1.0) -> bool:
        """Wait until the projection has passed what a save returned (`recording.notification.id`);
        over a switch, too. False after `timeout` seconds.

        It may have passed an event and have parked its session there; `parked` tells.
        """
        ends = time.monotonic() + timeout
        while not self.has_passed(log_id):
            if time.monotonic() >= ends:
                return False
            time.sleep(POLL)
        return True


def rows_behind(log: Log, progress: Progress) -> int:
    """How many rows of the log a build has not read. While it is filled: about, and at least 1."""
    if progress.phase == FOLLOWING:
        return log.count_after(progress.position)
    return max(log.count_after(0) - progress.events, 1)
