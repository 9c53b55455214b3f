"""Reading: streams by range, by position and page by page, snapshots, lists of streams."""

from __future__ import annotations

import tracemalloc
from uuid import uuid4

import pytest

POSITIONS = list(range(1, 31))


@pytest.fixture
def stream(recorder, event):
    recorder.insert_events([event("other", n, b"o%d" % n) for n in (1, 2)])
    recorder.insert_events([event("s", n, b"s%d" % n, f"topic{n}") for n in POSITIONS])
    recorder.insert_events([event("t", 1)])
    return recorder


def positions(rows) -> list[int]:
    return [row[0] for row in rows]


@pytest.mark.parametrize("page", [1, 2, 7, 30, 1000])
def test_pages_give_the_same_as_one_read(page, stream):
    whole = [(s.originator_version, s.topic, s.state) for s in stream.select_events("s")]
    assert list(stream.iter_events("s", page=page)) == whole
    assert positions(stream.iter_events("s", gt=3, lte=20, page=page)) == list(range(4, 21))
    assert list(stream.iter_events("no such", page=page)) == []
    with stream.reading() as reading:
        assert list(reading.iter_events("s", page=page)) == whole


def test_a_long_stream_of_large_events_is_never_held_whole(open_store, store_path, event):
    store = open_store(store_path)
    store.insert_events([event("s", n, state=b"x" * 1_000_000) for n in range(1, 61)])
    tracemalloc.start()
    count = sum(1 for _ in store.iter_events("s"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 60
    assert peak < 30_000_000


def test_events_may_be_appended_while_a_stream_is_walked_through(stream, event):
    seen = []
    for position, _, _ in stream.iter_events("s", page=5):
        seen.append(position)
        if position == 10:
            stream.insert_events([event("s", 31)])
    assert seen == [*POSITIONS, 31]


def test_states_are_fetched_by_position(stream):
    rows = stream.select_states("s", [7, 3, 3, 99, 0, -1, 12])
    assert rows == [(n, f"topic{n}", b"s%d" % n) for n in (3, 7, 12)]
    assert stream.select_states("s", []) == []
    assert stream.select_states("no such", [1]) == []
    with stream.reading() as reading:
        assert positions(reading.select_states("s", iter(POSITIONS))) == POSITIONS


def test_any_number_of_positions_may_be_asked_for(recorder, event):
    recorder.insert_events([event("s", n) for n in range(1, 3001)])
    wanted = range(1, 5001)
    assert positions(recorder.select_states("s", wanted)) == list(range(1, 3001))


def test_a_snapshot_sees_nothing_of_later_commits(open_store, store_path, event):
    store = open_store(store_path)
    store.insert_events([event("a", 1), event("b", 1)])
    with store.reading() as reading:
        assert reading.stream_version("a") == 1
        store.insert_events([event("a", 2), event("b", 2), event("c", 1)])
        assert reading.stream_version("b") == 1
        assert positions(reading.iter_events("b")) == [1]
        assert reading.max_notification_id() == 2
        assert [stream.originator_id for stream in reading.streams()] == ["a", "b"]
    assert store.stream_version("b") == 2


def test_the_version_of_a_stream_is_its_last_position(stream):
    assert stream.stream_version("s") == 30
    assert stream.stream_version("no such") is None


def test_streams_are_listed_with_their_ends(stream, event):
    stream.insert_events([event("other", 3)])
    assert [tuple(row) for row in stream.streams()] == [
        ("other", 3, 1, 34, "topic"),
        ("s", 30, 3, 32, "topic1"),
        ("t", 1, 33, 33, "topic"),
    ]
    assert [row.originator_id for row in stream.streams(limit=2)] == ["other", "s"]
    assert [row.originator_id for row in stream.streams(gt="s")] == ["t"]
    assert [row.originator_id for row in stream.streams(gt="p", limit=1)] == ["s"]
    assert stream.streams(limit=0) == []
    assert stream.streams(gt="zzz") == []


def test_an_empty_log_has_no_streams(recorder):
    assert recorder.streams() == []
    assert recorder.max_notification_id() is None


def test_the_list_of_streams_jumps_over_their_events(open_store, store_path, event):
    """The plan is asked, since a time says nothing on another machine."""
    store = open_store(store_path)
    store.insert_events([event(f"s{n}", 1) for n in range(10)])
    seen: list[str] = []
    pool = store.datastore.pool
    connection = pool.get_connection(is_writer=False)
    connection._sqlite_conn.set_trace_callback(seen.append)
    pool.put_connection(connection)
    store.streams()
    plan = store._rows(f"EXPLAIN QUERY PLAN {seen[-1]}")
    steps = [row[3] for row in plan]
    assert any("SEARCH tapefold_events USING COVERING INDEX" in step for step in steps)
    scans = [step for step in steps if step.startswith("SCAN")]
    assert all("tapefold_events" not in step for step in scans), scans


def test_a_uuid_is_stored_as_its_hex_digits_and_read_back_as_text(recorder, event):
    """Aggregates of a host have UUIDs; in our log an id is text."""
    uuid = uuid4()
    recorder.insert_events([event(uuid, 1)])
    assert [stored.originator_id for stored in recorder.select_events(uuid)] == [uuid.hex]
    assert recorder.select_events(uuid.hex) == recorder.select_events(uuid)
    assert recorder.stream_version(uuid) == 1
    assert recorder.select_notifications(None, 10)[0].originator_id == uuid.hex


@pytest.mark.parametrize("stream_id", ["a\0b", "a%", "a'b", "日本", "x" * 255, " ", "\x7f"])
def test_any_text_can_be_an_id(stream_id, recorder, event):
    recorder.insert_events([event(stream_id, 1), event(stream_id + "2", 1)])
    assert recorder.stream_version(stream_id) == 1
    assert stream_id in [row.originator_id for row in recorder.streams()]
