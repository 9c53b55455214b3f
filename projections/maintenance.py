"""What an operator does to a live build: fold one session anew, let parked ones go on, go back."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from .applying import Applier
from .database import FOLLOWING, Build
from .declaration import Projection
from .errors import ProjectionError
from .following import Follower
from .log import Log, LogRow
from .parking import parked, unpark
from .registry import BuildInfo, Registry

CHUNK = 4_000


class Refolded(NamedTuple):
    """What was folded: the session's position, and how many events that were."""

    session_id: str
    position: int
    events: int


def refold(build: Build, log: Log, session_id: str) -> Refolded:
    """Fold one session's rows anew, in place and in one transaction, up to the position of the
    build and not beyond: what comes later is the runner's. A parked session goes on, or stands
    still where it did. Raises `LogChanged`, `ProjectionError`."""
    with build.writing():
        upto = _position(build, log)
        build.projection.forget(build.connection, session_id)
        build.connection.execute(
            "DELETE FROM tapefold_positions WHERE session_id = ?", (session_id,)
        )
        unpark(build, session_id)
        events = _apply(Applier(build, log), session_id, log, 0, upto)
        return Refolded(session_id, build.session_position(session_id), events)


def retry(build: Build, log: Log, session_id: str | None = None) -> list[Refolded]:
    """Let parked sessions go on, in order, from the event that they stand at; one of them, or
    all. Each in a transaction of its own."""
    done = []
    for one in parked(build):
        if session_id not in (None, one.session_id):
            continue
        with build.writing():
            upto = _position(build, log)
            unpark(build, one.session_id)
            position = build.session_position(one.session_id)
            events = _apply(Applier(build, log), one.session_id, log, position, upto)
            done.append(Refolded(one.session_id, build.session_position(one.session_id), events))
    return done


def _position(build: Build, log: Log) -> int:
    progress = build.progress()
    name = build.projection.NAME
    if progress.phase != FOLLOWING:
        raise ProjectionError(name, "it is still being filled; wait for that")
    row = log.row(progress.position) if progress.position else None
    Follower(Applier(build, log)).check(
        progress.log_uuid, progress.position, progress.digest, [] if row is None else [row]
    )
    return progress.position


def _apply(applier: Applier, session_id: str, log: Log, gt: int, upto: int) -> int:
    chunk: list[LogRow] = []
    events = 0
    for row in log.tape(session_id, gt, upto):
        chunk.append(row)
        if len(chunk) >= CHUNK:
            events += applier.apply_tape(session_id, chunk)
            chunk = []
    return events + (applier.apply_tape(session_id, chunk) if chunk else 0)


def roll_back(projection: Projection, log: Log, store: Path) -> BuildInfo:
    """Make the build live again that was live before. One of this code's declaration is brought
    up to the live one's position first; another's is switched to as it stands, for the code that
    it belongs to. Raises `ProjectionError` where there is none."""
    registry = Registry(store)
    name = projection.NAME
    before = registry.before(name)
    if before is None or not registry.path_of(name, before.number).exists():
        raise ProjectionError(name, "no build that was live before is kept; nothing to go back to")
    live = registry.live(name)
    if before.fingerprint == projection.fingerprint():
        build = Build(registry.path_of(name, before.number), projection)
        current = Build(registry.path_of(name, live.number), projection)
        try:
            with current.writing():  # its runner stands still
                follower = Follower(Applier(build, log))
                while follower.step():
                    pass
                registry.go_live(name, before.number)
        finally:
            build.close()
            current.close()
    else:
        registry.go_live(name, before.number)
    return before
