"""Verifies a build: against the live one, or against what the tapes say from scratch."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import nsmallest
from typing import Any

from .comparing import Comparison, compare
from .database import Build
from .declaration import Projection
from .differences import CHANGED, Difference
from .log import Log
from .parking import parked_ids

CHUNK = 4_000


@dataclass
class Verification:
    """What was verified, and against what. `position`: id of the log that both stand at.

    `sessions`: how many were folded anew. `parked`: sessions that stand still on either side, and
    were left out.
    """

    against: str
    position: int
    comparison: Comparison = field(default_factory=Comparison)
    sessions: int = 0
    parked: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs."""
        return self.comparison.is_equal

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "against": self.against,
            "position": self.position,
            "sessions": self.sessions,
            "parked": self.parked,
            **self.comparison.to_json(),
        }


def verify_against_live(live: Build, build: Build) -> Verification:
    """Compare a build with the live one. Both are in a transaction of the caller's, and stand at
    the same position."""
    parked = sorted(parked_ids(live) | parked_ids(build))
    found = Verification("live", build.progress().position, parked=parked)
    compare(
        live.connection,
        build.connection,
        build.projection.TABLES,
        without=parked,
        into=found.comparison,
    )
    return found


def verify_against_kernel(
    build: Build,
    log: Log,
    *,
    sample: int | None = None,
    say: Callable[[int], None] = lambda done: None,
) -> Verification:
    """Compare a build with what the tapes say, in the caller's transaction on it.

    Each session is folded from its first event in one piece, and its rows are compared; then
    what is read is compared with what the kernel itself builds. `sample`: this many sessions,
    the same ones each time; left out: all.
    """
    parked = sorted(parked_ids(build))
    found = Verification("kernel", build.progress().position, parked=parked)
    for session_id, position in _sessions(build, sample):
        if session_id in parked:
            continue
        fresh = _from_tape(build.projection, log, session_id, position)
        try:
            _compare_session(build, fresh, session_id, found.comparison)
            for difference in build.projection.against_kernel(
                build.connection, log, session_id, position
            ):
                found.comparison.note(difference)
        finally:
            fresh.close()
        found.sessions += 1
        say(found.sessions)
    return found


def _sessions(build: Build, sample: int | None) -> Iterator[tuple[str, int]]:
    rows = build.connection.execute(
        "SELECT session_id, position FROM tapefold_positions ORDER BY session_id"
    )
    if sample is None:
        yield from rows.fetchall()
    else:
        yield from nsmallest(sample, rows, key=lambda row: sha256(row[0].encode()).digest())


def _from_tape(
    projection: Projection, log: Log, session_id: str, position: int
) -> sqlite3.Connection:
    """The rows of one session, folded from its tape in one piece."""
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    for table in projection.TABLES:
        for statement in table.statements():
            fresh.execute(statement)
    fold = projection.open(log, session_id, 0)
    pending = 0
    for row in log.tape(session_id, 0, log.last_id()):
        if row.position > position:
            break
        fold.apply(log.event(row))
        pending += 1
        if pending >= CHUNK:
            fold.flush(fresh)
            pending = 0
    fold.flush(fresh)
    return fresh


def _compare_session(
    build: Build, fresh: sqlite3.Connection, session_id: str, found: Comparison
) -> None:
    """Compare the rows of one session: what is stored is the old side."""
    for table in build.projection.TABLES:
        names, size = table.names, len(table.key)
        key = [names.index(name) for name in table.key]
        sides = []
        for connection in (build.connection, fresh):
            rows = connection.execute(
                f"SELECT * FROM {table.name} WHERE session_id = ?", (session_id,)
            )
            sides.append({tuple(row[i] for i in key): row for row in rows})
        old, new = sides
        for one in sorted(old.keys() | new.keys(), key=repr):
            if one not in new:
                found.note(Difference(table.name, "removed", one))
            elif one not in old:
                found.note(Difference(table.name, "added", one))
            else:
                changed = tuple(
                    (name, a, b)
                    for name, a, b in zip(names, old[one], new[one], strict=True)
                    if (type(a), a) != (type(b), b)
                )
                if changed:
                    found.note(Difference(table.name, CHANGED, one[:size], changed))
                else:
                    found.equal += 1
