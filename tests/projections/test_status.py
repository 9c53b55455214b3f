"""What an operator sees of a projection, and what a reader is told."""

from __future__ import annotations

import os
import sqlite3
import time

import pytest

from tapefold.projections.running_lock import RunningLock
from tapefold.projections.status import status_of

from .machinery import CountingNext


def test_a_rebuild_that_runs_is_shown_and_mends_what_it_is_for(shop):
    shop.run()
    seen = []

    def pause(stage):
        if stage == "filled":
            seen.append(status_of(CountingNext(), shop.log, shop.path))

    assert [one.code for one in status_of(CountingNext(), shop.log, shop.path).problems] == [
        "mismatch"
    ]
    shop.rebuild(CountingNext(), pause=pause)
    (status,) = seen
    assert status.is_healthy
    assert status.rebuild is not None
    assert (status.rebuild.build, status.rebuild.events, status.rebuild.total) == (2, 4, 4)
    assert (status.rebuild.is_running, status.rebuild.pid) == (True, os.getpid())


def test_a_clock_that_is_put_back_makes_nobody_old_and_one_that_stands_still_shows(shop):
    shop.run()
    lock = RunningLock("counting", shop.live_file())
    assert lock.acquire(wait=False)
    now = time.time()
    assert status_of(shop.projection, shop.log, shop.path, now - 86_400).is_healthy
    (problem,) = status_of(shop.projection, shop.log, shop.path, now + 600).problems
    assert problem.code == "no_sign"
    lock.release()


def test_a_mistake_in_a_readers_own_statement_is_told_as_it_is(shop):
    shop.run()
    model = shop.read_model()
    with (
        pytest.raises(sqlite3.OperationalError, match="no such column: missing"),
        model.reading() as build,
    ):
        build.connection.execute("SELECT missing FROM c_events")
    assert model.has_passed(1)
