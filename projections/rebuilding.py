"""Builds a projection anew beside the live one, verifies it, and switches.

The new build never runs ahead of the live one: it is filled up to where the live one stands, a
snapshot of the live one is opened, the build is advanced to exactly that position, and every row
is compared. To switch, the live build's write lock is taken, so that its runner stands still; the
build is advanced to exactly where it stands, and goes live under that lock. So readers never see
the log go backwards. What was appended since is applied after the switch, as a runner does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .applying import Applier
from .beginning import begin_build, discard_of_another_log, discard_outdated
from .database import FILLING, Build
from .declaration import Projection
from .errors import (
    BuildDamaged,
    BuildMissing,
    DeclarationMismatch,
    LogChanged,
    ProjectionError,
)
from .faults import named_faults
from .filling import fill
from .following import Follower, catch_up, settle
from .live_side import LiveSide
from .log import Log
from .parking import parked
from .registry import BUILDING, BuildInfo, Registry
from .removing import remove_build
from .runner import HEARTBEAT, holder_of
from .running_lock import RunningLock
from .verifying import Verification, verify_against_kernel, verify_against_live

NAMED = 10
"""How many parked sessions get a line of their own in a report."""

SAMPLE = 200
"""Sessions that are folded anew where there is no live build to compare with."""


@dataclass
class Progress:
    """What a rebuild is doing: `stage`, and how much of how much it has done: events that are
    applied, rows that are compared, sessions that are verified. `total` 0: not known."""

    stage: str
    done: int = 0
    total: int = 0


@dataclass
class RebuildReport:
    """What a rebuild did. `build` is its number; `switched` tells whether it is live now.

    `before`: the build that was live, and is kept. `position`: the id of the log it stands at.
    """

    name: str
    build: int
    events: int = 0
    position: int = 0
    resumed: bool = False
    switched: bool = False
    before: int | None = None
    verification: Verification | None = None
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The machine shape."""
        return {
            "projection": self.name,
            "build": self.build,
            "events": self.events,
            "position": self.position,
            "resumed": self.resumed,
            "switched": self.switched,
            "before": self.before,
            "verification": None if self.verification is None else self.verification.to_json(),
            "notes": self.notes,
        }


class Rebuild:
    """One rebuild of one projection. Killed at any moment, the next one goes on where it was.

    `say` is told how far it is. `pause` is called at the end of each stage (`batch`, `filled`,
    `snapshot`, `page`, `compared`, `verified`, `locked`, `followed`, `switching`, `switched`):
    what stops, kills or appends there tests it.
    """

    def __init__(
        self,
        projection: Projection,
        log: Log,
        store: Path,
        *,
        say: Callable[[Progress], None] = lambda progress: None,
        pause: Callable[[str], None] = lambda stage: None,
    ) -> None:
        self._projection = projection
        self._log = log
        self._registry = Registry(store)
        self._say = say
        self._pause = pause
        self._total = 0
        self._parks = False

    def run(
        self,
        *,
        from_scratch: bool = False,
        accept: bool = False,
        switch: bool = True,
        park: bool = False,
        sample: int | None = SAMPLE,
    ) -> RebuildReport:
        """Build, verify, switch.

        `from_scratch`: throw an unfinished build away, and do not compare with the live one,
        which the log may no longer agree with. `accept`: switch although rows differ, or
        although the live build is of a newer version.
        `switch`: false leaves the verified build beside the live one. `park`: let a session stand
        still at an event that cannot be applied, as a runner does, and leave it out of what is
        compared; the notes of the report name each. `sample`: how many
        sessions are folded anew where nothing live can be compared; None: all.
        Raises `PoisonEvent`, `LogChanged`, `AlreadyRunning`, `DeclarationMismatch`, `BuildFault`.
        """
        self._log.refresh()
        self._check_version(switch=switch, accept=accept)
        self._parks = park
        discarded = discard_outdated(self._registry, self._projection, parks=park)
        if from_scratch:
            self._throw_away()
        stale = discard_of_another_log(self._registry, self._projection, self._log)
        with ExitStack() as stack:
            stack.callback(self._registry.close)
            info, build = self._open(stack)
            stack.enter_context(named_faults(info.name, build.path))
            live = LiveSide(self._registry, self._projection, self._log)
            report = RebuildReport(info.name, info.number, before=live.number)
            report.notes += [
                f"build {number} was begun by another state of the program; thrown away"
                for number in discarded
            ]
            report.notes += [
                f"build {number} had begun to read the log as it was; thrown away"
                for number in stale
            ]
            self._fill(build, None if from_scratch else live.position(), report)
            report.verification = self._verify(build, live, report, sample, from_scratch)
            settle(build)
            self._pause("verified")
            if switch and (report.verification.is_equal or accept):
                self._switch(build, live, info)
                report.switched = True
                self._pause("switched")
                # It is live now, and still ours to run: what is poison from here on is parked.
                catch_up(Applier(build, self._log), self._log.last_id())
            report.notes += _parked_lines(build)
            _check_there(build)
            progress = build.progress()
            report.events, report.position = progress.events, progress.position
            return report

    def _check_version(self, *, switch: bool, accept: bool) -> None:
        """Raise `DeclarationMismatch` where an older program would put its build in the place of a
        newer one's."""
        wanted = self._projection.SCHEMA_VERSION
        live = self._registry.find_live(self._projection.NAME)
        if switch and not accept and live is not None and live.schema_version > wanted:
            raise DeclarationMismatch(live.name, live.schema_version, wanted)

    def _throw_away(self) -> None:
        for info in self._registry.builds(self._projection.NAME):
            if info.state == BUILDING:
                remove_build(self._registry, info)

    def _open(self, stack: ExitStack) -> tuple[BuildInfo, Build]:
        """The build to work on, which nobody else works on as long as `stack` holds it."""
        projection, name = self._projection, self._projection.NAME
        while True:
            info = begin_build(self._registry, projection, parks=self._parks)
            path = self._registry.path_of(name, info.number)
            lock = RunningLock(name, path)
            lock.acquire(wait=False, holder=partial(holder_of, path, projection))
            # While we waited for the lock, the build may have gone live, or been dropped.
            if self._registry.unfinished(name, info.fingerprint) == info:
                break
            lock.release()
        stack.callback(lock.release)
        build = Build(path, projection, create=True)
        stack.callback(build.close)
        return info, build

    # -- filling ---------------------------------------------------------------------------

    def _fill(self, build: Build, upto: int | None, report: RebuildReport) -> None:
        """Fill the build up to where the live one stands, or to the end of the log."""
        target = self._log.last_id() if upto is None else upto
        row = self._log.row(target) if target else None
        build.create(self._log.uuid, target, None if row is None else row.digest())
        build.check()
        progress = build.progress()
        report.resumed = progress.events > 0
        with build.writing():
            build.begin_beating(time.time())
        if progress.phase != FILLING:
            return
        applier = Applier(build, self._log, parks=self._parks)
        done, self._total = progress.events, self._log.count(progress.target)
        began, here = time.monotonic(), 0
        beat = began
        self._say(Progress("fill", done, self._total))
        for events in fill(applier):
            done, here = done + events, here + events
            self._say(Progress("fill", done, self._total))
            now = time.monotonic()
            if now - beat >= HEARTBEAT:
                beat = now
                with build.writing():
                    build.beat(time.time(), here / (now - began))
            self._pause("batch")
        self._pause("filled")

    def _follow(self, build: Build, upto: int | None) -> None:
        follower = Follower(Applier(build, self._log, parks=self._parks))
        while follower.step(upto):
            done = build.progress().events
            self._say(Progress("follow", done, max(done, self._total)))
            self._pause("page")

    # -- verifying -------------------------------------------------------------------------

    def _verify(
        self,
        build: Build,
        live: LiveSide,
        report: RebuildReport,
        sample: int | None,
        from_scratch: bool,
    ) -> Verification:
        if not from_scratch:
            with live.reading() as old:
                here = build.progress().position
                if old is None:
                    report.notes.append("nothing live that is filled; not compared with it")
                elif old.progress().position < here:
                    # Only a live build that was itself put back to an older state is behind.
                    report.notes.append("the live build is behind this one; not compared with it")
                else:
                    self._pause("snapshot")
                    self._follow(build, old.progress().position)
                    self._say(Progress("compare"))
                    with build.reading():
                        found = verify_against_live(
                            old, build, self._log, say=partial(self._tell, "compare")
                        )
                    self._pause("compared")
                    return found
        self._follow(build, None)
        self._say(Progress("verify"))
        with build.reading():
            found = verify_against_kernel(
                build, self._log, sample=sample, say=partial(self._tell, "verify")
            )
        self._pause("compared")
        return found

    def _tell(self, stage: str, done: int) -> None:
        self._say(Progress(stage, done))

    # -- switching -------------------------------------------------------------------------

    def _switch(self, build: Build, live: LiveSide, info: BuildInfo) -> None:
        """Go live. The lock is held for as long as the live build's last few pages take."""
        with suppress(LogChanged, BuildDamaged):  # from scratch, neither matters
            self._follow(build, live.position())
        with live.held() as stands_at:
            # From here on the live runner stands still.
            self._pause("locked")
            self._follow(build, stands_at)
            self._pause("followed")
            here = build.progress().position
            if stands_at is not None and here < stands_at:
                raise ProjectionError(
                    info.name,
                    f"the new build is at id {here}, the live one at {stands_at}; "
                    "run the rebuild again",
                )
            self._pause("switching")
            _check_there(build)
            self._registry.go_live(info.name, info.number, live.number)


def _parked_lines(build: Build) -> list[str]:
    """A line for each session that stands still in a build; of many, the first."""
    stand = parked(build)
    lines = [
        f"session {one.session_id} is parked at {one.position} ({one.topic}): {one.error}"
        for one in stand[:NAMED]
    ]
    return lines if len(stand) <= NAMED else [*lines, f"{len(stand) - NAMED:,} more are parked"]


def _check_there(build: Build) -> None:
    """Raise `BuildMissing` if the file was removed or replaced while it was built."""
    if not build.is_at_its_path():
        raise BuildMissing(build.projection.NAME, build.path)
