"""Begins builds: one that this very program has begun is gone on with, another's is not."""

from __future__ import annotations

from .declaration import Projection
from .program import program_digest
from .registry import BuildInfo, Registry
from .removing import remove_build


def begin_build(registry: Registry, projection: Projection) -> BuildInfo:
    """The unfinished build of this declaration, else a new one. One that another program has
    begun is thrown away first, see `program`; raises `AlreadyRunning` while that one builds it."""
    discard_outdated(registry, projection)
    return registry.begin(
        projection.NAME,
        projection.SCHEMA_VERSION,
        projection.fingerprint(),
        program_digest(projection),
    )


def discard_outdated(registry: Registry, projection: Projection) -> list[int]:
    """Remove the unfinished builds that another program has begun; answers their numbers."""
    outdated = registry.outdated(
        projection.NAME, projection.fingerprint(), program_digest(projection)
    )
    for info in outdated:
        remove_build(registry, info)
    return [info.number for info in outdated]
