"""An event that cannot be applied stops its own session and no other, and goes on when mended."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from tapefold.projections.applying import ATTEMPTS, Applier
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.branch_tree.reading import TreeReader
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.effective_view.reading import EffectiveReader
from tapefold.projections.errors import PoisonEvent, SessionParked
from tapefold.projections.following import Follower
from tapefold.projections.maintenance import parked_in_live, refold, retry

from .machinery import POISON


def parked(shop):
    return parked_in_live(shop.registry, shop.projection)


def poison(shop):
    """Session `a` has poison at position 3, and more behind it."""
    shop.say("a", POISON)
    shop.say("b", "of another session")
    shop.say("a", "behind it")


@pytest.mark.parametrize("filled_first", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_session_with_poison_stands_before_it_and_the_others_go_on(shop, filled_first):
    if filled_first:
        shop.run()
    poison(shop)
    shop.run()
    (one,) = parked(shop)
    assert (one.session_id, one.position, one.kind) == ("a", 3, "ValueError")
    assert one.error == "poison cannot be counted"
    assert one.attempts == ATTEMPTS
    rows = [row[:2] for row in shop.rows()["c_events"]]
    assert rows == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3)]
    with shop.read_model().reading() as build:
        assert build.progress().position == shop.log.last_id()


def test_a_parked_session_goes_on_from_the_event_in_order_up_to_the_position(shop, mended):
    poison(shop)
    shop.run()
    shop.say("a", "not read yet")
    mended()
    build = shop.live_build()
    (done,) = retry(build, shop.log)
    assert (done.position, done.events, done.is_parked) == (4, 2, False)
    build.close()
    assert parked(shop) == []
    shop.run()
    assert [row[1] for row in shop.rows()["c_events"] if row[0] == "a"] == [1, 2, 3, 4, 5]


def test_a_retry_that_fails_again_counts_on_and_keeps_since_when(shop):
    poison(shop)
    shop.run()
    (before,) = parked(shop)
    build = shop.live_build()
    (done,) = retry(build, shop.log)
    build.close()
    assert done.is_parked
    (after,) = parked(shop)
    assert (after.attempts, after.since) == (2 * ATTEMPTS, before.since)


def test_a_retry_while_the_runner_is_at_work_is_heeded_by_it(shop, mended):
    """The runner knows its parked sessions by heart; passing over one that goes on again would
    lose its events in silence."""
    poison(shop)
    shop.run()
    build, other = shop.live_build(), shop.live_build()
    follower = Follower(Applier(build, shop.log))
    assert follower.step() == 0
    shop.say("a", "the runner passes over this")
    assert follower.step() == 1
    mended()
    assert retry(other, shop.log)[0].position == 5
    shop.say("a", "but not over this")
    assert follower.step() == 1
    build.close()
    other.close()
    assert [row[1] for row in shop.rows()["c_events"] if row[0] == "a"] == [1, 2, 3, 4, 5, 6]


def test_one_session_is_retried_alone_if_it_is_named(shop, mended):
    poison(shop)
    shop.say("b", POISON)
    shop.run()
    mended()
    build = shop.live_build()
    assert [one.session_id for one in retry(build, shop.log, "b")] == ["b"]
    build.close()
    assert [one.session_id for one in parked(shop)] == ["a"]


def test_a_refold_of_a_parked_session_parks_it_again_at_the_same_place(shop):
    poison(shop)
    shop.run()
    build = shop.live_build()
    done = refold(build, shop.log, "a")
    build.close()
    assert (done.position, done.is_parked) == (2, True)
    assert [(one.session_id, one.position) for one in parked(shop)] == [("a", 3)]


def test_a_refold_never_throws_away_rows_that_it_cannot_make_again(shop):
    shop.say("a", "the third")
    shop.run()
    rows = shop.rows()
    shop.spoil_event("a", 2)
    build = shop.live_build()
    with pytest.raises(PoisonEvent, match=r"position 2 .*its rows stay .*position 3") as hit:
        refold(build, shop.log, "a")
    build.close()
    assert (hit.value.session_id, hit.value.position) == ("a", 2)
    assert shop.rows() == rows
    assert parked(shop) == []


def test_nor_does_the_refold_of_a_session_that_stands_still_later_on(shop):
    poison(shop)
    shop.run()
    before, rows = parked(shop), shop.rows()
    shop.spoil_event("a", 1)
    build = shop.live_build()
    with pytest.raises(PoisonEvent, match="session 'a', position 1 "):
        refold(build, shop.log, "a")
    build.close()
    assert (parked(shop), shop.rows()) == (before, rows)


def test_a_rebuild_stops_at_poison_and_names_it_and_goes_on_when_it_is_mended(shop, mended):
    poison(shop)
    shop.run()
    with pytest.raises(PoisonEvent, match=r"session 'a', position 3 .*poison cannot be counted"):
        shop.rebuild()
    assert shop.registry.live("counting").number == 1
    mended()
    report = shop.rebuild()
    assert report.switched
    assert parked(shop) == []
    assert len([row for row in shop.rows()["c_events"] if row[0] == "a"]) == 4


def full_disk() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


@pytest.mark.parametrize("error", [MemoryError(), OSError("the disk"), full_disk()])
def test_what_is_the_databases_fault_parks_nobody(shop, monkeypatch, error):
    def note(text):
        shop.said.append(text)
        runner.stop()

    runner = shop.runner(say=note)
    fold = type(shop.projection.open(shop.log, "a", 0))

    def failing(self, event):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(fold, "apply", failing)
        runner.run()
    assert any("trying again" in text for text in shop.said)
    assert parked(shop) == []
    shop.run()
    assert len(shop.rows()["c_events"]) == 4


# -- events that cannot be decoded, in the effective view --------------------------------------


@pytest.fixture
def view_shop(shop):
    shop.projection = EffectiveView()
    return shop


def test_a_damaged_event_parks_its_session_and_its_view_says_so(view_shop):
    shop = view_shop
    shop.run()
    shop.say("a", "damaged")
    shop.say("b", "well")
    state = shop.spoil_event("a", 3)
    shop.run()
    with shop.read_model().reading() as build:
        reader = EffectiveReader(build.connection, shop.log)
        view = reader.view("a")
        assert view.position == 2
        assert view.parked is not None
        assert (view.parked.position, view.parked.kind) == (3, "UnreadableEvent")
        assert reader.view("b").parked is None
    shop.mend_event("a", 3, state)
    build = shop.live_build()
    assert not retry(build, shop.log)[0].is_parked
    build.close()
    with shop.read_model().reading() as build:
        view = EffectiveReader(build.connection, shop.log).view("a")
        assert (view.position, view.parked) == (3, None)


def test_the_tree_of_a_parked_session_says_so(shop):
    shop.projection = BranchTree()
    shop.say("a", "damaged")
    shop.spoil_event("a", 3)
    shop.run()
    with shop.read_model().reading() as build:
        reader = TreeReader(build.connection, shop.log)
        assert reader.tree("b").parked is None
        assert reader.tree("a").parked.position == 3


def test_a_session_that_is_parked_at_its_first_event_is_not_simply_missing(view_shop):
    shop = view_shop
    shop.spoil_event("a", 1)
    shop.run()
    with (
        shop.read_model().reading() as build,
        pytest.raises(SessionParked, match=r"'a' is parked at position 1: .*projections retry"),
    ):
        EffectiveReader(build.connection, shop.log).view("a")


def test_an_event_of_a_newer_program_parks_its_session_until_the_update(view_shop):
    shop = view_shop
    state = shop.spoil_event("a", 2)
    newer = state.replace(b',"head":', b',"v":99,"head":', 1)
    shop.mend_event("a", 2, newer)
    shop.run()
    (one,) = parked(shop)
    assert one.kind == "NewerEvent"
    assert "upgrade tapefold" in one.error


def test_a_fork_of_a_damaged_session_is_parked_and_tells_of_its_parent(view_shop):
    shop = view_shop
    child = shop.sessions.fork("a")
    shop.say(child.id, "in the fork")
    state = shop.spoil_event("a", 2)
    shop.run()
    found = {one.session_id: one for one in parked(shop)}
    assert set(found) == {"a", child.id}
    assert "'a', position 2" in found[child.id].error
    shop.mend_event("a", 2, state)
    build = shop.live_build()
    assert not any(one.is_parked for one in retry(build, shop.log))
    build.close()
    rows = shop.rows()
    shutil.rmtree(shop.registry.folder)
    shop.run()
    assert shop.rows() == rows


@pytest.mark.parametrize("state", ["'text'", "x''", "x'00ff'"])
def test_a_row_that_nobody_would_write_parks_its_session_alone(view_shop, state):
    shop = view_shop
    shop.say("a", "spoilt")
    with sqlite3.connect(shop.path) as connection:
        connection.execute(
            f"UPDATE tapefold_events SET state = {state} "
            "WHERE originator_id = 'a' AND originator_version = 3"
        )
    connection.close()
    shop.run()
    assert [(one.session_id, one.position) for one in parked(shop)] == [("a", 3)]
    shop.say("b", "goes on")
    shop.run()
    with shop.read_model().reading() as build:
        assert EffectiveReader(build.connection, shop.log).view("b").position == 3
