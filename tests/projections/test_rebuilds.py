"""A rebuild is verified at one position, switched under the live build's lock, and resumable."""

from __future__ import annotations

import sqlite3
import threading
import time
from typing import Any

import pytest

from tapefold.projections import database
from tapefold.projections.applying import Applier
from tapefold.projections.errors import (
    AlreadyRunning,
    BuildNotWritable,
    DeclarationMismatch,
    ProjectionError,
)
from tapefold.projections.following import Follower
from tapefold.projections.registry import BUILDING, KEPT, LIVE
from tapefold.projections.removing import drop
from tapefold.projections.verifying import verify_live

from .machinery import Counting, CountingNext, Shop

SLOW = pytest.mark.slow
QUICK_STAGES = ["batch", "compared", "switching"]
MORE_STAGES = ["filled", "snapshot", "verified", "locked", "followed"]
STAGES = [*QUICK_STAGES, *(pytest.param(stage, marks=SLOW) for stage in MORE_STAGES)]


class Killed(BaseException):
    """What a rebuild dies of at a stage."""


def killed_at(stage):
    def pause(reached):
        if reached == stage:
            raise Killed

    return pause


def states(shop):
    return [info.state for info in shop.registry.builds("counting")]


def test_a_rebuild_compares_every_row_with_the_live_build_and_switches(shop):
    shop.run()
    report = shop.rebuild()
    assert report.switched
    assert report.verification.against == "live"
    assert report.verification.is_equal
    assert (report.before, report.build) == (1, 2)
    assert states(shop) == [KEPT, LIVE]
    assert shop.live_file().name == "counting.2.db"


def test_what_differs_is_named_with_both_values_and_nothing_is_switched(shop):
    shop.run()
    shop.change_rows("UPDATE c_events SET body = 'spoilt' WHERE session_id = 'a' AND position = 2")
    shop.change_rows("DELETE FROM c_events WHERE session_id = 'b' AND position = 1")
    shop.change_rows("INSERT INTO c_events VALUES ('ghost', 1, 'x')")
    report = shop.rebuild()
    assert not report.switched
    comparison = report.verification.comparison
    assert (comparison.added, comparison.removed, comparison.changed) == (1, 1, 1)
    changed = next(one for one in comparison.first if one.kind == "changed")
    assert changed.key == ("a", 2)
    assert changed.columns[0][:2] == ("body", "spoilt")
    assert "hello" in changed.columns[0][2]
    assert shop.live_file().name == "counting.1.db"
    assert shop.rebuild(accept=True).switched


def test_a_session_that_stands_at_another_position_is_a_difference(shop):
    """Its rows alone would not tell, where an event makes no row."""
    shop.run()
    shop.change_rows("UPDATE tapefold_positions SET position = 1 WHERE session_id = 'a'")
    assert shop.rebuild().verification.comparison.changed == 1


def test_across_a_schema_change_common_columns_are_compared_and_the_others_named(shop):
    shop.run()
    report = shop.rebuild(CountingNext())
    assert report.switched
    assert report.verification.comparison.left_out == ["c_events.kind"]
    assert report.verification.comparison.equal == 6  # four rows, two positions
    with pytest.raises(DeclarationMismatch):
        shop.run()
    shop.run(CountingNext())


# -- the race at the end -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "stage",
    [
        "verified",
        "locked",
        "switching",
        pytest.param("compared", marks=SLOW),
        pytest.param("followed", marks=SLOW),
    ],
)
def test_an_event_that_comes_while_the_build_declares_itself_finished_is_not_lost(
    shop, stage, monkeypatch
):
    """Appended between "caught up" and the switch, with the live runner moving just then."""
    monkeypatch.setattr("tapefold.projections.database.BUSY", 0.02)
    shop.run()
    other = Shop(shop.path)
    model = other.read_model()
    live = other.live_build()
    follower = Follower(Applier(live, other.log))
    seen: list[Any] = []

    def pause(reached):
        if reached != stage:
            return
        last = other.say("a", "just now")
        try:
            follower.step()
        except sqlite3.OperationalError as error:
            seen.append("held" if "locked" in str(error) else str(error))
        else:
            seen.append("moved")
        # Whatever the live one shows now, no reader may ever see less again.
        with model.reading() as build:
            seen.append(build.progress().position)
        seen.append(last)

    report = shop.rebuild(pause=pause)
    assert report.switched
    how, shown, last = seen
    assert how == ("moved" if stage in ("compared", "verified") else "held")
    assert shown == (last if how == "moved" else last - 1)
    with model.reading() as build:
        assert build.progress().position >= shown
        assert build.path.name == "counting.2.db"
    other.run()
    assert model.has_passed(last)
    live.close()
    other.close()
    assert [row[1] for row in shop.rows()["c_events"] if row[0] == "a"] == [1, 2, 3]
    assert verify_live(shop.projection, shop.log, shop.path).is_equal


def test_the_new_build_stands_exactly_where_the_live_one_does_when_it_is_switched(shop):
    shop.run()
    shop.say("a", "the live one has not read this")
    positions = []

    def pause(stage):
        if stage == "switching":
            for number in (1, 2):
                path = shop.registry.path_of("counting", number)
                with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as connection:
                    sql = "SELECT position FROM tapefold_projection"
                    positions.append(connection.execute(sql).fetchone()[0])

    report = shop.rebuild(pause=pause)
    assert positions == [4, 4]
    assert report.position == 5  # it goes on to the end of the log once it is live


def test_a_runner_takes_up_the_new_build_in_the_middle_of_its_work(shop):
    shop.run()
    own = Shop(shop.path)
    runner = own.runner()
    thread = threading.Thread(target=runner.run)
    thread.start()
    model = shop.read_model()
    for n in range(3):
        report = shop.rebuild(pause=lambda stage: shop.say("b", f"at {stage}"))
        assert report.switched
        assert model.wait_for(shop.say("a", f"after {n}"), 20)
    runner.stop()
    thread.join(20)
    own.close()
    assert shop.live_file().name == "counting.4.db"
    assert verify_live(shop.projection, shop.log, shop.path).is_equal


# -- stopped, killed, two at once --------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_a_rebuild_that_dies_at_a_stage_changes_nothing_and_the_next_goes_on_with_it(shop, stage):
    shop.run()
    before = shop.rows()
    with pytest.raises(Killed):
        shop.rebuild(pause=killed_at(stage))
    assert states(shop) == [LIVE, BUILDING]
    assert shop.rows() == before
    shop.say("a", "meanwhile")
    shop.run()
    report = shop.rebuild()
    assert report.switched
    assert (report.build, report.resumed) == (2, True)
    assert report.verification.against == "live"
    assert verify_live(shop.projection, shop.log, shop.path).is_equal


def test_a_rebuild_that_dies_after_the_switch_is_done(shop):
    shop.run()
    with pytest.raises(Killed):
        shop.rebuild(pause=killed_at("switched"))
    assert states(shop) == [KEPT, LIVE]
    shop.run()


def test_filling_goes_on_in_the_middle_of_a_session(shop, monkeypatch):
    for n in range(9):
        shop.say("a", f"text {n}")
    shop.run()
    monkeypatch.setattr("tapefold.projections.filling.EVENTS", 4)
    batches = []

    def pause(stage):
        if stage == "batch":
            batches.append(stage)
            raise Killed

    for _ in range(2):
        with pytest.raises(Killed):
            shop.rebuild(pause=pause)
    report = shop.rebuild()
    assert report.switched
    assert report.verification.is_equal
    assert report.events == 13


def test_two_rebuilds_at_once_the_second_is_refused_and_harms_nothing(shop):
    shop.run()
    refused = []

    def pause(stage):
        if stage == "verified":
            other = Shop(shop.path)
            with pytest.raises(AlreadyRunning) as caught:
                other.rebuild()
            refused.append(str(caught.value))
            with pytest.raises(AlreadyRunning):
                drop(other.registry, "counting", wait=0.1)
            with pytest.raises(AlreadyRunning):
                other.rebuild(from_scratch=True)
            other.close()

    assert shop.rebuild(pause=pause).switched
    assert "runs or builds it" in refused[0]
    assert states(shop) == [KEPT, LIVE]


def test_of_two_rebuilds_of_two_declarations_the_later_one_does_not_overrun_the_first(shop):
    shop.run()

    def pause(stage):
        if stage == "switching":
            other = Shop(shop.path)
            other.registry.go_live("counting", other_build, 1)
            other.close()

    other_build = shop.rebuild(CountingNext(), switch=False).build
    with pytest.raises(ProjectionError, match="build 2 has gone live meanwhile"):
        shop.rebuild(pause=pause)
    assert shop.registry.live("counting").number == other_build


def test_a_verified_build_can_wait_beside_the_live_one(shop):
    shop.run()
    report = shop.rebuild(switch=False)
    assert not report.switched
    assert shop.live_file().name == "counting.1.db"
    shop.say("a", "later")
    shop.run()
    report = shop.rebuild()
    assert (report.switched, report.resumed, report.build) == (True, True, 2)


def test_without_a_live_build_a_rebuild_is_verified_against_the_tapes(shop):
    report = shop.rebuild()
    assert report.switched
    assert report.verification.against == "kernel"
    assert report.verification.sessions == 2


def test_rebuilding_twice_gives_the_same_rows(shop):
    shop.run()
    first = shop.rows()
    shop.rebuild()
    shop.rebuild(from_scratch=True)
    assert shop.rows() == first


def test_the_two_declarations_differ_in_their_fingerprints():
    assert Counting.fingerprint() != CountingNext.fingerprint()


def test_the_runner_of_older_code_ends_with_the_reason_when_newer_code_has_switched(shop):
    """And the rows that it wrote until then are those that the newer build was compared with."""
    shop.run()
    own = Shop(shop.path)
    runner, caught = own.runner(), []

    def run():
        try:
            runner.run()
        except DeclarationMismatch as error:
            caught.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    report = shop.rebuild(CountingNext(), pause=lambda stage: shop.say("a", f"at {stage}"))
    assert report.switched
    thread.join(20)
    own.close()
    assert "update tapefold" in caught[0]
    shop.run(CountingNext())
    assert verify_live(CountingNext(), shop.log, shop.path).is_equal


def test_a_full_disk_is_waited_for_by_the_runner_and_told_by_a_rebuild(shop, monkeypatch):
    connect = database.connect

    def small(path, **how):
        connection = connect(path, **how)
        if not how.get("read_only") and "counting" in path.name:
            connection.execute("PRAGMA max_page_count=40")
        return connection

    shop.run()
    with monkeypatch.context() as patch:
        patch.setattr(database, "connect", small)
        for n in range(60):
            shop.say("a", f"{n} " + "x" * 4_000)
        runner = shop.runner(page=7)
        thread = threading.Thread(target=runner.run)
        thread.start()
        while not any("full" in text for text in shop.said):
            time.sleep(0.01)
        runner.stop()
        thread.join(20)
        assert "trying again in" in shop.said[0]
        with pytest.raises(BuildNotWritable, match="full"):
            shop.rebuild(from_scratch=True)
    shop.run()
    assert len(shop.rows()["c_events"]) == 64
    assert shop.rebuild().switched
