"""Runs one projection: fills its build, follows the log, and waits for more."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from .applying import Applier
from .backing_off import BackOff, FaultNote
from .beginning import begin_build
from .beside import Beside
from .database import FILLING, Build
from .declaration import Projection
from .errors import BuildFault, DeclarationMismatch
from .faults import named
from .filling import fill
from .following import Follower, settle
from .log import Log
from .registry import BuildInfo, Registry
from .running_lock import RunningLock

IDLE: Final = 0.055
"""Seconds between two looks at a log that had nothing new."""

SELDOM: Final = 6
"""Of so many looks one asks as well whether the build is still live, and the files are there."""

HEARTBEAT: Final = 5.0
"""Seconds between two signs of life."""

TURN: Final = 0.001
"""Seconds after each page in which others get the lock: a switch, a refold, a retry."""

NAMED: Final = 10
"""How many sessions that are parked in one batch get a line of their own."""

Say = Callable[[str], None]


class Runner:
    """Runs the live build of one projection until `stop`; the first run makes one.

    One process at a time: another one waits, and takes over. A build that was switched to is
    taken up, one that was removed is made anew. `say` gets a line when something is amiss, and
    for each session that is parked; `begins` the number of the build that it runs from now on.
    `page`: rows of a page at most. `idle`: seconds between two looks when nothing was new.
    """

    def __init__(
        self,
        projection: Projection,
        log: Log,
        store: Path,
        *,
        say: Say = lambda text: None,
        begins: Callable[[int], None] = lambda build: None,
        page: int | None = None,
        idle: float = IDLE,
    ) -> None:
        self.projection = projection
        self.log = log
        self._registry = Registry(store)
        self._say = say
        self._begins = begins
        self._begun: int | None = None
        self._page = page
        self._idle = idle
        # Not threading.Event: its lock is not safe in the handler of a signal.
        self._is_stopped = False
        self._back_off = BackOff(projection.NAME, say, lambda: self._is_stopped)
        self._mine: _Mine | None = None
        self._beside: Beside | None = None
        self._beat = self._since = self._count = 0.0

    def stop(self) -> None:
        """End after the batch in hand. From any thread, or a signal's handler."""
        self._is_stopped = True

    @property
    def fault(self) -> Exception | None:
        """What it waits out, or waited out when it was stopped; None while all is well."""
        return self._back_off.error

    def run(self, *, wait: bool = True, until_caught_up: bool = False) -> None:
        """Run. `wait`: for another process that runs it; else raises `AlreadyRunning`.

        `until_caught_up`: end when nothing is new, or when another process that runs it has read
        what the log held at the beginning. A database that is busy, full or gone is tried again,
        in this case for ten seconds, then its error is raised. Raises `LogChanged`,
        `DeclarationMismatch`, `BuildDamaged`.
        """
        try:
            while not self._is_stopped:
                try:
                    if self._run_live(wait, until_caught_up):
                        return
                    wait = True  # it was ours once; whoever holds the next build lets go soon
                except Exception as error:
                    self._wait_out(error, until_caught_up)
                finally:
                    self._let_go()
        finally:
            self._registry.close()

    def _run_live(self, wait: bool, until_caught_up: bool) -> bool:
        """Run what is live now; answers whether all is done."""
        info = self._registry.find_live(self.projection.NAME) or self._first()
        if info.fingerprint != self.projection.fingerprint():
            raise DeclarationMismatch(
                self.projection.NAME, info.schema_version, self.projection.SCHEMA_VERSION
            )
        path = self._registry.path_of(self.projection.NAME, info.number)
        if until_caught_up and self._beside is None:
            self.log.refresh()
            self._beside = Beside(self.projection, self.log, self.log.last_id())
        lock = RunningLock(self.projection.NAME, path)
        if not lock.acquire(
            wait=wait,
            stopped=partial(self._is_over, info.number, path),
            waiting=partial(self._say_that_it_waits, path),
            holder=partial(holder_of, path, self.projection),
        ):
            return self._is_live(info.number) and self._has_been_passed(path)
        self._mine = _Mine(info.number, lock, FaultNote(path))
        if self.fault is None:  # else it says why we wait, until something succeeds
            self._mine.note.blank()
        if self._begun != info.number:
            self._begun = info.number
            self._begins(info.number)
        return self._run_build(info, path, until_caught_up)

    def _let_go(self) -> None:
        if self._mine is not None:
            self._mine.lock.release()
            self._mine = None

    def _is_over(self, number: int, path: Path) -> bool:
        """Whether it is no longer worth while to wait for another process."""
        return self._is_stopped or not self._is_live(number) or self._has_been_passed(path)

    def _has_been_passed(self, path: Path) -> bool:
        return self._beside is not None and self._beside.has_passed(path)

    def _is_mine_still(self, build: Build) -> bool:
        """Whether it is live, and both its file and the locked one are those at their paths: else
        others read another one, or somebody else may run it as well."""
        mine = self._mine
        is_held = mine is not None and mine.lock.is_at_its_path() and self._is_live(mine.number)
        return is_held and build.is_at_its_path()

    def _is_live(self, number: int) -> bool:
        return self._registry.is_live(self.projection.NAME, number)

    def _say_that_it_waits(self, path: Path) -> None:
        holder = holder_of(path, self.projection)
        self._begun = None
        until = "to take over" if self._beside is None else "until it has caught up"
        self._say(
            f"projection {self.projection.NAME}: another process{holder} runs or builds it; "
            f"waiting {until}"
        )

    def _first(self) -> BuildInfo:
        """Make the first build, which is live from its beginning: there is nothing else to read."""
        projection, name = self.projection, self.projection.NAME
        info = begin_build(self._registry, projection)
        build = Build(self._registry.path_of(name, info.number), projection, create=True)
        try:
            self._create(build)
        finally:
            build.close()
        self._registry.go_live(name, info.number, None)
        return self._registry.live(name)

    def _create(self, build: Build) -> None:
        target = self.log.last_id()
        row = self.log.row(target) if target else None
        build.create(self.log.uuid, target, None if row is None else row.digest())

    def _run_build(self, info: BuildInfo, path: Path, until_caught_up: bool) -> bool:
        """Run a build as long as it is live; answers whether all is done."""
        build = Build(path, self.projection, create=True)
        build.is_stopped = lambda: self._is_stopped
        try:
            self._create(build)  # if its file was removed: it comes back as it was
            build.check()
            applier = Applier(build, self.log)
            follower = (
                Follower(applier) if self._page is None else Follower(applier, page=self._page)
            )
            self._begin_beating(build)
            is_settled = False
            while not self._is_stopped:
                rows = self._batch(build, applier, follower)
                self._all_is_well()
                if rows:
                    is_settled = False
                elif not is_settled:
                    settle(build)
                    is_settled = True
                self._heart(build, rows)
                if not self._is_mine_still(build):
                    return False
                if rows:
                    time.sleep(TURN)
                    continue
                if until_caught_up:
                    return True
                self._wait(build, follower)
            return True
        except sqlite3.Error as error:
            raise named(error, self.projection.NAME, path) from error
        finally:
            build.close()

    def _batch(self, build: Build, applier: Applier, follower: Follower) -> int:
        """One page; while it is filling, batch after batch. Answers how many rows it had."""
        if build.progress().phase != FILLING:
            rows = follower.step()
            self._say_parked(applier)
            return rows
        rows = 0
        for events in fill(applier):
            rows += events
            self._say_parked(applier)
            self._heart(build, events)
            if self._is_stopped or not build.is_at_its_path():
                break
        return max(rows, 1)

    def _say_parked(self, applier: Applier) -> None:
        lines = applier.take_parked()
        name, see = self.projection.NAME, "see `tapefold projections parked`"
        for line in lines[:NAMED]:
            self._say(f"projection {name}: {line}; {see}")
        if len(lines) > NAMED:
            self._say(f"projection {name}: {len(lines) - NAMED:,} more sessions parked; {see}")

    def _wait(self, build: Build, follower: Follower) -> None:
        """Until something may be new. Takes no lock; once per heartbeat all is looked at."""
        follower.refresh()
        looks = 0
        while not self._is_stopped and not follower.is_anything_new():
            time.sleep(self._idle)
            looks += 1
            if looks % SELDOM:
                continue
            follower.refresh()
            if not self._is_mine_still(build):
                return
            if time.monotonic() - self._beat >= HEARTBEAT:
                return

    # -- faults ----------------------------------------------------------------------------

    def _all_is_well(self) -> None:
        self._back_off.is_over()
        if self._mine is not None:
            self._mine.note.blank()

    def _wait_out(self, error: Exception, until_caught_up: bool) -> None:
        """The build stays ours meanwhile, so that whoever looks sees who waits, and for what."""
        mine = self._mine
        self._back_off.wait(
            error,
            None if mine is None else mine.note,
            gives_up=until_caught_up,
            is_in_vain=lambda: mine is not None and not self._is_live(mine.number),
        )

    # -- signs of life ---------------------------------------------------------------------

    def _begin_beating(self, build: Build) -> None:
        with build.writing():
            build.begin_beating(time.time())
        self._beat = self._since = time.monotonic()
        self._count = 0

    def _heart(self, build: Build, rows: int) -> None:
        """A sign of life now and then, with the rate since the last one."""
        self._count += rows
        now = time.monotonic()
        if now - self._beat < HEARTBEAT:
            return
        with build.writing():
            build.beat(time.time(), self._count / max(now - self._since, 0.001))
        self._beat = self._since = now
        self._count = 0


class _Mine(NamedTuple):
    """The build that this process runs."""

    number: int
    lock: RunningLock
    note: FaultNote


def holder_of(path: Path, projection: Projection) -> str:
    """Who runs or builds a file, as far as it says so: ` (process 12)`."""
    try:
        build = Build(path, projection, read_only=True)
    except BuildFault:
        return ""
    try:
        sign = build.sign()
    except sqlite3.Error:
        return ""
    finally:
        build.close()
    return "" if sign is None else f" (process {sign.pid})"
