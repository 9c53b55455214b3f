"""What an operator does to a live build: fold one session anew, let parked ones go on, go back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tapefold.domain.errors import SessionNotFound

from .applying import Applier
from .continuity import check_log, note_mended
from .database import FOLLOWING, Build
from .declaration import Projection
from .errors import BuildMissing, LogChanged, PoisonEvent, ProjectionError
from .faults import named_faults
from .following import catch_up
from .live_side import LiveSide
from .log import Log, LogRow
from .parking import Parked, keep_counting, parked, parked_at, parked_ids, unpark
from .registry import BuildInfo, Registry
from .runner import holder_of
from .running_lock import RunningLock

CHUNK: Final = 4_000
"""Events that are applied at once."""


class Refolded(NamedTuple):
    """What was folded: the session's position, how many events that were, whether it stands
    still now, and whether it did so before."""

    session_id: str
    position: int
    events: int
    is_parked: bool = False
    was_parked: bool = False


@contextmanager
def live_build(registry: Registry, projection: Projection) -> Iterator[Build]:
    """The live build, open for writing beside its runner. Raises `ProjectionMissing`,
    `DeclarationMismatch`, `BuildFault`."""
    info = registry.live(projection.NAME)
    path = registry.path_of(info.name, info.number)
    build = Build(path, projection)
    try:
        build.check()
        with named_faults(projection.NAME, path):
            yield build
    finally:
        build.close()


def refold(build: Build, log: Log, session_id: str) -> Refolded:
    """Fold one session's rows anew, in place and in one transaction, up to the position of the
    build and not beyond: what comes later is the runner's. A parked session goes on, or stands
    still where it did.

    Raises `PoisonEvent` where the fold does not come as far as the rows that there are, which
    stay then; `LogChanged`, `ProjectionError`, `SessionNotFound`.
    """
    with build.writing():
        upto = _position(build, log)
        stood_at = build.session_position(session_id)
        before = parked_at(build.connection, session_id)
        build.projection.forget(build.connection, session_id)
        build.connection.execute(
            "DELETE FROM tapefold_positions WHERE session_id = ?", (session_id,)
        )
        unpark(build, session_id)
        events = _apply(Applier(build, log), session_id, log, 0, upto)
        if before is not None:
            keep_counting(build, before)
        note_mended(build, log)
        position = build.session_position(session_id)
        stands = parked_at(build.connection, session_id)
        if not (stood_at or before or position or stands):
            raise SessionNotFound(session_id)
        if stands is not None and position < stood_at:
            raise _stops_short(build, stands, stood_at)
        return Refolded(session_id, position, events, stands is not None, before is not None)


def _stops_short(build: Build, stands: Parked, stood_at: int) -> PoisonEvent:
    session_id = stands.session_id
    return PoisonEvent(
        build.projection.NAME,
        session_id,
        stands.position,
        stands.topic,
        stands.error,
        f"its rows stay as they are, up to position {stood_at}; mend that event, see `tapefold "
        f"events check`, then `tapefold projections refold --session {session_id}`",
    )


def retry(build: Build, log: Log, session_id: str | None = None) -> list[Refolded]:
    """Let parked sessions go on, in order, from the event that they stand at; one of them, or
    all. Each in a transaction of its own."""
    done = []
    for one in parked(build):
        if session_id not in (None, one.session_id):
            continue
        with build.writing():
            upto = _position(build, log)
            if one.session_id not in parked_ids(build):
                continue  # somebody else was faster
            unpark(build, one.session_id)
            position = build.session_position(one.session_id)
            events = _apply(Applier(build, log), one.session_id, log, position, upto)
            stands = keep_counting(build, one)
            note_mended(build, log)
            position = build.session_position(one.session_id)
            done.append(Refolded(one.session_id, position, events, stands, was_parked=True))
    return done


def _position(build: Build, log: Log) -> int:
    log.refresh()
    progress = build.progress()
    if progress.phase != FOLLOWING:
        raise ProjectionError(build.projection.NAME, "it is still being filled; wait for that")
    check_log(build, log)
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
    """Make the build live again that was live before.

    One of this code's declaration is brought up to the live one's position first. Another's is
    switched to as it stands, for the code that it belongs to: that code's runner brings it on.
    Raises `ProjectionError` where none is kept, or where that one has read another log, and
    `BuildMissing` where its file is gone.
    """
    registry = Registry(store)
    try:
        before = registry.before(projection.NAME)
        if before is None:
            raise ProjectionError(
                projection.NAME, "no build that was live before is kept; nothing to go back to"
            )
        path = registry.path_of(before.name, before.number)
        if not path.exists():
            raise BuildMissing(before.name, path)
        live = LiveSide(registry, projection, log)
        if before.fingerprint != projection.fingerprint():
            registry.go_live(before.name, before.number, live.number)
            return before
        with _to_be_run(projection, path) as build:
            _check_kept(before, build, log)
            catch_up(Applier(build, log), None)  # most of it while the live one runs on
            with live.held() as stands_at:
                catch_up(Applier(build, log), stands_at)
                registry.go_live(before.name, before.number, live.number)
        return before
    finally:
        registry.close()


def _check_kept(before: BuildInfo, build: Build, log: Log) -> None:
    """Raise `ProjectionError` if the kept build has read another log. The live one goes on."""
    log.refresh()
    try:
        with build.reading():
            check_log(build, log)
    except LogChanged as error:
        raise ProjectionError(
            before.name,
            f"build {before.number}, which is kept, has read another log than the one that is "
            f"here now ({error.what}); the live build stays as it is; remove the kept one with "
            f"`tapefold projections drop {before.name}`",
        ) from error


@contextmanager
def _to_be_run(projection: Projection, path: Path) -> Iterator[Build]:
    lock = RunningLock(projection.NAME, path)
    lock.acquire(wait=False, holder=partial(holder_of, path, projection))
    try:
        build = Build(path, projection)
        try:
            build.check()
            with named_faults(projection.NAME, path):
                yield build
        finally:
            build.close()
    finally:
        lock.release()


def parked_in_live(registry: Registry, projection: Projection) -> list[Parked]:
    """The sessions that stand still in the live build; none where there is no build."""
    info = registry.find_live(projection.NAME)
    if info is None:
        return []
    path = registry.path_of(info.name, info.number)
    if not path.exists():
        raise BuildMissing(info.name, path)
    with (
        closing(Build(path, projection, read_only=True)) as build,
        named_faults(projection.NAME, path),
    ):
        return parked(build)
