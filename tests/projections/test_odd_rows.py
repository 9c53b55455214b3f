"""Rows that tapefold never writes: a column of SQLite holds any type, whatever it says."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tapefold.projections.branch_tree.index import SessionIndex
from tapefold.projections.branch_tree.projection import BranchTree
from tapefold.projections.effective_view.projection import EffectiveView
from tapefold.projections.event_checks import check_events, event_stats
from tapefold.projections.trace_index.projection import TraceIndex
from tapefold.projections.trace_text.projection import TraceText
from tapefold.projections.verifying import verify_live

from .machinery import Counting, Shop

PROJECTIONS = (Counting, EffectiveView, BranchTree, TraceIndex, TraceText)


def insert(shop: Shop, session_id: object, position: object, topic: object, state: object) -> None:
    with closing(sqlite3.connect(shop.path, isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO tapefold_events (originator_id, originator_version, topic, state) "
            "VALUES (?, ?, ?, ?)",
            (session_id, position, topic, state),
        )


def insert_copy(shop: Shop, session_id: object, position: int, of: int = 1) -> None:
    """An event of session `a`, as if it were another's."""
    row = shop.log.row(of)
    assert row is not None
    insert(shop, session_id, position, row.topic, row.state)


def odd_topics(shop: Shop) -> None:
    insert(shop, "o1", 1, b"tapefold.SessionStarted", b"{}")
    insert(shop, "o2", 1, b"\xff", b"{}")
    insert(shop, "o3", 1, 7, b"{}")
    insert(shop, "o4", 1, "", b"{}")


def odd_ids(shop: Shop) -> None:
    insert_copy(shop, b"blob", 1)
    insert_copy(shop, b"\xff", 1)


def a_foreign_first_event(shop: Shop) -> None:
    insert(shop, "g", 0, "bank.Account:Opened", b"{}")
    insert_copy(shop, "g", 1)
    insert_copy(shop, "g", 2, of=3)


def a_foreign_first_event_far_before(shop: Shop) -> None:
    insert(shop, "g", -(1 << 62), b"tapefold.SessionStarted", b"{}")
    insert_copy(shop, "g", 1)


@pytest.mark.parametrize("kind", PROJECTIONS)
@pytest.mark.parametrize(
    "odd", [odd_topics, odd_ids, a_foreign_first_event, a_foreign_first_event_far_before]
)
def test_rows_that_are_none_of_ours_stop_nobody_whether_filled_or_followed(shop, kind, odd):
    # A topic that is no text stopped every build; and a stream that a foreign row begins was
    # projected when it was followed, but not when it was filled.
    shop.projection = kind()
    shop.run()
    before = shop.rows()
    odd(shop)
    shop.run()
    found = verify_live(shop.projection, shop.log, shop.path)
    assert (found.is_equal, found.sessions, found.parked) == (True, 2, [])
    assert shop.rows() == before
    report = shop.rebuild()
    assert report.verification.is_equal
    assert report.switched


@pytest.mark.parametrize("state", [5, 1.5, "text"])
def test_a_state_that_is_no_bytes_parks_its_session_alone(shop, state):
    insert(shop, "o", 1, "tapefold.SessionStarted", state)
    insert(shop, "p", 1, "tapefold.SessionStarted", state)
    shop.run()
    shop.say("b", "goes on")
    shop.run()
    with shop.read_model().reading() as build:
        found = build.connection.execute("SELECT session_id FROM tapefold_parked ORDER BY 1")
        assert found.fetchall() == [("o",), ("p",)]
        assert build.session_position("b") == 3


@pytest.mark.parametrize("position", ["x", 2.5, b"x"])
def test_a_position_that_is_no_number_stops_nobody_else(shop, position):
    insert_copy(shop, "a", position, of=3)
    shop.run()
    shop.say("b", "goes on")
    shop.run()
    with shop.read_model().reading() as build:
        assert build.session_position("b") == 3
        assert build.session_position("a") == 2


def test_what_is_in_a_store_can_be_counted_and_checked_and_listed_whatever_it_is(shop):
    odd_topics(shop)
    odd_ids(shop)
    insert(shop, "bank", 1, "bank.Account:Opened", b"{}")
    stats = event_stats(shop.sessions.recorder, shop.sessions.mapper)
    assert stats.to_json()["foreign"] == {
        "": 1,
        "7": 1,
        "b'\\xff'": 1,
        "b'tapefold.SessionStarted'": 1,
        "bank.Account:Opened": 1,
        "tapefold.SessionStarted": 2,
    }
    checked = check_events(shop.sessions.recorder, shop.sessions.mapper)
    assert (checked.events, checked.foreign, checked.failed) == (4, 7, 0)
    assert sorted(info.session_id for info in shop.sessions.sessions()) == ["a", "b"]
    shop.run(BranchTree())
    model = shop.read_model(BranchTree())
    with model.reading() as build:
        page = SessionIndex(build.connection).page()
        assert sorted(one.session_id for one in page) == ["a", "b"]
    model.close()
