"""A row whose topic is damaged: nobody misses it, and nothing is missing once it is mended."""

from __future__ import annotations

import sqlite3

from tapefold.projections.event_checks import check_events
from tapefold.projections.verifying import verify_live

from .machinery import Counting


def set_topic(shop, position, topic):
    with sqlite3.connect(shop.path) as connection:
        where = "originator_id = 'a' AND originator_version = ?"
        (old,) = connection.execute(
            f"SELECT topic FROM tapefold_events WHERE {where}", (position,)
        ).fetchone()
        connection.execute(f"UPDATE tapefold_events SET topic = ? WHERE {where}", (topic, position))
    connection.close()
    return old


def positions(shop, session_id="a"):
    return [row[1] for row in shop.rows()["c_events"] if row[0] == session_id]


def parked(shop):
    with sqlite3.connect(shop.live_file()) as connection:
        found = connection.execute("SELECT session_id, position FROM tapefold_parked").fetchall()
    connection.close()
    return found


def test_a_session_is_parked_at_an_event_of_another_aggregate_filled_or_followed(shop):
    set_topic(shop, 2, "xapefold.MessageFinalized")
    shop.run()
    assert parked(shop) == [("a", 2)]
    shop.say("b", "goes on")
    shop.run()
    assert positions(shop, "b") == [1, 2, 3]


def test_one_that_is_followed_is_parked_too_and_goes_on_when_it_is_mended(shop):
    shop.run()
    shop.say("a", "one more")
    old = set_topic(shop, 3, b"\x00\x01")
    shop.run()
    assert parked(shop) == [("a", 3)]
    set_topic(shop, 3, old)
    shop.say("a", "after it")
    shop.run()
    build = shop.live_build()
    try:
        from tapefold.projections.maintenance import retry

        retry(build, shop.log)
    finally:
        build.close()
    assert positions(shop) == [1, 2, 3, 4]
    assert verify_live(Counting(), shop.log, shop.path).is_equal


def test_the_check_of_events_counts_it_as_failed(shop):
    set_topic(shop, 2, "xapefold.MessageFinalized")
    found = check_events(shop.sessions.recorder, shop.sessions.mapper)
    assert (found.events, found.foreign, found.failed) == (4, 0, 1)
    assert (found.failures[0].session_id, found.failures[0].position) == ("a", 2)


def test_the_check_finds_events_of_a_session_whose_beginning_is_another_ones(shop):
    set_topic(shop, 1, "another.Aggregate:Opened")
    found = check_events(shop.sessions.recorder, shop.sessions.mapper)
    assert (found.foreign, found.failed) == (1, 1)
    assert "does not begin as a session" in found.failures[0].error
