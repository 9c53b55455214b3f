"""Verifies a build: against the live one, or against what the tapes say from scratch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import nsmallest
from pathlib import Path
from typing import Any, Final, NamedTuple

from tapefold.domain.errors import TapefoldError
from tapefold.persistence.errors import StoreError, UnreadableEvent

from .comparing import Comparison, compare
from .database import FILLING, Build
from .declaration import Projection, Table
from .differences import REMOVED, Difference
from .errors import PoisonEvent, ProjectionError
from .faults import is_database_fault
from .log import Log
from .parking import parked, parked_ids, reason_of
from .reading import ReadModel

CHUNK: Final = 4_000
"""Events that are folded before their rows are written."""

POSITIONS: Final = Table(
    "tapefold_positions",
    ("session_id",),
    (("session_id", "TEXT"), ("position", "INTEGER")),
)
"""Each build's own list of how far each session is."""


class Unreadable(NamedTuple):
    """A session that is not parked, and yet cannot be folded anew from its tape: the position of
    its event at fault, and why. None: it stops before its first, at one that it inherits."""

    session_id: str
    position: int | None
    error: str


@dataclass
class Verification:
    """What was verified, and against what. `position`: id of the log that both stand at.

    `sessions`: how many were folded anew. `parked`: sessions that stand still in the build that is
    verified, and their forks that cannot be folded for that; they were left out. `unreadable`:
    others that cannot be folded anew; so their rows could not be compared.
    """

    against: str
    position: int
    comparison: Comparison = field(default_factory=Comparison)
    sessions: int = 0
    parked: list[str] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs, and nothing was in the way of seeing that."""
        return self.comparison.is_equal and not self.unreadable

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "against": self.against,
            "position": self.position,
            "sessions": self.sessions,
            "parked": self.parked,
            "unreadable": [one._asdict() for one in self.unreadable],
            **self.comparison.to_json(),
        }


def verify_against_live(
    live: Build, build: Build, log: Log, *, say: Callable[[int], None] = lambda done: None
) -> Verification:
    """Compare a build with the live one. Both are in a transaction of the caller's, and stand at
    the same position. What is parked in the live one alone is folded anew instead; what is
    parked in the new one alone is unreadable."""
    stands, stands_here = parked_ids(live), parked_ids(build)
    found = Verification("live", build.progress().position)
    for one in parked(build):
        if one.session_id not in stands and not _hangs_on(log, one.session_id, stands):
            found.unreadable.append(Unreadable(one.session_id, one.position, one.error))
    lost = {one.session_id for one in found.unreadable}
    found.parked = sorted((stands | stands_here) - lost)
    compare(
        live.connection,
        build.connection,
        (*build.projection.TABLES, POSITIONS),
        without=stands | stands_here,
        into=found.comparison,
        say=say,
    )
    for session_id in sorted(stands - stands_here):
        _verify_session(build, log, session_id, found)
    return found


def verify_against_kernel(
    build: Build,
    log: Log,
    *,
    sample: int | None = None,
    say: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Compare a build with what the tapes say, in the caller's transaction on it.

    Each session of the log up to the build's position is folded from its first event in one
    piece, and its rows are compared; then what is read is compared with what the kernel itself
    builds. Rows of sessions that the log does not have are differences, too. `sample`: this many
    sessions, the same ones each time; left out: all.
    """
    stands = parked_ids(build)
    found = Verification("kernel", build.progress().position, parked=sorted(stands))
    for session_id in _sessions(build, log, sample):
        if session_id in stands:
            continue
        try:
            _verify_session(build, log, session_id, found)
        except TapefoldError as error:
            if not _is_of_the_tape(error):
                raise
            # A fork cannot be folded anew while an ancestor's tape is damaged; its rows stand.
            if _hangs_on(log, session_id, stands):
                found.parked = sorted({*found.parked, session_id})
            else:
                found.unreadable.append(_unreadable(session_id, error))
        say(found.sessions)
    if sample is None:
        _find_strays(build, log, found)
    return found


def _sessions(build: Build, log: Log, sample: int | None) -> Iterator[str]:
    """Of the log, not of the build: a session that it lacks is to be found."""
    ids = log.sessions_after(None, build.progress().position)
    if sample is None:
        return ids
    return iter(nsmallest(sample, ids, key=_digest))


def _digest(session_id: str) -> bytes:
    return sha256(session_id.encode("utf-8", "surrogatepass")).digest()


def _is_of_the_tape(error: TapefoldError) -> bool:
    if isinstance(error, StoreError) or is_database_fault(error):
        return False
    return isinstance(error, PoisonEvent) or not isinstance(error, ProjectionError)


def _unreadable(session_id: str, error: TapefoldError) -> Unreadable:
    if isinstance(error, PoisonEvent | UnreadableEvent) and error.session_id == session_id:
        return Unreadable(session_id, error.position, error.reason)
    return Unreadable(session_id, None, str(error))


def _hangs_on(log: Log, session_id: str, parked: Collection[str]) -> bool:
    """Whether an ancestor of a session is parked."""
    seen: set[str] = set()
    at: str | None = session_id
    while at is not None and at not in seen:
        seen.add(at)
        try:
            head = log.tapes.first_head(at)
        except UnreadableEvent:
            return False
        origin = None if head is None else head.origin
        at = origin.session_id if origin is not None and origin.inherit else None
        if at in parked:
            return True
    return False


def _verify_session(build: Build, log: Log, session_id: str, found: Verification) -> None:
    # A database without a name is a file that only this connection has: a long session need not
    # fit into memory. Its one transaction is never committed.
    fresh = sqlite3.connect("", isolation_level=None)
    try:
        fresh.execute("PRAGMA journal_mode=OFF")
        fresh.execute("BEGIN")
        position = _fold_anew(fresh, build, log, session_id, found.position)
        tables = (*build.projection.TABLES, POSITIONS)
        compare(build.connection, fresh, tables, only=session_id, into=found.comparison)
        if build.session_position(session_id) == position and position:
            for difference in build.projection.against_kernel(
                build.connection, log, session_id, position
            ):
                found.comparison.note(difference)
    finally:
        fresh.close()
    found.sessions += 1


def _fold_anew(
    fresh: sqlite3.Connection, build: Build, log: Log, session_id: str, upto: int
) -> int:
    """Make the rows of one session from its tape, up to the id `upto`; answers its position."""
    projection: Projection = build.projection
    for table in (*projection.TABLES, POSITIONS):
        for statement in table.statements():
            fresh.execute(statement)
    fold = projection.open(log, session_id, 0)
    pending = 0
    for row in log.tape(session_id, 0, upto):
        try:
            fold.apply(log.event(row))
        except Exception as error:
            if is_database_fault(error):
                raise
            raise PoisonEvent(
                projection.NAME, session_id, row.position, row.topic, reason_of(error, row)
            ) from error
        pending += 1
        if pending >= CHUNK:
            fold.flush(fresh)
            pending = 0
    fold.flush(fresh)
    if fold.position:
        fresh.execute("INSERT INTO tapefold_positions VALUES (?, ?)", (session_id, fold.position))
    return fold.position


def _find_strays(build: Build, log: Log, found: Verification) -> None:
    """Rows of sessions that the log does not have up to this position."""
    known = set(log.sessions_after(None, found.position))
    for table in (*build.projection.TABLES, POSITIONS):
        rows = build.connection.execute(f"SELECT DISTINCT session_id FROM {table.name}")
        for (session_id,) in rows:
            if session_id not in known:
                found.comparison.note(Difference(table.name, REMOVED, (session_id,)))


def verify_live(
    projection: Projection,
    log: Log,
    store: Path,
    *,
    sample: int | None = None,
    say: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Compare the live build with what the tapes say, in one snapshot of it.

    Raises `ProjectionMissing`, `DeclarationMismatch`, `LogChanged`, `BuildFault`.
    """
    with (
        closing(ReadModel(projection, log, store)) as model,
        model.reading() as build,
    ):
        if build.progress().phase == FILLING:
            raise ProjectionError(projection.NAME, "it is still being filled; wait for that")
        return verify_against_kernel(build, log, sample=sample, say=say)
