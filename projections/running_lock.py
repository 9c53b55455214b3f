"""Who runs or builds a projection: one process at a time, and the next when that one dies."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .errors import AlreadyRunning
from .faults import named
from .files import file_identity

ASK_EVERY: Final = 0.05
"""Seconds between two tries of one who waits."""

PATIENCE: Final = 0.3
"""Seconds that one tries who does not wait: who only looks holds it for a moment."""


class RunningLock:
    """An exclusive lock beside a build's file. It is SQLite's own, so the system lets go of it
    when its holder dies, however it dies, and on every platform."""

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path.with_name(path.name + ".lock")
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    def acquire(
        self,
        *,
        wait: bool,
        stopped: Callable[[], bool] = lambda: False,
        waiting: Callable[[], None] = lambda: None,
        holder: Callable[[], str] = lambda: "",
    ) -> bool:
        """Take the lock. Waits for it as long as `stopped` does not say so (False then); calls
        `waiting` when it begins to.

        Raises `AlreadyRunning` soon if it is taken and `wait` is false, with what `holder` says;
        `BuildFault` if there can be no lock.
        """
        ends = time.monotonic() + PATIENCE
        is_told = is_got = False
        try:
            while not self._try_at_the_path():
                if stopped():
                    return False
                if time.monotonic() > ends:
                    if not wait:
                        raise AlreadyRunning(self._name, holder())
                    if not is_told:
                        waiting()
                    is_told = True
                time.sleep(ASK_EVERY)
            is_got = True
            return True
        finally:
            if not is_got:
                self.release()

    def is_at_its_path(self) -> bool:
        """Whether the file that is locked is still the one at its path. If not, whoever comes next
        locks another one, and is kept out by nobody."""
        return self._file is not None and file_identity(self._path) == self._file

    def is_taken(self) -> bool:
        """Whether somebody holds it now. Makes no file."""
        if not self._path.exists():
            return False
        connection = self._connect()
        try:
            return not self._try(connection)
        finally:
            connection.close()

    def release(self) -> None:
        """Let go of it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._file = None

    def _try_at_the_path(self) -> bool:
        """Try to lock the file that is at the path: one that was removed keeps nobody out."""
        if not self.is_at_its_path():
            self._open()
        if self._connection is None or not self._try(self._connection):
            return False
        if self.is_at_its_path():
            return True
        self.release()
        return False

    def _open(self) -> None:
        """Open the file at the path, and know which one that is; not, if it is just being
        replaced."""
        self.release()
        for _ in range(2):  # the first time it may be made
            before = file_identity(self._path)
            connection = self._connect()
            if before is not None and file_identity(self._path) == before:
                self._connection, self._file = connection, before
                return
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self._path, isolation_level=None, timeout=0, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise named(error, self._name, self._path) from error

    def _try(self, connection: sqlite3.Connection) -> bool:
        try:
            # A lock on an empty file would begin a journal, for which a full disk has no room.
            connection.execute("PRAGMA journal_mode=MEMORY")
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise named(error, self._name, self._path) from error
        return True
