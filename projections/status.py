"""How a projection fares: who runs it, how far it is behind, what is wrong, what to do."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tapefold.domain.errors import TapefoldError
from tapefold.domain.heads import Timestamp
from tapefold.domain.instants import instant

from .backing_off import FaultNote
from .continuity import check_log
from .database import FILLING, Build, Progress
from .declaration import Projection
from .errors import (
    BuildFault,
    BuildMissing,
    DeclarationMismatch,
    LogChanged,
    ProjectionError,
    ProjectionMissing,
)
from .faults import named
from .log import Log
from .parking import Parked, parked
from .program import program_digest
from .reading import rows_behind
from .registry import BUILDING, BuildInfo, Registry
from .running_lock import RunningLock

OLD: Final = 60.0
"""Seconds after which a sign of life is too old."""

LOOKED_AT: Final = 500
"""Rows that are looked at for the oldest event that was not processed."""

UNBUILT: Final = "unbuilt"
UNUSABLE: Final = "unusable"

CURED: Final = ("never_built", "mismatch", "log_changed", "unusable")
"""Problems that a rebuild mends; while one runs they are none."""


@dataclass
class Problem:
    """What is wrong: a code for programs, and a text with the next step."""

    code: str
    text: str


@dataclass
class RebuildStatus:
    """A build that is not live yet. `is_running`: whether a process works on it; else it waits
    for the next `rebuild`. `events` of `total` are applied. `state`: `begun`, `filling`, or
    `following`, when it is filled. `is_ours`: whether this program's declaration made it; the
    rebuild of another program leaves it alone. `is_outdated`: whether another state of the
    program has begun it; the next rebuild begins anew then."""

    build: int
    schema_version: int
    state: str
    events: int
    total: int
    is_running: bool
    pid: int | None = None
    rate: float | None = None
    is_ours: bool = True
    is_outdated: bool = False


@dataclass
class Status:
    """How one projection fares. Times are seconds, `rate` events a second.

    `state`: `following`, `filling`, `unbuilt` or `unusable`. `version` is that of the live file,
    `code_version` what this program declares. `events_behind` counts rows of the log, others'
    included; while it is filled it is about. `seconds_behind`: the age of the oldest event that
    was not processed, by the time that stands in it; None where there is none, or it has no time.
    """

    name: str
    code_version: int
    state: str = UNBUILT
    version: int | None = None
    build: int | None = None
    position: int | None = None
    last_id: int = 0
    events_behind: int | None = None
    seconds_behind: float | None = None
    rate: float | None = None
    heartbeat_age: float | None = None
    pid: int | None = None
    is_running: bool = False
    fault: str | None = None
    """What the process that runs it waits out: a full disk, say."""
    parked: list[Parked] = field(default_factory=list)
    rebuild: RebuildStatus | None = None
    kept: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def is_healthy(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        rebuild = self.rebuild
        return {
            "projection": self.name,
            "healthy": self.is_healthy,
            "state": self.state,
            "version": self.version,
            "code_version": self.code_version,
            "build": self.build,
            "position": self.position,
            "last_id": self.last_id,
            "events_behind": self.events_behind,
            "seconds_behind": self.seconds_behind,
            "rate": self.rate,
            "heartbeat_age": self.heartbeat_age,
            "pid": self.pid,
            "is_running": self.is_running,
            "fault": self.fault,
            "parked": [one.to_json() for one in self.parked],
            "rebuild": None if rebuild is None else vars(rebuild),
            "kept_builds": self.kept,
            "problems": [vars(one) for one in self.problems],
        }


def status_of(projection: Projection, log: Log, store: Path, now: float | None = None) -> Status:
    """The status of a projection. Changes nothing. `now`: seconds since 1970.

    What is wrong with the projection stands in it; raises `StoreError` if the store fails.
    """
    status = Status(projection.NAME, projection.SCHEMA_VERSION)
    log.refresh()
    status.last_id = log.last_id()
    with closing(Registry(store)) as registry:
        try:
            _look(status, projection, log, registry, time.time() if now is None else now)
        except ProjectionError as error:
            status.state = UNUSABLE
            status.problems.append(Problem("unusable", str(error)))
    if status.fault is not None:
        who = f"projection {status.name}: process {status.pid or '?'} waits, and tries again: "
        status.problems.append(Problem("waiting", who + status.fault))
    if status.rebuild is not None and status.rebuild.is_running:
        status.problems = [one for one in status.problems if one.code not in CURED]
    return status


def _look(status: Status, projection: Projection, log: Log, registry: Registry, now: float) -> None:
    live = registry.find_live(projection.NAME)
    builds = registry.builds(projection.NAME)
    unfinished = [info for info in builds if info.state == BUILDING]
    status.kept = [info.number for info in builds if info.state not in (BUILDING, "live")]
    if unfinished:
        status.rebuild = _rebuild(unfinished[-1], projection, log, registry)
    if live is None:
        if log.last_id() or not unfinished:
            problem = ProjectionMissing(projection.NAME)
            status.problems.append(Problem("never_built", str(problem)))
        return
    status.build, status.version = live.number, live.schema_version
    path = registry.path_of(live.name, live.number)
    status.is_running = RunningLock(live.name, path).is_taken()
    _look_for_faults(status, path)
    if not path.exists():
        raise BuildMissing(live.name, path)
    with closing(Build(path, projection, read_only=True)) as build:
        try:
            with build.reading():
                _read(status, build, log, now)
                _judge(status, build, log)
        except sqlite3.Error as error:
            raise named(error, live.name, path) from error


def _look_for_faults(status: Status, path: Path) -> None:
    waiting = FaultNote(path).read() if status.is_running else None
    if waiting is None:
        return
    status.pid, status.fault = waiting.pid, waiting.reason


def _read(status: Status, build: Build, log: Log, now: float) -> None:
    progress = build.progress()
    status.state, status.position = progress.phase, progress.position
    status.events_behind = rows_behind(log, progress)
    # After the count, so that what is appended meanwhile does not make it look too small.
    status.last_id = log.last_id()
    if status.events_behind:
        moment = instant(_oldest_unread(log, progress))
        status.seconds_behind = None if moment is None else max(0.0, now - moment.timestamp())
    status.parked = parked(build)
    sign = build.sign()
    if sign is not None:
        status.pid = (status.pid or sign.pid) if status.is_running else None
        status.rate = sign.rate if status.is_running else None
        # A clock that was put back makes a sign of the future; the next one is right again.
        status.heartbeat_age = max(0.0, now - sign.heartbeat)


def _judge(status: Status, build: Build, log: Log) -> None:
    name, problems = status.name, status.problems
    try:
        build.check()
        check_log(build, log)
    except DeclarationMismatch as error:
        problems.append(Problem("mismatch", str(error)))
        return
    except LogChanged as error:
        problems.append(Problem("log_changed", str(error)))
        return
    run = f"`tapefold projections run {name}`"
    if not status.is_running and status.events_behind:
        text = f"projection {name}: it is behind and nobody runs it; start {run}"
        problems.append(Problem("not_running", text))
    if status.is_running and not status.fault and (status.heartbeat_age or 0) > OLD:
        text = (
            f"projection {name}: process {status.pid} runs it, but gave no sign for "
            f"{status.heartbeat_age:,.0f} s; if it does nothing, end it and start {run}"
        )
        problems.append(Problem("no_sign", text))
    if status.parked:
        number = len(status.parked)
        which = "1 parked session" if number == 1 else f"{number:,} parked sessions"
        text = f"projection {name}: {which}; see `tapefold projections parked {name}`"
        problems.append(Problem("parked", text))


def _rebuild(
    info: BuildInfo, projection: Projection, log: Log, registry: Registry
) -> RebuildStatus:
    path = registry.path_of(info.name, info.number)
    is_running = RunningLock(info.name, path).is_taken()
    found = RebuildStatus(info.number, info.schema_version, "begun", 0, log.last_id(), is_running)
    found.is_ours = info.fingerprint == projection.fingerprint()
    outdated = registry.outdated(info.name, projection.fingerprint(), program_digest(projection))
    found.is_outdated = info in outdated
    if not path.exists():
        return found
    try:
        with closing(Build(path, projection, read_only=True)) as build, build.reading():
            progress, sign = build.progress(), build.sign()
    except (BuildFault, sqlite3.Error):
        return found  # a moment ago it had no tables yet
    found.state, found.events = progress.phase, progress.events
    found.total = max(progress.events, log.count(progress.target))
    if sign is not None and is_running:
        found.pid, found.rate = sign.pid, sign.rate
    return found


def _oldest_unread(log: Log, progress: Progress) -> Timestamp:
    """The time in the oldest event that a build has not processed, None where that has none."""
    after = 0 if progress.phase == FILLING else progress.position
    for row in log.page(after, LOOKED_AT):
        if not log.is_ours(row) or _is_filled(row.session_id, row.id, progress):
            continue
        try:
            return log.event(row).head.timestamp
        except TapefoldError:
            return None  # it cannot be decoded; it will be parked
    return None


def _is_filled(session_id: str, row_id: int, progress: Progress) -> bool:
    """While a build is filled tape by tape, in the order of ids: whether this tape is done."""
    if progress.phase != FILLING or progress.cursor is None or row_id > progress.target:
        return False
    return session_id.encode("utf-8", "surrogatepass") <= progress.cursor.encode(
        "utf-8", "surrogatepass"
    )
