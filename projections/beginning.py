"""Begins builds: one that this very program has begun is gone on with, another's is not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from .continuity import check_log
from .database import Build
from .declaration import Projection
from .errors import BuildFault, DeclarationMismatch, LogChanged
from .log import Log
from .program import program_digest
from .registry import BUILDING, BuildInfo, Registry
from .removing import remove_build

PARKS: Final = " and parks"
"""What is noted behind the program of a build in which sessions may stand still."""


def begin_build(registry: Registry, projection: Projection, *, parks: bool = False) -> BuildInfo:
    """The unfinished build of this declaration, else a new one. One that another program has
    begun is thrown away first, see `program`; raises `AlreadyRunning` while that one builds it."""
    discard_outdated(registry, projection, parks=parks)
    return registry.begin(
        projection.NAME,
        projection.SCHEMA_VERSION,
        projection.fingerprint(),
        _program(projection, parks),
    )


def discard_outdated(
    registry: Registry, projection: Projection, *, parks: bool = False
) -> list[int]:
    """Remove the unfinished builds that another program has begun; answers their numbers."""
    outdated = registry.outdated(
        projection.NAME, projection.fingerprint(), _program(projection, parks)
    )
    for info in outdated:
        remove_build(registry, info)
    return [info.number for info in outdated]


def discard_of_another_log(registry: Registry, projection: Projection, log: Log) -> list[int]:
    """Remove the unfinished builds that nobody could go on with, since the log is another one by
    now, or the row up to which they read was mended; answers their numbers."""
    discarded = []
    for info in registry.builds(projection.NAME):
        if info.state == BUILDING and _has_read_another_log(registry, info, projection, log):
            remove_build(registry, info)
            discarded.append(info.number)
    return discarded


def _has_read_another_log(
    registry: Registry, info: BuildInfo, projection: Projection, log: Log
) -> bool:
    path = registry.path_of(info.name, info.number)
    if not path.exists():
        return False
    try:
        with closing(Build(path, projection, read_only=True)) as build, build.reading():
            build.check()
            check_log(build, log)
    except LogChanged:
        return True
    except (BuildFault, DeclarationMismatch, sqlite3.Error):
        return False  # another declaration's, or without tables yet; whoever uses it will say
    return False


def _program(projection: Projection, parks: bool) -> str:
    """Sessions may be parked in the one kind of build, and never in the other."""
    return program_digest(projection) + (PARKS if parks else "")
