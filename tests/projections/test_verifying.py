"""Verifying finds whatever differs from the tapes, and a refold mends it."""

from __future__ import annotations

import pytest

from tapefold.projections.maintenance import refold
from tapefold.projections.rebuilding import build_and_compare
from tapefold.projections.verifying import verify_against_kernel, verify_live


def test_a_refold_mends_one_session_up_to_the_position_and_leaves_the_others(shop):
    shop.run()
    good = shop.rows()
    shop.change_rows("UPDATE c_events SET body = 'spoilt'")
    shop.say("a", "not read yet")
    build = shop.live_build()
    done = refold(build, shop.log, "a")
    build.close()
    assert (done.position, done.events) == (2, 2)
    rows = shop.rows()["c_events"]
    assert rows[:2] == good["c_events"][:2]
    assert {row[2] for row in rows[2:]} == {"spoilt"}
    shop.run()
    assert len(shop.rows()["c_events"]) == 5


def test_a_refold_of_a_session_that_there_is_not_says_so(shop):
    shop.run()
    build = shop.live_build()
    with pytest.raises(LookupError, match="nobody"):
        refold(build, shop.log, "nobody")
    build.close()


def spoil_rows(shop):
    shop.change_rows("UPDATE c_events SET body = 'spoilt' WHERE session_id = 'a'")


def lose_a_session(shop):
    shop.change_rows("DELETE FROM c_events WHERE session_id = 'a'")
    shop.change_rows("DELETE FROM tapefold_positions WHERE session_id = 'a'")


def stand_behind(shop):
    shop.change_rows("DELETE FROM c_events WHERE session_id = 'a' AND position = 2")
    shop.change_rows("UPDATE tapefold_positions SET position = 1 WHERE session_id = 'a'")


def add_a_ghost(shop):
    shop.change_rows("INSERT INTO c_events VALUES ('ghost', 1, 'x')")


@pytest.mark.parametrize("spoil", [spoil_rows, lose_a_session, stand_behind, add_a_ghost])
def test_verifying_against_the_tapes_finds(shop, spoil):
    shop.run()
    assert verify_live(shop.projection, shop.log, shop.path).is_equal
    spoil(shop)
    assert not verify_live(shop.projection, shop.log, shop.path).is_equal


def test_verifying_looks_at_the_builds_own_position_only(shop):
    shop.run()
    shop.say("a", "not read yet")
    shop.begin("c")
    found = verify_live(shop.projection, shop.log, shop.path)
    assert (found.is_equal, found.position, found.sessions) == (True, 4, 2)


def test_a_sample_is_the_same_sessions_each_time(shop):
    shop.begin(*[f"s{n}" for n in range(20)])
    shop.run()
    with shop.read_model().reading() as build:
        found = verify_against_kernel(build, shop.log, sample=5)
        assert found.sessions == 5
        again = verify_against_kernel(build, shop.log, sample=5)
        assert again.comparison.equal == found.comparison.equal


def test_building_a_second_time_to_compare_leaves_nothing_behind(shop):
    shop.run()
    files = {path.name for path in shop.registry.folder.glob("*.db")}
    assert build_and_compare(shop.projection, shop.log, shop.path).is_equal
    assert {path.name for path in shop.registry.folder.glob("*.db")} == files
    shop.change_rows("UPDATE c_events SET body = 'spoilt'")
    assert build_and_compare(shop.projection, shop.log, shop.path).comparison.changed == 4


def test_what_is_parked_in_the_live_build_alone_is_folded_anew_in_the_new_one(shop, mended):
    shop.say("a", "poison")
    shop.run()
    mended()
    report = shop.rebuild()
    assert report.switched
    assert report.verification.parked == ["a"]
    assert report.verification.sessions == 1
