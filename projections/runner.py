"""Runs one projection: fills its build, follows the log, and waits for more."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from .applying import Applier
from .database import FILLING, Build
from .declaration import Projection
from .errors import BuildFault, DeclarationMismatch
from .faults import may_pass, named
from .filling import fill
from .following import Follower
from .log import Log
from .registry import BuildInfo, Registry
from .running_lock import RunningLock

IDLE: Final = 0.04
"""Seconds between two looks at a log that had nothing new."""

SELDOM: Final = 8
"""Of so many looks one asks as well whether the build is still live, and the files are there."""

HEARTBEAT: Final = 5.0
"""Seconds between two signs of life."""

BACK_OFF: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Seconds before a batch is tried again after a fault of the database."""

TURN: Final = 0.001
"""Seconds after each page in which others get the lock: a switch, a refold, a retry."""

NAP: Final = 0.05
"""Seconds of a sleep at most, so that a signal is heeded soon."""

Say = Callable[[str], None]


class Runner:
    """Runs the live build of one projection until `stop`; the first run makes one.

    One process at a time: another one waits, and takes over. A build that was switched to is
    taken up, one that was removed is made anew. `say` gets a line when something is amiss.
    `page`: rows of a page at most. `idle`: seconds between two looks when nothing was new.
    """

    def __init__(
        self,
        projection: Projection,
        log: Log,
        store: Path,
        *,
        say: Say = lambda text: None,
        page: int | None = None,
        idle: float = IDLE,
    ) -> None:
        self.projection = projection
        self.log = log
        self._registry = Registry(store)
        self._say = say
        self._page = page
        self._idle = idle
        # Not threading.Event: its lock is not safe in the handler of a signal.
        self._is_stopped = False
        self._faults = 0
        self._beat = self._since = self._count = 0.0

    def stop(self) -> None:
        """End after the batch in hand. From any thread, or a signal's handler."""
        self._is_stopped = True

    def run(self, *, wait: bool = True, until_caught_up: bool = False) -> None:
        """Run. `wait`: for another process that runs it; else raises `AlreadyRunning`.

        `until_caught_up`: end when nothing is new. A database that is busy, full or gone is tried
        again; raises `LogChanged`, `DeclarationMismatch`, `BuildDamaged`.
        """
        try:
            while not self._is_stopped:
                try:
                    if self._run_live(wait, until_caught_up):
                        return
                    wait = True  # it was ours once; whoever holds the next build lets go soon
                except Exception as error:
                    self._back_off(error)
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
        lock = RunningLock(self.projection.NAME, path)
        if not lock.acquire(
            wait=wait,
            stopped=partial(self._is_over, info.number),
            waiting=partial(self._say_that_it_waits, path),
            holder=partial(holder_of, path, self.projection),
        ):
            return False
        try:
            return self._run_build(info, path, until_caught_up)
        finally:
            lock.release()

    def _is_over(self, number: int) -> bool:
        return self._is_stopped or not self._is_live(number)

    def _is_live(self, number: int) -> bool:
        live = self._registry.find_live(self.projection.NAME)
        return live is not None and live.number == number

    def _say_that_it_waits(self, path: Path) -> None:
        holder = holder_of(path, self.projection)
        self._say(
            f"projection {self.projection.NAME}: another process{holder} runs or builds it; "
            "waiting to take over"
        )

    def _first(self) -> BuildInfo:
        """Make the first build, which is live from its beginning: there is nothing else to read."""
        projection, name = self.projection, self.projection.NAME
        info = self._registry.begin(name, projection.SCHEMA_VERSION, projection.fingerprint())
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
                self._faults = 0
                if rows:
                    is_settled = False
                elif not is_settled and type(self.projection).settle is not Projection.settle:
                    with build.writing():
                        self.projection.settle(build.connection)
                    is_settled = True
                self._heart(build, rows)
                if not self._is_live(info.number) or not build.is_at_its_path():
                    return False
                if rows:
                    time.sleep(TURN)
                    continue
                if until_caught_up:
                    return True
                self._wait(build, follower, info.number)
            return True
        except sqlite3.Error as error:
            raise named(error, self.projection.NAME, path) from error
        finally:
            build.close()

    def _batch(self, build: Build, applier: Applier, follower: Follower) -> int:
        """One page; while it is filling, batch after batch. Answers how many rows it had."""
        if build.progress().phase != FILLING:
            return follower.step()
        rows = 0
        for events in fill(applier):
            rows += events
            self._heart(build, events)
            if self._is_stopped or not build.is_at_its_path():
                break
        return max(rows, 1)

    def _wait(self, build: Build, follower: Follower, number: int) -> None:
        """Until something may be new. Takes no lock; once per heartbeat all is looked at."""
        follower.refresh()
        looks = 0
        while not self._is_stopped and not follower.is_anything_new():
            time.sleep(self._idle)
            looks += 1
            if looks % SELDOM:
                continue
            follower.refresh()
            if not self._is_live(number) or not build.is_at_its_path():
                return
            if time.monotonic() - self._beat >= HEARTBEAT:
                return

    # -- faults ----------------------------------------------------------------------------

    def _back_off(self, error: Exception) -> None:
        """Wait before the next try, if that may help; else raise the error."""
        if not may_pass(error):
            raise error
        if self._is_stopped:
            return
        pause = BACK_OFF[min(self._faults, len(BACK_OFF) - 1)]
        self._faults += 1
        self._say(f"projection {self.projection.NAME}: {error}; trying again in {pause:g} s")
        ends = time.monotonic() + pause
        while not self._is_stopped and time.monotonic() < ends:
            time.sleep(min(NAP, pause))

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
