"""What an operator sees of a projection, and what a reader is told."""

from __future__ import annotations

import os
import sqlite3
import time

import pytest

from tapefold import Sessions
from tapefold.projections.opening import read_model, runner
from tapefold.projections.running_lock import RunningLock
from tapefold.projections.status import status_of

from .machinery import CountingNext, Shop


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


def test_a_store_that_is_opened_by_a_link_has_the_same_projections(shop):
    shop.run()
    link = shop.path.with_name("link.db")
    link.symlink_to(shop.path)
    other = Shop(link)
    assert other.read_model().has_passed(shop.log.last_id())
    other.close()


def test_two_applications_in_one_file_have_projections_of_their_own(shop):
    shop.run()
    other = Sessions(shop.path, env={"TAPEFOLD_EVENTS_TABLE": "other_events"})
    other.start("theirs", persist=True)
    runner(other, "branch_tree").run(until_caught_up=True)
    runner(shop.sessions, "branch_tree").run(until_caught_up=True)
    with read_model(other, "branch_tree").reading() as build:
        found = build.connection.execute("SELECT session_id FROM bt_sessions").fetchall()
    assert found == [("theirs",)]
    other.close()
    assert shop.read_model().has_passed(shop.log.last_id())
