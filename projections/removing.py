"""Removes the files of builds that nobody reads any more."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from .errors import BuildNotWritable, ProjectionError
from .registry import KEPT, LIVE, BuildInfo, Registry
from .running_lock import RunningLock

WAIT: Final = 30.0
"""How long `drop` waits for readers. Unit: seconds."""

ASK_EVERY: Final = 0.05
"""Seconds between two looks at whether a build is still read."""

SUFFIXES: Final = ("", "-wal", "-shm", "-journal", ".fault", ".lock", ".lock-journal")
"""What belongs to a build: its file, and those that SQLite, its runner and the lock keep beside
it."""


def drop(
    registry: Registry, name: str, *, wait: float = WAIT, fingerprint: str | None = None
) -> list[int]:
    """Remove every build of a projection that is not live, an unfinished one too; answers their
    numbers. Files that no build has are removed as well.

    Waits for readers that still hold one, up to `wait` seconds; then raises `ProjectionError`,
    and what was not removed stays. Raises `AlreadyRunning` while one is being built.
    `fingerprint`: of the program that asks. It refuses to remove the builds that this program
    alone can read, while another one's is live: nobody could go back to them any more.
    """
    live = registry.find_live(name)
    if fingerprint is not None and live is not None and live.fingerprint != fingerprint:
        kept = [info for info in registry.builds(name) if info.state == KEPT]
        if any(info.fingerprint == fingerprint for info in kept):
            raise ProjectionError(
                name,
                f"build {live.number}, which is live, is another program's; the kept ones are all "
                "that this program can read; drop them with that other one",
            )
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
    """Remove one build that is not live, once nobody has it open. A full disk is no obstacle."""
    path = registry.path_of(info.name, info.number)
    lock = RunningLock(info.name, path)
    # Nobody can begin to build it, or to run it, while it goes.
    lock.acquire(wait=False)
    try:
        if path.exists():
            _wait_for_readers(info.name, info.number, path, wait)
        try:
            registry.remove(info.name, info.number)
        except BuildNotWritable:
            # To forget it takes some space on the disk as well, which its file may be all of.
            if registry.is_live(info.name, info.number):
                raise
            _unlink(info.name, path)
            registry.remove(info.name, info.number)
        else:
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
    """Ask for the lock that SQLite gives to an only connection."""
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
    connection = None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=0
        )
        # So it keeps its index of the write-ahead log in memory: nothing is written, and a full
        # disk does not matter.
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:
        # Whatever else it says, it does not say that somebody has it open. Nobody runs it, for
        # the running lock is ours; and what cannot be removed is said when it is tried.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY
    finally:
        if connection is not None:
            connection.close()
    return True
