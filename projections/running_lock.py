"""Who runs or builds a projection: one process at a time, and the next when that one dies."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from .errors import AlreadyRunning
from .faults import named

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
        connection = self._connect()
        is_told = False
        try:
            while not self._try(connection):
                if stopped():
                    return False
                if time.monotonic() > ends:
                    if not wait:
                        raise AlreadyRunning(self._name, holder())
                    if not is_told:
                        waiting()
                    is_told = True
                time.sleep(ASK_EVERY)
            self._connection = connection
            return True
        finally:
            if self._connection is not connection:
                connection.close()

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
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        try:
            return sqlite3.connect(
                self._path, isolation_level=None, timeout=0, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise named(error, self._name, self._path) from error

    def _try(self, connection: sqlite3.Connection) -> bool:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY:
                return False
            raise named(error, self._name, self._path) from error
        return True
