"""Sessions that stand still at an event which cannot be applied."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tapefold.persistence.errors import UnreadableEvent

from .database import Build
from .log import LogRow


class Parked(NamedTuple):
    """A session that stands still: `position` is that of the event, `log_id` its id in the log.

    `kind` is the error's class, `attempts` how often the event was tried, `since` when it was
    parked (ISO, UTC).
    """

    session_id: str
    position: int
    log_id: int
    topic: str
    kind: str
    error: str
    attempts: int
    since: str

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return self._asdict()


def park(build: Build, row: LogRow, error: BaseException, attempts: int) -> None:
    """Let a session stand still at an event."""
    build.connection.execute(
        "INSERT INTO tapefold_parked VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (session_id) DO UPDATE SET position = excluded.position, "
        "log_id = excluded.log_id, topic = excluded.topic, kind = excluded.kind, "
        "error = excluded.error, attempts = attempts + excluded.attempts",
        (
            row.session_id,
            row.position,
            row.id,
            row.topic,
            type(error).__name__,
            reason_of(error, row)[:2_000].encode("utf-8", "replace").decode(),
            attempts,
            datetime.now(UTC).isoformat(timespec="seconds"),
        ),
    )


def reason_of(error: BaseException, row: LogRow) -> str:
    """What an error says, where the event that it stopped at is named beside it. Session and
    position stay where they are another's: a fork may stop at an event of its parent."""
    if not isinstance(error, UnreadableEvent):
        return str(error)
    is_here = (error.session_id, error.position) == (row.session_id, row.position)
    return error.reason if is_here else str(error)


def parked_at(connection: sqlite3.Connection, session_id: str) -> Parked | None:
    """Where a session stands still, if it does. Tables without a runner know of none."""
    try:
        row = connection.execute(
            "SELECT * FROM tapefold_parked WHERE session_id = ?", (session_id,)
        ).fetchone()
    except sqlite3.OperationalError as error:
        if str(error).startswith("no such table"):
            return None
        raise
    return None if row is None else Parked(*row)


def keep_counting(build: Build, before: Parked) -> bool:
    """After a retry: whether the session is parked again. At the same event, its attempts add up,
    and it stands since when it first stood."""
    changed = build.connection.execute(
        "UPDATE tapefold_parked SET attempts = attempts + ?, since = ? "
        "WHERE session_id = ? AND position = ?",
        (before.attempts, before.since, before.session_id, before.position),
    )
    return bool(changed.rowcount) or before.session_id in parked_ids(build)


def stops_at(build: Build, session_id: str) -> int | None:
    """The position at which a session stands parked: from there on nothing of it was applied."""
    found = build.connection.execute(
        "SELECT position FROM tapefold_parked WHERE session_id = ?", (session_id,)
    ).fetchone()
    return None if found is None else found[0]


def unpark(build: Build, session_id: str) -> None:
    """A session goes on."""
    build.connection.execute("DELETE FROM tapefold_parked WHERE session_id = ?", (session_id,))


def parked(build: Build) -> list[Parked]:
    """The sessions that stand still, by id."""
    rows = build.connection.execute("SELECT * FROM tapefold_parked ORDER BY session_id")
    return [Parked(*row) for row in rows]


def parked_ids(build: Build) -> set[str]:
    """Their ids."""
    return {row[0] for row in build.connection.execute("SELECT session_id FROM tapefold_parked")}
