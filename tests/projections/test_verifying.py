"""Verifying finds whatever differs from the tapes, and a refold mends it."""

from __future__ import annotations

import pytest

from tapefold.projections.maintenance import refold
from tapefold.projections.second_build import PROGRAM, build_and_compare
from tapefold.projections.verifying import verify_against_kernel, verify_live

from .machinery import CountingFold


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


def builds(shop):
    return [(info.number, info.state) for info in shop.registry.builds("counting")]


def test_one_session_that_cannot_be_folded_keeps_no_other_from_being_verified(shop):
    shop.begin("c")
    shop.run()
    shop.spoil_event("b", 2)
    shop.change_rows("UPDATE c_events SET body = 'spoilt' WHERE session_id = 'c'")
    found = verify_live(shop.projection, shop.log, shop.path)
    assert [one[:2] for one in found.unreadable] == [("b", 2)]
    assert "cannot be read" not in found.unreadable[0].error  # what stands beside it says so
    assert (found.comparison.changed, found.sessions, found.parked) == (1, 2, [])


def test_an_unreadable_session_alone_is_a_finding(shop):
    shop.begin("c")
    shop.run()
    shop.spoil_event("b", 2)
    for verify in (verify_live, build_and_compare):
        found = verify(shop.projection, shop.log, shop.path)
        assert not found.is_equal
        assert found.to_json()["unreadable"][0]["session_id"] == "b"
        assert (found.comparison.is_equal, found.comparison.equal) == (True, 5)
    assert builds(shop) == [(1, "live")]


def test_what_is_parked_in_both_builds_is_left_out_and_the_rest_is_compared(shop):
    shop.say("a", "poison")
    shop.run()
    found = build_and_compare(shop.projection, shop.log, shop.path)
    assert (found.is_equal, found.parked, found.unreadable) == (True, ["a"], [])
    assert found.comparison.equal == 3  # two rows of b, and its position
    shop.change_rows("UPDATE c_events SET body = 'spoilt' WHERE session_id = 'b'")
    assert not build_and_compare(shop.projection, shop.log, shop.path).is_equal
    assert builds(shop) == [(1, "live")]


def test_a_second_build_that_fails_is_removed_too(shop, monkeypatch):
    shop.run()

    def fail(self, event):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(CountingFold, "apply", fail)
        with pytest.raises(MemoryError):
            build_and_compare(shop.projection, shop.log, shop.path)
    assert builds(shop) == [(1, "live")]
    assert not list(shop.registry.folder.glob("counting.2.*"))


def test_a_second_build_that_a_kill_has_left_never_goes_live(shop):
    """Sessions may be parked in it."""
    shop.run()
    projection = shop.projection
    shop.registry.begin("counting", projection.SCHEMA_VERSION, projection.fingerprint(), PROGRAM)
    report = shop.rebuild()
    assert (report.switched, report.build) == (True, 3)
    assert [number for number, _ in builds(shop)] == [1, 3]


def test_comparing_takes_an_unfinished_build_where_there_is_one_and_keeps_it(shop):
    shop.run()
    shop.rebuild(switch=False)
    assert build_and_compare(shop.projection, shop.log, shop.path).is_equal
    assert builds(shop) == [(1, "live"), (2, "building")]
