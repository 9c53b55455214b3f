"""Builds a projection a second time only to compare: whatever becomes of it, it is removed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from .applying import Applier
from .beginning import discard_outdated
from .database import FILLING, Build
from .declaration import Projection
from .errors import AlreadyRunning, ProjectionError
from .faults import named_faults
from .filling import fill
from .following import catch_up
from .live_side import LiveSide
from .log import Log
from .rebuilding import Progress, Rebuild
from .registry import BuildInfo, Registry
from .removing import remove_build
from .runner import holder_of
from .running_lock import RunningLock
from .verifying import Verification, verify_against_live

PROGRAM: Final = "verify"
"""What is noted as the program that has begun such a build. A rebuild has another name, so it
throws away what a kill has left of one, and never brings it live: sessions may be parked in it."""

Say = Callable[[Progress], None]


def build_and_compare(
    projection: Projection,
    log: Log,
    store: Path,
    *,
    say: Say = lambda progress: None,
) -> Verification:
    """Compare the live build with an unfinished one, brought to the same place; where there is
    none, with one that is made for this alone and removed. In that one, a session with an event
    that cannot be applied stands still there, and the others are compared.

    Raises `ProjectionMissing`, `AlreadyRunning`, `ProjectionError` where the live one cannot be
    compared with, `PoisonEvent` where an unfinished build stops, and what `Rebuild.run` raises.
    """
    name = projection.NAME
    with closing(Registry(store)) as registry:
        registry.live(name)
        log.refresh()
        discard_outdated(registry, projection)
        if registry.unfinished(name, projection.fingerprint()) is not None:
            return _with_the_unfinished(Rebuild(projection, log, store, say=say), name)
        info = registry.begin(name, projection.SCHEMA_VERSION, projection.fingerprint(), PROGRAM)
        if info in registry.outdated(name, info.fingerprint, PROGRAM):
            raise AlreadyRunning(name, "")  # somebody has begun a rebuild just now
        path = registry.path_of(name, info.number)
        lock = RunningLock(name, path)
        lock.acquire(wait=False, holder=partial(holder_of, path, projection))
        try:
            if registry.unfinished(name, info.fingerprint) != info:
                raise AlreadyRunning(name, "")  # it was thrown away by one
            return _with_a_new_one(registry, projection, log, info, say)
        finally:
            lock.release()
            with suppress(AlreadyRunning):  # then somebody else removes it just now
                remove_build(registry, info)


def _with_the_unfinished(rebuild: Rebuild, name: str) -> Verification:
    report = rebuild.run(switch=False, sample=1)
    found = report.verification
    if found is None or found.against != "live":
        raise ProjectionError(name, "; ".join(report.notes) or "nothing to compare with")
    return found


def _with_a_new_one(
    registry: Registry, projection: Projection, log: Log, info: BuildInfo, say: Say
) -> Verification:
    name = projection.NAME
    live = LiveSide(registry, projection, log)
    target = live.position()
    if target is None:
        raise ProjectionError(name, "nothing live that is filled; nothing to compare with")
    path = registry.path_of(name, info.number)
    row = log.row(target) if target else None
    with closing(Build(path, projection, create=True)) as build, named_faults(name, path):
        build.create(log.uuid, target, None if row is None else row.digest())
        with build.writing():
            build.begin_beating(time.time())
        applier = Applier(build, log)
        if build.progress().phase == FILLING:
            done, total = 0, log.count(target)
            say(Progress("fill", done, total))
            for events in fill(applier):
                done += events
                say(Progress("fill", done, total))
        with live.reading() as old:
            if old is None or old.progress().position < build.progress().position:
                raise ProjectionError(name, "the live build was put back meanwhile; try again")
            catch_up(applier, old.progress().position)
            say(Progress("compare"))
            with build.reading():
                return verify_against_live(
                    old, build, log, say=lambda rows: say(Progress("compare", rows))
                )
