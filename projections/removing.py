"""Removes the files of builds that nobody reads any more."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from .errors import BuildNotWritable, ProjectionError
from .registry import LIVE, BuildInfo, Registry
from .running_lock import RunningLock

WAIT: Final = 30.0
"""How long `drop` waits for readers. Unit: seconds."""

ASK_EVERY: Final = 0.05
"""Seconds between two looks at whether a build is still read."""

SUFFIXES: Final = ("", "-wal", "-shm", "-journal", ".lock", ".lock-journal")
"""What belongs to a build: its file, and those that SQLite and its lock keep beside it."""


def drop(registry: Registry, name: str, *, wait: float = WAIT) -> list[int]:
    """Remove every build of a projection that is not live, an unfinished one too; answers their
    numbers. Files that no build has are removed as well.

    Waits for readers that still hold one, up to `wait` seconds; then raises `ProjectionError`,
    and what was not removed stays. Raises `AlreadyRunning` while one is being built.
    """
    dropped = []
    for info in registry.builds(name):
        if info.state != LIVE:
            remove_build(registry, info, wait=wait)
            dropped.append(info.number)
    if registry.find_live(name) is None:
        return dropped  # files without a registry: whose they are cannot be told
    for number in registry.strays(name):
        path = registry.path_of(name, number)
        _wait_for_readers(name, number, path, wait)
        _unlink(name, path)
        dropped.append(number)
    return dropped


def remove_build(registry: Registry, info: BuildInfo, *, wait: float = WAIT) -> None:
    """Remove one build that is not live, once nobody has it open."""
    path = registry.path_of(info.name, info.number)
    lock = RunningLock(info.name, path)
    # Nobody can begin to build it, or to run it, while it goes.
    lock.acquire(wait=False)
    try:
        if path.exists():
            _wait_for_readers(info.name, info.number, path, wait)
        registry.remove(info.name, info.number)
        _unlink(info.name, path)
    finally:
        lock.release()


def _unlink(name: str, path: Path) -> None:
    for suffix in SUFFIXES:
        part = path.with_name(path.name + suffix)
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            raise BuildNotWritable(name, part, error.strerror or str(error)) from error


def _wait_for_readers(name: str, number: int, path: Path, wait: float) -> None:
    """Leave the write-ahead log: SQLite lets only the last connection do that."""
    ends = time.monotonic() + wait
    while not _is_unread(path):
        if time.monotonic() > ends:
            raise ProjectionError(
                name,
                f"build {number} is still open somewhere after {wait:g} s; programs that read "
                "projections let go of it at their next read, or when they end; try again then",
            )
        time.sleep(ASK_EVERY)


def _is_unread(path: Path) -> bool:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=0
    )
    try:
        mode: str = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_CANTOPEN
    except sqlite3.DatabaseError:
        return True  # it is no database: nobody can be reading it
    finally:
        connection.close()
    return mode == "delete"
