"""Edges of the library's SQLite store that ours must not have. The numbers are our list of them
(docs/seams.md); those that have a file of their own are not repeated here."""

from __future__ import annotations

import sqlite3
import threading
from typing import ClassVar
from uuid import UUID

import pytest
from eventsourcing.application import Application
from eventsourcing.domain import Aggregate
from eventsourcing.persistence import ConnectionPoolClosedError, IntegrityError, Tracking

from tapefold.persistence.sqlite_datastore import TapeDatastore
from tapefold.persistence.sqlite_factory import TapeFactory
from tapefold.persistence.sqlite_recorder import TapeRecorder
from tapefold.persistence.sqlite_tracking import TapeProcessRecorder, TapeTrackingRecorder


def environment(path, **more: str) -> dict[str, str]:
    return {
        "PERSISTENCE_MODULE": "tapefold.persistence.sqlite_factory",
        "SQLITE_DBNAME": str(path),
        "ORIGINATOR_ID_TYPE": "text",
        **more,
    }


class Host(Application[UUID]):
    env: ClassVar[dict[str, str]] = {}


def test_two_followers_in_one_file_keep_their_own_positions(store_path):
    """E2. In the library's table `tracking` the second would go on where the first stopped."""
    first, second = (
        TapeTrackingRecorder(TapeDatastore(str(store_path), tracking_table=f"{name}_tracking"))
        for name in ("first", "second")
    )
    for follower in (first, second):
        follower.create_table()
    first.insert_tracking(Tracking("log", 5))
    assert second.max_tracking_id("log") is None
    second.insert_tracking(Tracking("log", 1))
    assert (first.max_tracking_id("log"), second.max_tracking_id("log")) == (5, 1)
    for follower in (first, second):
        follower.datastore.close()


def test_two_logs_in_one_file_keep_their_own_events_and_uuids(open_store, store_path, event):
    """E2. In the library's table `stored_events` they would be one log."""
    first, second = open_store(store_path), open_store(store_path, events_table="other_events")
    first.insert_events([event("s", 1), event("s", 2)])
    assert second.insert_events([event("s", 1)]) == [1]
    assert (first.max_notification_id(), second.max_notification_id()) == (2, 1)
    assert first.log_uuid != second.log_uuid


def test_ids_are_never_given_twice(open_store, store_path, event):
    """E3. The library's ids are row numbers, given again after the newest row was deleted."""
    store = open_store(store_path)
    store.insert_events([event("s", n) for n in range(1, 6)])
    raw = sqlite3.connect(store_path)
    raw.execute("DELETE FROM tapefold_events WHERE id IN (2, 4, 5)")
    raw.commit()
    assert store.insert_events([event("s", 6)]) == [6]
    raw.execute("VACUUM")
    raw.close()
    assert [n.id for n in store.select_notifications(None, 10)] == [1, 3, 6]


def test_a_dump_and_a_load_keep_the_ids(open_store, store_path, event):
    """E3. The library's ids come out of it renumbered."""
    store = open_store(store_path)
    store.insert_events([event("s", n) for n in range(1, 6)])
    raw = sqlite3.connect(store_path)
    raw.execute("DELETE FROM tapefold_events WHERE id IN (2, 5)")
    raw.commit()
    copy_path = store_path.with_name("copy.db")
    copy = sqlite3.connect(copy_path)
    copy.executescript("\n".join(raw.iterdump()))
    copy.close()
    raw.close()
    loaded = open_store(copy_path)
    assert [n.id for n in loaded.select_notifications(None, 10)] == [1, 3, 4]
    assert loaded.insert_events([event("s", 6)]) == [6]
    assert loaded.log_uuid == store.log_uuid


def test_threads_share_a_store_in_memory(open_store, event):
    """E4. In the library each pooled connection gets a memory of its own."""
    store = open_store(":memory:")
    errors: list[BaseException] = []

    def use(stream: str) -> None:
        try:
            for n in range(1, 51):
                store.insert_events([event(stream, n)])
                assert store.stream_version(stream) == n
                with store.reading() as reading:
                    assert reading.max_notification_id() >= n
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use, args=(f"s{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert store.max_notification_id() == 400


def test_a_store_in_memory_lives_as_long_as_its_recorder(open_store, event):
    """E4. It may not end with the last connection that a pool has put away."""
    store = open_store(":memory:", pool_size=1, max_overflow=0)
    store.insert_events([event("s", 1)])
    for _ in range(3):
        assert store.stream_version("s") == 1


def test_a_transaction_that_reads_and_then_writes_never_loses_its_snapshot(
    open_store, store_path, event
):
    """E5. The library's plain BEGIN fails at once if another one wrote between the two."""
    store = open_store(store_path)
    stop = threading.Event()

    def disturb() -> None:
        other = open_store(store_path)
        n = 0
        while not stop.is_set():
            n += 1
            other.insert_events([event("disturbance", n)])

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for n in range(1, 51):
            with store.datastore.transaction(commit=True) as cursor:
                cursor.execute("SELECT MAX(id) FROM tapefold_events")
                cursor.fetchone()
                store._insert_events(cursor, [event("s", n)])
    finally:
        stop.set()
        thread.join()
    assert store.stream_version("s") == 50


def test_a_conflict_burns_no_id(recorder, event):
    """E14. On PostgreSQL gaps are normal; on SQLite a rollback takes its ids back."""
    recorder.insert_events([event("s", 1)])
    for _ in range(3):
        with pytest.raises(IntegrityError):
            recorder.insert_events([event("s", 2), event("s", 1)])
    assert recorder.insert_events([event("s", 2)]) == [2]


def test_waiting_for_the_lock_writes_nothing_twice(open_store, store_path, event):
    """E16. Only taking the lock is tried again, never an insert or a commit."""
    store, other = open_store(store_path), open_store(store_path)
    waiting = threading.Thread(target=store.insert_events, args=([event("s", 1)],))
    with other.writing() as transaction:
        waiting.start()
        while not store.datastore.pool._turn._owner:
            threading.Event().wait(0.001)
        transaction.insert_events([event("t", 1)])
    waiting.join()
    assert [(n.id, n.originator_id) for n in store.select_notifications(None, 10)] == [
        (1, "t"),
        (2, "s"),
    ]


class Outbox(TapeRecorder):
    """What a host derives to write a row of its own with the events."""

    def construct_create_table_statements(self):
        return [
            *super().construct_create_table_statements(),
            "CREATE TABLE IF NOT EXISTS outbox (message TEXT NOT NULL)",
        ]

    def _insert_events(self, c, stored_events, message=None, **kwargs):
        ids = super()._insert_events(c, stored_events, **kwargs)
        c.execute("INSERT INTO outbox VALUES (?)", (message,))
        return ids


def test_a_host_writes_its_own_row_in_the_transaction_of_the_append(store_path):
    """E17. What is given to save() reaches the recorder; a failure of the row undoes the append."""
    topic = f"{Outbox.__module__}:{Outbox.__qualname__}"
    app = Host(environment(store_path, APPLICATION_RECORDER_TOPIC=topic))
    app.save(Aggregate(), message="hello")
    with pytest.raises(IntegrityError):
        app.save(Aggregate(), message=None)
    assert app.recorder.max_notification_id() == 1
    raw = sqlite3.connect(store_path)
    assert raw.execute("SELECT message FROM outbox").fetchall() == [("hello",)]
    raw.close()
    app.close()


def test_a_table_that_a_later_release_of_a_host_adds_is_made_in_an_old_store(
    open_store, store_path
):
    """E17. The tables are all looked for, not only ours."""
    datastore = open_store(store_path).datastore
    Outbox(datastore).create_table()
    raw = sqlite3.connect(store_path)
    assert raw.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
    raw.close()


def test_a_log_is_read_in_pages_of_any_size(recorder, event):
    """E19. The library's notification log refuses more than its section size."""
    recorder.insert_events([event("s", n) for n in range(1, 2001)])
    assert len(recorder.select_notifications(None, 5000)) == 2000
    assert [n.id for n in recorder.select_notifications(10, 3, stop=11)] == [10, 11]


def test_an_application_that_is_gone_has_closed_its_store(store_path):
    """E22. Keep a reference to the application, not to its recorder."""
    recorder = Host(environment(store_path)).recorder
    with pytest.raises(ConnectionPoolClosedError, match="keep a reference"):
        recorder.max_notification_id()


def test_a_process_recorder_moves_its_position_with_its_events(store_path, event):
    """The fence of the library: a second follower at the same position writes nothing."""
    store = TapeProcessRecorder(TapeDatastore(str(store_path)))
    store.create_table()
    store.insert_events([event("s", 1)], tracking=Tracking("log", 7))
    with pytest.raises(IntegrityError, match="already followed"):
        store.insert_events([event("s", 2)], tracking=Tracking("log", 7))
    assert (store.stream_version("s"), store.max_tracking_id("log")) == (1, 7)
    with store.writing() as transaction:
        transaction.insert_events([event("s", 2)], tracking=Tracking("log", 8))
    assert (store.stream_version("s"), store.max_tracking_id("log")) == (2, 8)
    store.datastore.close()


def test_snapshots_stand_in_a_table_beside_their_log(store_path, event):
    factory = TapeFactory(environment(store_path, TAPEFOLD_EVENTS_TABLE="app_events"))
    snapshots = factory.aggregate_recorder(purpose="snapshots")
    snapshots.insert_events([event("s", 1)])
    raw = sqlite3.connect(store_path)
    tables = {row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    raw.close()
    factory.close()
    assert tables == {"app_snapshots"}
