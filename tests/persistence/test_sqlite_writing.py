"""Appending: the lock before the decision, all or nothing, one event a position."""

from __future__ import annotations

import contextlib
import sqlite3
import threading

import pytest
from eventsourcing.persistence import IntegrityError, ProgrammingError

from tapefold.domain.errors import TapefoldError
from tapefold.persistence.errors import NestedWrite, PositionTaken


def test_an_append_returns_the_ids_in_the_order_of_the_events(recorder, event):
    assert recorder.insert_events([event("a", 1), event("b", 1), event("a", 2)]) == [1, 2, 3]
    with recorder.writing() as transaction:
        assert transaction.insert_events([event("b", 2)]) == [4]
        assert transaction.insert_events([]) == []


def test_a_position_can_be_taken_once_the_first_one_included(recorder, event):
    recorder.insert_events([event("s", 1, b"first")])
    with pytest.raises(PositionTaken, match="'s' already has an event at position 1") as caught:
        recorder.insert_events([event("other", 1), event("s", 1, b"second")])
    assert isinstance(caught.value, TapefoldError)
    assert isinstance(caught.value, IntegrityError)
    assert (caught.value.originator_id, caught.value.originator_version) == ("s", 1)
    assert [stored.state for stored in recorder.select_events("s")] == [b"first"]
    assert recorder.stream_version("other") is None, "a batch is stored whole or not at all"


def test_what_is_read_while_writing_is_still_true_when_the_append_is_made(recorder, event):
    """Eight threads each append what follows the last position; none of them ever conflicts."""

    def append() -> None:
        for _ in range(25):
            with recorder.writing() as transaction:
                last = transaction.stream_version("s") or 0
                transaction.insert_events([event("s", last + 1)])

    threads = [threading.Thread(target=append) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = [stored.originator_version for stored in recorder.select_events("s")]
    assert versions == list(range(1, 201))


def test_a_write_sees_its_own_events_and_others_see_them_after_the_commit(
    open_store, store_path, event
):
    writer, reader = open_store(store_path), open_store(store_path)
    with writer.writing() as transaction:
        transaction.insert_events([event("s", 1)])
        assert transaction.stream_version("s") == 1
        assert reader.stream_version("s") is None
        assert writer.stream_version("s") is None
    assert reader.stream_version("s") == 1


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, sqlite3.OperationalError])
def test_any_exception_rolls_back_and_comes_out_as_it_is(kind, recorder, event):
    mine = kind("mine")

    def write_and_fail():
        with recorder.writing() as transaction:
            transaction.insert_events([event("s", 1)])
            raise mine

    with pytest.raises(kind) as caught:
        write_and_fail()
    assert caught.value is mine
    assert recorder.stream_version("s") is None
    assert recorder.insert_events([event("s", 1)]) == [1], "the lock is free, and no id is burnt"


def test_a_failed_append_cannot_be_swallowed(recorder, event):
    """A part of the batch would be committed."""
    recorder.insert_events([event("s", 2)])

    def write_and_swallow():
        with recorder.writing() as transaction, contextlib.suppress(PositionTaken):
            transaction.insert_events([event("s", 1), event("s", 2)])

    with pytest.raises(PositionTaken):
        write_and_swallow()
    assert [stored.originator_version for stored in recorder.select_events("s")] == [2]


def test_a_write_inside_a_write_of_the_same_thread_is_refused_at_once(recorder, event):
    with recorder.writing() as transaction:
        for nested in (recorder.writing, lambda: recorder.datastore.transaction(commit=True)):
            with pytest.raises(NestedWrite, match="wait for itself"), nested():
                pass
        assert recorder.select_events("s") == [], "reading is allowed"
        with pytest.raises(NestedWrite):
            recorder.insert_events([event("s", 1)])
        transaction.insert_events([event("s", 1)])
    assert recorder.stream_version("s") == 1


def test_a_transaction_cannot_be_used_after_its_end(recorder, event):
    with recorder.writing() as writing:
        pass
    with recorder.reading() as reading:
        pass
    for use in (
        lambda: writing.insert_events([event("s", 1)]),
        lambda: writing.stream_version("s"),
        lambda: reading.select_events("s"),
    ):
        with pytest.raises(ProgrammingError, match="has ended"):
            use()


def test_a_transaction_of_the_library_that_fails_rolls_back(recorder, event):
    """View code of a host uses the datastore of the library in this way."""

    def fail():
        with recorder.datastore.transaction(commit=True) as cursor:
            recorder._insert_events(cursor, [event("s", 1)])
            cursor.execute("INSERT INTO no_such_table VALUES (1)")

    with pytest.raises(TapefoldError, match="no such table"):
        fail()
    assert recorder.stream_version("s") is None


def test_closing_waits_for_a_write_of_another_thread(recorder, event):
    inside, may_end = threading.Event(), threading.Event()

    def write() -> None:
        with recorder.writing() as transaction:
            inside.set()
            may_end.wait(30)
            transaction.insert_events([event("s", 1)])

    writer = threading.Thread(target=write)
    closer = threading.Thread(target=recorder.datastore.close)
    writer.start()
    inside.wait(30)
    closer.start()
    may_end.set()
    writer.join()
    closer.join()
    assert recorder.datastore.pool.closed


def test_a_store_may_be_closed_inside_a_write(store_path, open_store, event):
    store = open_store(store_path)
    with store.writing() as transaction:
        store.datastore.close()
        transaction.insert_events([event("s", 1)])
    assert open_store(store_path).stream_version("s") == 1
