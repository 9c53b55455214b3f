"""Removes the files of builds that nobody reads any more."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from .errors import ProjectionError
from .registry import LIVE, BuildInfo, Registry

WAIT: Final = 30.0
"""How long `drop` waits for readers. Unit: seconds."""


def drop(registry: Registry, name: str, *, wait: float = WAIT) -> list[BuildInfo]:
    """Remove every build of a projection that is not live; answers them.

    Waits for readers that still hold one, up to `wait` seconds; then raises `ProjectionError`,
    and what was not removed stays.
    """
    dropped = []
    for info in registry.builds(name):
        if info.state != LIVE:
            remove_build(registry, info, wait=wait)
            dropped.append(info)
    return dropped


def remove_build(registry: Registry, info: BuildInfo, *, wait: float = WAIT) -> None:
    """Remove one build that is not live, once nobody has it open."""
    path = registry.path_of(info.name, info.number)
    if path.exists():
        _wait_for_readers(info, path, wait)
    registry.remove(info.name, info.number)
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _wait_for_readers(info: BuildInfo, path: Path, wait: float) -> None:
    """Leave the write-ahead log: SQLite lets only the last connection do that."""
    ends = time.monotonic() + wait
    while True:
        connection = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        except sqlite3.OperationalError:
            mode = "busy"
        except sqlite3.DatabaseError:
            return  # it is no database: nobody can be reading it
        finally:
            connection.close()
        if mode == "delete":
            return
        if time.monotonic() > ends:
            raise ProjectionError(
                info.name,
                f"build {info.number} is still being read; try again when its readers have ended",
            )
        time.sleep(0.05)
